package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gpushare-bench/share"
)

// Difference is something in which runs differ that may explain differences of their numbers.
type Difference struct {
	Key    string   `json:"key"`    // "driver", "settings.max_samples", "environment.kernel.release"
	Values []string `json:"values"` // one a run, the base first; "" where a run has none
}

// fact is one thing that can be said about a run.
type fact struct{ key, value string }

// findDifferences lists the facts in which the runs differ: what is most likely to matter first.
func findDifferences(runs []*Run) []Difference {
	var keys []string
	values := make(map[string][]string)
	for i, run := range runs {
		for _, f := range facts(run) {
			if values[f.key] == nil {
				values[f.key] = make([]string, len(runs))
				keys = append(keys, f.key)
			}
			values[f.key][i] = f.value
		}
	}
	slices.SortStableFunc(keys, func(a, b string) int { return importance(a) - importance(b) })
	differences := make([]Difference, 0)
	for _, k := range keys {
		v := values[k]
		if same := func(s string) bool { return s == v[0] }; !allOf(v, same) && !(k == clockKey && sameClocks(v)) {
			differences = append(differences, Difference{k, v})
		}
	}
	return differences
}

func allOf(values []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(values, func(s string) bool { return !ok(s) })
}

// prefixes orders facts. What has none of them comes last.
var prefixes = []string{"emulated", "version", "backend", "device", "details", clockKey, "environment.kernel.release", "environment.cpu.model",
	"settings", "repeats", "args", "environment.cpu.", "environment.memory", "environment"}

func importance(key string) int {
	for i, p := range prefixes {
		if strings.HasPrefix(key, p) {
			return i
		}
	}
	return len(prefixes)
}

func facts(run *Run) []fact {
	h := &run.Header
	all := []fact{
		{"emulated", h.Emulated}, {"version", h.Version}, {"backend", h.Backend},
		{"repeats", strconv.Itoa(h.Repeats)}, {"args", strings.Join(measuringArgs(h.Args), " ")},
	}
	for _, d := range h.Devices {
		key := fmt.Sprintf("device.%s.%d", d.Backend, d.Index)
		all = append(all, fact{key + ".name", d.Name}, fact{key + ".memory_bytes", strconv.FormatInt(d.MemoryBytes, 10)})
		for _, k := range sortedKeys(d.Details) {
			all = append(all, fact{key + "." + k, d.Details[k]})
		}
	}
	for _, k := range sortedKeys(h.Details) {
		all = append(all, fact{"details." + k, h.Details[k]})
	}
	if hz := medianClock(run); hz > 0 {
		all = append(all, fact{clockKey, strconv.FormatInt(hz, 10)})
	}
	if settings, err := json.Marshal(h.Settings); err == nil {
		all = append(all, flatten("settings", settings)...)
	}
	return append(all, flatten("environment", h.Environment)...)
}

// outputFlags say where results go and how progress is shown, not what is measured.
var outputFlags = []string{"--out", "--json", "--progress", "--export"}

// measuringArgs leaves out what does not change what is measured: two runs of one command differ in it.
func measuringArgs(args []string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		if !slices.Contains(outputFlags, name) {
			kept = append(kept, args[i])
		} else if !joined {
			i++
		}
	}
	return kept
}

// Short returns the values in at most a number of runes each. Where one is longer, what all begin with is left out, so that
// the part in which they differ is seen.
func (d Difference) Short(most int) []string {
	var values [][]rune
	longest := 0
	for _, v := range d.Values {
		values = append(values, []rune(v))
		longest = max(longest, len(values[len(values)-1]))
	}
	start := 0
	if longest > most && len(values) > 1 {
		start = commonStart(values)
	}
	short := make([]string, len(values))
	for i, v := range values {
		if v = v[start:]; start > 0 {
			v = append([]rune("…"), v...)
		}
		if len(v) > most {
			v = append(v[:most-1:most-1], '…')
		}
		short[i] = string(v)
	}
	return short
}

// commonStart is how much of the beginning all values share, up to a space.
func commonStart(values [][]rune) int {
	n := 0
	for n < len(values[0]) && !slices.ContainsFunc(values, func(v []rune) bool { return n >= len(v) || v[n] != values[0][n] }) {
		n++
	}
	for n > 0 && values[0][n-1] != ' ' {
		n--
	}
	return n
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// clockKey is the median over the cases of the consumer's SM clock after the case, in hertz.
const clockKey = "sm_clock_hz"

func medianClock(run *Run) int64 {
	var clocks []int64
	for _, c := range run.Cases {
		for _, s := range []*share.DeviceState{c.After, c.Before} {
			if s != nil && s.SMClockHz != nil {
				clocks = append(clocks, *s.SMClockHz)
				break
			}
		}
	}
	if len(clocks) == 0 {
		return 0
	}
	slices.Sort(clocks)
	return clocks[len(clocks)/2]
}

// sameClocks takes clocks within 2 % of each other as the same.
func sameClocks(values []string) bool {
	var hz []int64
	for _, v := range values {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return false
		}
		hz = append(hz, n)
	}
	return float64(slices.Max(hz)) <= 1.02*float64(slices.Min(hz))
}

// volatile matches facts of the environment that differ between any two runs of one machine.
var volatile = regexp.MustCompile(`^environment\.(load\.|hostname$|namespaces\[|usable_memory_bytes$|missing$)|` +
	`\.(free|free_bytes|available_bytes|usage_bytes|inactive_file_bytes|current_hz|uptime_ns|boot_id|reserved|surplus|id|pid)$`)

// flatten turns JSON into facts: one a scalar, one an array of scalars. Volatile ones are left out, and so is what is no
// JSON.
func flatten(prefix string, raw []byte) []fact {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil
	}
	var all []fact
	walk(prefix, v, func(key, value string) {
		if !volatile.MatchString(key) {
			all = append(all, fact{key, value})
		}
	})
	return all
}

func walk(key string, v any, found func(key, value string)) {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			walk(key+"."+k, v[k], found)
		}
	case []any:
		var scalars []string
		for i, e := range v {
			switch e.(type) {
			case map[string]any, []any:
				walk(fmt.Sprintf("%s[%d]", key, i), e, found)
			default:
				scalars = append(scalars, fmt.Sprint(e))
			}
		}
		if len(scalars) > 0 || len(v) == 0 {
			found(key, strings.Join(scalars, " "))
		}
	default:
		found(key, fmt.Sprint(v))
	}
}
