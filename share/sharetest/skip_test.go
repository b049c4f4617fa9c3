package sharetest_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"gpushare-bench/share"
	"gpushare-bench/share/sharetest"
)

// recorder notes how a test ended.
type recorder struct {
	testing.TB
	fatal, skip string
}

func (r *recorder) Helper() {}
func (r *recorder) Fatalf(format string, args ...any) {
	r.fatal = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (r *recorder) Skipf(format string, args ...any) {
	r.skip = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// ended runs f as a test and returns "fail: …", "skip: …" or "ran".
func ended(f func(testing.TB)) string {
	r := &recorder{}
	done := make(chan bool)
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	switch {
	case r.fatal != "":
		return "fail: " + r.fatal
	case r.skip != "":
		return "skip: " + r.skip
	}
	return "ran"
}

func TestSkipIfUnsupported(t *testing.T) {
	whole := &share.Unsupported{Op: "open /dev/udmabuf", Answer: syscall.ENOENT}
	yes := func(*share.Unsupported) bool { return true }
	no := func(*share.Unsupported) bool { return false }
	for _, c := range []struct {
		name    string
		err     error
		granted func(*share.Unsupported) bool
		noSkip  string
		machine string
		want    string // beginning
	}{
		{"no error", nil, nil, "", "", "ran"},
		{"no error where skips are forbidden", nil, no, "1", "h200-580", "ran"},
		{"no refusal", syscall.EIO, nil, "1", "", "ran"},
		{"refusal", whole, nil, "", "", "skip: refused: open /dev/udmabuf: no such file"},
		{"wrapped refusal", fmt.Errorf("allocate: %w", whole), nil, "", "", "skip: refused: allocate: open"},
		{"skips not forbidden", whole, nil, "0", "", "skip: "},
		{"bare sentinel", share.ErrUnsupported, nil, "", "", "fail: refused without saying what"},
		{"wrapped sentinel", fmt.Errorf("map: %w", share.ErrUnsupported), no, "", "", "fail: refused without saying what"},
		{"no operation", &share.Unsupported{Answer: syscall.ENOENT}, nil, "", "", "fail: refused without saying what was asked"},
		{"no answer", &share.Unsupported{Op: "export"}, nil, "", "", "fail: refused without saying what was asked"},
		{"skips forbidden", whole, nil, "1", "", "fail: refused where skips are forbidden"},
		{"skips forbidden and not granted", whole, no, "1", "", "fail: refused where skips are forbidden"},
		{"granted by the machine", whole, yes, "", "h200-580", "fail: refused, but this machine"},
		{"not granted by the machine", whole, no, "", "h200-580", "skip: refused"},
		{"machine without expectation", whole, nil, "", "h200-580", "fail: refused on machine h200-580"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(sharetest.NoSkipVariable, c.noSkip)
			t.Setenv(sharetest.MachineVariable, c.machine)
			got := ended(func(tb testing.TB) { sharetest.SkipIfUnsupported(tb, c.err, c.granted) })
			if !strings.HasPrefix(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestFDDifference(t *testing.T) {
	a, b, c := "3 /dev/null", "4 /dev/zero", "5 /memfd:x"
	for _, test := range []struct {
		before, after []string
		want          string
	}{
		{nil, nil, ""},
		{[]string{a, b}, []string{b, a}, ""},
		{[]string{a}, []string{a, c}, "opened: " + c + "\n"},
		{[]string{a, b}, []string{b}, "closed: " + a + "\n"},
		{[]string{a}, []string{b}, "closed: " + a + "\nopened: " + b + "\n"},
	} {
		if got := sharetest.FDDifference(test.before, test.after); got != test.want {
			t.Errorf("%v to %v: %q, want %q", test.before, test.after, got, test.want)
		}
	}
	before, err := sharetest.OpenFDs()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	after, err := sharetest.OpenFDs()
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if got := sharetest.FDDifference(before, after); !strings.HasPrefix(got, "opened: ") || !strings.HasSuffix(got, " /dev/zero\n") {
		t.Errorf("one file was opened: %q", got)
	}
}
