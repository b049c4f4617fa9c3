// Package resultstest makes up runs for the tests of what reads journals: tables, pictures and pages.
//
// The runs have the shapes that such code must cope with ([HostRun], [GPURun], [Repeat]) and the names and statuses that it must
// survive ([OddRun]). They are the same every time, so that golden files can hold what is made of them. No number in
// them was measured.
//
// It is imported by tests only.
package resultstest
