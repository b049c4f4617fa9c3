package bench

import (
	"os"
	"strings"
	"testing"
)

// Every code of a warning has a row in docs/method.md.
func TestWarningsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/method.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{WarnCorrelated, WarnDrift, WarnBimodal, WarnFew, WarnImprecise, WarnCoarse, WarnCached,
		WarnThrottled, WarnShared, WarnScaling, WarnBusy, WarnIdle, WarnStalled} {
		if !strings.Contains(string(text), "| `"+code+"` |") {
			t.Errorf("docs/method.md does not explain the warning %q", code)
		}
	}
}
