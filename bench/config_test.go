package bench

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gpushare-bench/share"
)

func goodConfig() *Config {
	return &Config{Sizes: []int64{4096}, Receivers: []string{share.ReceiverPolling}, Caches: []string{share.CacheWarm},
		Kernels: share.Kernels(), Precision: 0.02, MinSamples: 30, MaxSamples: 1000, CaseTimeout: time.Minute, Repeats: 1}
}

// Every refusal names flag, value and rule; the golden file has them all.
func TestValidate(t *testing.T) {
	if err := goodConfig().Validate(); err != nil {
		t.Fatal(err)
	}
	var texts strings.Builder
	for _, change := range []func(*Config){
		func(c *Config) { c.Precision = 0 },
		func(c *Config) { c.Precision = 1 },
		func(c *Config) { c.Precision = -0.01 },
		func(c *Config) { c.MinSamples = 1 },
		func(c *Config) { c.MinSamples, c.MaxSamples = 1_000_001, 1_000_001 },
		func(c *Config) { c.MaxSamples = 29 },
		func(c *Config) { c.MaxSamples = 1_000_001 },
		func(c *Config) { c.MaxTime = -1 },
		func(c *Config) { c.TimeLimit = -time.Second },
		func(c *Config) { c.CaseTimeout = time.Second - 1 },
		func(c *Config) { c.Repeats = 0 },
		func(c *Config) { c.Repeats = 1001 },
		func(c *Config) { c.Threads = -1 },
		func(c *Config) { c.Threads = 4097 },
		func(c *Config) { c.Offset = -8 },
		func(c *Config) { c.Offset = 4 },
		func(c *Config) { c.Live = []int{0, -1} },
		func(c *Config) { c.Live = []int{1_000_001} },
		func(c *Config) { c.Pairs = []string{"all", "0:1", "cpu"} },
		func(c *Config) { c.Transports = []string{"scm_rights"} },
		func(c *Config) { c.Receivers = []string{"block"} },
		func(c *Config) { c.Caches = []string{"worm"} },
		func(c *Config) { c.Isolate = []string{"pid", "xyz"} },
		func(c *Config) { c.Kernels = []share.Kernel{"chaes"} },
		func(c *Config) { c.ProducerEnv = []string{"A=1", "B"} },
		func(c *Config) { c.ConsumerEnv = []string{"=1"} },
		func(c *Config) { c.ConsumerEnv = []string{"A=\x00"} },
		func(c *Config) { c.Repeats, c.MinSamples = 0, 0 }, // two at once
	} {
		c := goodConfig()
		change(c)
		err := c.Validate()
		if !errors.Is(err, ErrUsage) {
			t.Fatalf("%+v: %v, want an error of usage", c, err)
		}
		texts.WriteString(err.Error() + "\n")
	}
	golden(t, "validate.golden", texts.String())
}

func TestNearest(t *testing.T) {
	names := []string{"memfd", "memfd-huge", "udmabuf", "dma-buf", "cuda-ipc"}
	for typed, want := range map[string]string{
		"memdf": "memfd", "memfd": "memfd", "mefd": "memfd", "memfd-hug": "memfd-huge", "udma-buf": "udmabuf",
		"cudaipc": "cuda-ipc", "zzzzzz": "", "": "", "x": "", "something-else-entirely": "",
	} {
		if got := nearest(typed, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"ab", "ba", 1}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"ca", "abc", 3}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := editDistance(c.b, c.a); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
