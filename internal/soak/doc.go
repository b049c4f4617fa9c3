// Package soak runs thousands of sharing cycles on an emulated GPU machine whose driver fails, hangs, crashes and lies at
// random, and holds descriptors, memory, threads, processes and files at the end against those at the start. It has tests
// only.
//
// A plain go test runs some hundred cycles. GPUSHARE_SOAK=10000 runs that many (make soak), GPUSHARE_SOAK_SEED chooses
// which faults; both are in the test's log.
package soak
