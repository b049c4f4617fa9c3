package archtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestLinks follows every relative link of every Markdown file.
func TestLinks(t *testing.T) {
	root := "../.."
	found := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "build", "gpushare-runs", "testdata"}, entry.Name()) {
			return filepath.SkipDir
		}
		if filepath.Ext(file) != ".md" {
			return nil
		}
		found++
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, target := range linksOf(string(text)) {
			if err := follow(root, file, target); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("there is no Markdown file")
	}
}

// follow tells whether a link's file, and the heading after #, are there.
func follow(root, file, target string) error {
	name, fragment, _ := strings.Cut(target, "#")
	to := file
	if name != "" {
		to = filepath.Join(filepath.Dir(file), name)
	}
	if inside, err := filepath.Rel(root, to); err != nil || strings.HasPrefix(inside, "..") {
		return fmt.Errorf("%s: link to %s leaves the repository", file, target)
	}
	info, err := os.Stat(to)
	if err != nil {
		return fmt.Errorf("%s: link to %s: %w", file, target, err)
	}
	if fragment == "" || info.IsDir() || filepath.Ext(to) != ".md" {
		return nil
	}
	text, err := os.ReadFile(to)
	if err != nil {
		return err
	}
	if !slices.Contains(anchorsOf(string(text)), fragment) {
		return fmt.Errorf("%s: link to %s: no such heading", file, target)
	}
	return nil
}

var (
	inlineLink    = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`)
	referenceLink = regexp.MustCompile(`^\[[^\]]+\]:\s+(\S+)`)
	htmlLink      = regexp.MustCompile(`(?:src|href)="([^"]+)"`)
	codeSpan      = regexp.MustCompile("`[^`]*`")
	scheme        = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
)

// linksOf returns the relative targets of links and images outside of code.
func linksOf(markdown string) []string {
	var targets []string
	for line := range prose(markdown) {
		line = codeSpan.ReplaceAllString(line, "")
		for _, expression := range []*regexp.Regexp{inlineLink, referenceLink, htmlLink} {
			for _, match := range expression.FindAllStringSubmatch(line, -1) {
				if !scheme.MatchString(match[1]) {
					targets = append(targets, match[1])
				}
			}
		}
	}
	return targets
}

// anchorsOf returns the fragment of each heading, as forges make them: lower
// case, letters and digits, spaces as hyphens.
func anchorsOf(markdown string) []string {
	var anchors []string
	for line := range prose(markdown) {
		title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		anchors = append(anchors, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title)))
	}
	return anchors
}

// prose yields the lines that are in no fenced code block.
func prose(markdown string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		fenced := false
		for line := range strings.SplitSeq(markdown, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				fenced = !fenced
				continue
			}
			if !fenced && !yield(line) {
				return
			}
		}
	}
}

func TestLinksOf(t *testing.T) {
	const text = "see [a](x.md) and ![b](<pic.png> \"title\"), not [c](https://example.org) nor `[d](code.md)`\n" +
		"```\n[e](fenced.md)\n```\n[f]: docs/ref.md#part\n<img src=\"p.svg\"><a href=\"mailto:x@example.org\">\n"
	want := []string{"x.md", "pic.png", "docs/ref.md#part", "p.svg"}
	if got := linksOf(text); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFollow(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "a.md")
	if err := os.WriteFile(file, []byte("# A title: `x`, and more\n\n```\n# no heading\n```\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		"a.md":                   "",
		"#a-title-x-and-more":    "",
		"a.md#no-heading":        "no such heading",
		"b.md":                   "no such file",
		"../outside":             "leaves the repository",
		"a.md#a-title-x-and-mor": "no such heading",
	} {
		err := follow(root, file, target)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("link to %s: got %v, want %q", target, err, want)
		}
	}
}
