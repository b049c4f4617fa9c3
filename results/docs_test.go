package results

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDocumentation looks for every column of every CSV file and every field of every JSON object in docs/results.md.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../docs/results.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, s := range regexp.MustCompile(`(?m)^##+ `).Split(string(text), -1) {
		title, body, _ := strings.Cut(s, "\n")
		sections[title] = body
	}
	journal := sections["Body of the header"] + sections["Body of a case"] + sections["Body of the end"]
	keys := sections["summary.csv"] // the key columns are explained there
	for _, test := range []struct {
		what, section string
		names         []string
	}{
		{"header", journal, jsonNames(reflect.TypeFor[Header]())},
		{"case", journal, jsonNames(reflect.TypeFor[CaseResult]())},
		{"end", journal, jsonNames(reflect.TypeFor[End]())},
		{"comparison", sections["--json"] + sections["Body of a case"], jsonNames(reflect.TypeFor[comparisonJSON]())},
		{"summary.csv", sections["summary.csv"], SummaryColumns()},
		{"samples.csv", sections["samples.csv"], SamplesColumns()},
		{"fits.csv", keys + sections["fits.csv"], columnNames(fitColumns)},
		{"breakeven.csv", keys + sections["breakeven.csv"], columnNames(breakEvenColumns)},
		{"compare --csv", sections["--csv"], columnNames(compareColumns)},
	} {
		if len(test.names) < 4 {
			t.Errorf("%s has only %q", test.what, test.names)
		}
		for _, n := range test.names {
			if !strings.Contains(test.section, "`"+n+"`") {
				t.Errorf("docs/results.md does not mention `%s` of %s", n, test.what)
			}
		}
	}
}

// jsonNames lists the names of a struct's fields in JSON, and of the structs within.
func jsonNames(t reflect.Type) []string {
	var names []string
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return jsonNames(t.Elem())
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return nil
		}
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(append(names, name), jsonNames(f.Type)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
