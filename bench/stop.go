package bench

import (
	"strings"

	"gpushare-bench/stats"
)

// stopWithCase is the reason of a step that is less precise than was asked for when its phase, and with it the case, was
// precise: steps don't keep a case going.
const stopWithCase stats.StopReason = "with-case"

// isKernel reports whether a metric is a kernel's.
func isKernel(metric string) bool { return strings.HasPrefix(metric, "kernel/") }

// isStep reports whether a metric is a call within a phase.
func isStep(metric string) bool { return !isKernel(metric) && strings.Contains(metric, "/") }
