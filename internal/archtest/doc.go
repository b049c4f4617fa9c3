// Package archtest holds the repository to what its documents say: the import
// tables of ARCHITECTURE.md against the code, and the links of every Markdown
// file against the files that are there. It has tests only.
package archtest
