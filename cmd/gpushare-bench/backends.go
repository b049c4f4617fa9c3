package main

import (
	"gpushare-bench/gpu"
	"gpushare-bench/host"
	"gpushare-bench/share"
)

// backends are all the families of devices there are. GPUs come first: auto takes the first that can be used.
var backends = []share.Backend{gpu.Backend{}, host.Backend{}}
