package results

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// decodeCase decodes a case line. Arrays of samples go through [numbers], everything else through encoding/json.
func decodeCase(body []byte) (CaseResult, error) {
	type plain CaseResult
	var v struct {
		plain
		Metrics []struct {
			Metric
			Samples numbers `json:"samples"` // hides Metric.Samples
		} `json:"metrics"` // hides plain.Metrics
		IdleNs numbers `json:"idle_ns"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return CaseResult{}, err
	}
	c := CaseResult(v.plain)
	c.IdleNs = v.IdleNs
	for _, m := range v.Metrics {
		m.Metric.Samples = m.Samples
		c.Metrics = append(c.Metrics, m.Metric)
	}
	return c, nil
}

// numbers is a JSON array of numbers that decodes many times faster than a []float64, and in which null is an error
// instead of 0.
type numbers []float64

// UnmarshalJSON is given a complete JSON value by encoding/json.
func (n *numbers) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if len(b) < 2 || b[0] != '[' {
		return fmt.Errorf("%.20s is no array of numbers", b)
	}
	out := make([]float64, 0, 1+countCommas(b))
	for i := 1; ; {
		for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
			i++
		}
		start := i
		for i < len(b) && b[i] != ',' && b[i] != ']' {
			i++
		}
		if i == len(b) {
			return fmt.Errorf("array of numbers without its end")
		}
		if b[i] == ']' && start == i && len(out) == 0 {
			break // empty array
		}
		v, err := parseNumber(b[start:i])
		if err != nil {
			return err
		}
		out = append(out, v)
		if b[i] == ']' {
			break
		}
		i++
	}
	*n = out
	return nil
}

func countCommas(b []byte) int {
	n := 0
	for _, c := range b {
		if c == ',' {
			n++
		}
	}
	return n
}

// powers of ten that a float64 holds exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// parseNumber reads one JSON number. Plain decimals of up to 15 digits are the quotient of two exact floats, hence
// correctly rounded (Clinger 1990, How to read floating point numbers accurately); all others go to strconv.
func parseNumber(b []byte) (float64, error) {
	var mantissa uint64
	digits, fraction, point := 0, 0, false
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9' && digits < 15:
			mantissa = mantissa*10 + uint64(c-'0')
			digits++
			if point {
				fraction++
			}
		case c == '.' && !point && digits > 0:
			point = true
		default:
			return parseSlow(b)
		}
	}
	if digits == 0 || point && fraction == 0 {
		return parseSlow(b)
	}
	return float64(mantissa) / powers[fraction], nil
}

func parseSlow(b []byte) (float64, error) {
	for _, c := range b {
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' && c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return 0, fmt.Errorf("%.20q is no number", b)
		}
	}
	v, err := strconv.ParseFloat(trimSpace(b), 64)
	if err != nil {
		return 0, fmt.Errorf("%.30q is no number in range", b)
	}
	return v, nil
}

// trimSpace removes JSON's white space from the end; the caller skipped what was before.
func trimSpace(b []byte) string {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t' || b[len(b)-1] == '\r' || b[len(b)-1] == '\n') {
		b = b[:len(b)-1]
	}
	return string(b)
}
