package bench

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every code of a warning has a row in docs/method.md.
func TestWarningsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/method.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("warn.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`Warn\w+ += "([a-z-]+)"`).FindAllSubmatch(source, -1)
	if len(codes) < 10 {
		t.Fatalf("only %d codes found in warn.go", len(codes))
	}
	for _, c := range codes {
		if !strings.Contains(string(text), "| `"+string(c[1])+"` |") {
			t.Errorf("docs/method.md does not explain the warning %q", c[1])
		}
	}
}
