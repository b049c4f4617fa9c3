// Package docs holds the text of the documents that the program shows.
package docs

import _ "embed"

// Method is method.md: what a number in a run means and how it was taken. It is Markdown.
//
//go:embed method.md
var Method string
