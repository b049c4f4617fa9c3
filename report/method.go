package report

import (
	"bytes"
	"html/template"
	"path"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"gpushare-bench/docs"
)

// method is docs/method.md as a part of a page.
type method struct {
	HTML    template.HTML
	anchors map[string]bool // IDs in it
}

// Anchors of the method: of its sections, and of its warnings by their codes.
const (
	sectionAnchor = "method-"
	warningAnchor = "warning-"
)

// theMethod renders it once. Raw HTML in it is left out.
var theMethod = sync.OnceValues(func() (method, error) { return renderMethod([]byte(docs.Method)) })

func renderMethod(source []byte) (method, error) {
	m := method{anchors: make(map[string]bool)}
	md := goldmark.New(goldmark.WithExtensions(extension.Table))
	doc := md.Parser().Parse(text.NewReader(source))
	var title ast.Node
	var links []*ast.Link
	section := ""
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 1 {
				title = n
				return ast.WalkContinue, nil
			}
			n.Level++ // below the page's own
			section = slug(plainText(n, source))
			m.anchor(n, sectionAnchor+section)
		case *extast.TableRow:
			if section != "warnings" {
				break
			}
			if code, ok := n.FirstChild().FirstChild().(*ast.CodeSpan); ok && code.NextSibling() == nil {
				m.anchor(n, warningAnchor+slug(plainText(code, source)))
			}
		case *ast.Link:
			links = append(links, n)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return method{}, err
	}
	if title != nil {
		doc.RemoveChild(doc, title)
	}
	for _, l := range links { // the page travels alone: other documents are named
		name := ast.NewString([]byte(namedLink(plainText(l, source), string(l.Destination))))
		l.Parent().ReplaceChild(l.Parent(), l, name)
	}
	var b bytes.Buffer
	if err := md.Renderer().Render(&b, source, doc); err != nil {
		return method{}, err
	}
	s := strings.ReplaceAll(b.String(), "<table>", `<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>`)
	m.HTML = template.HTML(strings.ReplaceAll(s, "</table>", "</table></div>"))
	return m, nil
}

// anchor gives a node an ID that no other has.
func (m *method) anchor(n ast.Node, id string) {
	if !m.anchors[id] {
		m.anchors[id] = true
		n.SetAttributeString("id", []byte(id))
	}
}

// has returns the anchor, or "" if the method has none of that name.
func (m *method) has(id string) string {
	if m.anchors[id] {
		return id
	}
	return ""
}

// namedLink is a link as text: "docs/results.md", or "how (docs/results.md)".
func namedLink(label, to string) string {
	if !strings.Contains(to, "://") {
		to = path.Join("docs", to)
	}
	if strings.HasSuffix(to, label) {
		return to
	}
	return label + " (" + to + ")"
}

// plainText is the text of a node without its markup.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		} else {
			b.WriteString(plainText(c, source))
		}
	}
	return b.String()
}

// slug makes the part of an anchor of any text: lower-case letters, digits and dashes.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}
