package results

import (
	"fmt"
	"math"

	"gpushare-bench/share"
)

// maxValue is the largest sample in a journal: 1e18 ns are 31 years, and no memory moves 1e18 B/s.
const maxValue = 1e18

// maxCount bounds counts (cases, repeats, orders, mappings): far above any plan, far below overflow.
const maxCount = 1 << 31

// knownUnit reports whether the direction and the meaning of the unit are known.
func knownUnit(unit string) bool { return unit == Nanoseconds || unit == BytesPerSecond }

func checkCount(name string, n int) error {
	if n < 0 || n > maxCount {
		return fmt.Errorf("%s is %d, must be from 0 to %d", name, n, maxCount)
	}
	return nil
}

func checkBytes(name string, n, low, high int64) error {
	if n < low || n > high {
		return fmt.Errorf("%s is %d, must be from %d to %d bytes", name, n, low, high)
	}
	return nil
}

// checkValue accepts finite numbers from 0 to maxValue.
func checkValue(v float64) error {
	if math.IsNaN(v) || v < 0 || v > maxValue {
		return fmt.Errorf("%v is no finite number from 0 to %g", v, float64(maxValue))
	}
	return nil
}

func (h Header) check() error {
	if h.Schema < 1 {
		return fmt.Errorf("schema is %d, must be at least 1", h.Schema)
	}
	if err := checkCount("planned", h.Planned); err != nil {
		return err
	}
	if err := checkCount("repeats", h.Repeats); err != nil {
		return err
	}
	for _, v := range []struct {
		name  string
		value float64
	}{
		{"settings.precision", h.Settings.Precision}, {"timed_call_overhead.min_ns", h.Overhead.Min},
		{"timed_call_overhead.median_ns", h.Overhead.Median}, {"timed_call_overhead.p99_ns", h.Overhead.P99},
	} {
		if err := checkValue(v.value); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
	}
	for _, d := range h.Devices {
		if err := checkValue(d.PeakBytes); err != nil {
			return fmt.Errorf("device %q: peak_bytes_per_s: %w", d.ID, err)
		}
	}
	return nil
}

// check finds values that no measurement can have. It is applied before writing and after reading.
func (c CaseResult) check() error {
	if err := checkBytes("size_bytes", c.Case.Size, 1, share.MaxSize); err != nil {
		return err
	}
	if err := checkBytes("offset", c.Case.Offset, 0, share.MaxSize); err != nil {
		return err
	}
	if err := checkBytes("allocated_bytes", c.Allocated, 0, 4*share.MaxSize); err != nil {
		return err
	}
	for _, n := range []struct {
		name  string
		value int
	}{{"live", c.Case.Live}, {"peers", c.Case.Peers}, {"repeat", c.Repeat}, {"order", c.Order}} {
		if err := checkCount(n.name, n.value); err != nil {
			return err
		}
	}
	if c.DurationNs < 0 {
		return fmt.Errorf("duration_ns is %d, must not be negative", c.DurationNs)
	}
	if !c.Status.Valid() {
		return fmt.Errorf("unknown status %q", c.Status)
	}
	seen := make(map[string]bool, len(c.Metrics))
	for _, m := range c.Metrics {
		if err := m.check(); err != nil {
			return err
		}
		if seen[m.Name] {
			return fmt.Errorf("metric %q occurs twice", m.Name)
		}
		seen[m.Name] = true
	}
	for i, j := range c.Joined {
		for _, v := range []int64{j.Wall, j.Export, j.Import, j.Map} {
			if err := checkValue(float64(v)); err != nil {
				return fmt.Errorf("joined[%d]: %w", i, err)
			}
		}
	}
	for i, v := range c.IdleNs {
		if err := checkValue(v); err != nil {
			return fmt.Errorf("idle_ns[%d]: %w", i, err)
		}
	}
	return nil
}

func (m Metric) check() error {
	if m.Name == "" {
		return fmt.Errorf("a metric has no name")
	}
	for i, v := range m.Samples {
		if err := checkValue(v); err != nil {
			return fmt.Errorf("metric %q: sample %d: %w", m.Name, i, err)
		}
	}
	if m.First != nil {
		if err := checkValue(*m.First); err != nil {
			return fmt.Errorf("metric %q: first: %w", m.Name, err)
		}
	}
	return nil
}

func (e End) check() error {
	return checkCount("measured", e.Measured)
}
