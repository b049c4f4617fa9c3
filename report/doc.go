// Package report makes what a person reads from a run: tables for the terminal ([Summary], [Comparison]), text for an
// issue or a pull request ([Markdown]) and one self-contained page ([Page]).
//
// All text of a journal is taken for hostile: control characters never reach a terminal, and nothing of it is executed or
// fetched by the page. A number is never shown without its unit, and a median not without its interval where there is one.
package report
