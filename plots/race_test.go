//go:build race

package plots

const raceEnabled = true
