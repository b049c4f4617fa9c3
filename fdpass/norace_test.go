//go:build !race

package fdpass

const raceEnabled = false
