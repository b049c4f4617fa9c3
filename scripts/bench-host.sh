#!/bin/bash
# Compares the host path with bare C on this machine, both sides in turns, and prints ratios: 1.00 is as fast as C.
#
#   scripts/bench-host.sh [ROUNDS]      3 rounds by default, about 15 s each
#
# - transfer and map of a memfd of 4 KiB and 16 MiB, for a receiver that sleeps and one that polls, against
#   host/testdata/memfd_cycle.c;
# - the kernels read, write and copy on 256 MiB, against host/testdata/bandwidth.c.
#
# Where there is no Go, BIN names a folder with gpushare-bench and host.test (CGO_ENABLED=0 go test -c ./host).
#
# Run it on a machine that does nothing else: either side loses its core to whatever else runs.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-3}
command -v gcc >/dev/null || { echo 'bench-host: needs gcc (Debian and Ubuntu: apt-get install gcc libc6-dev)' >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -O2 -o "$work/memfd_cycle" host/testdata/memfd_cycle.c
tool=$work/gpushare-bench
if [ -n "${BIN:-}" ]; then
	tool=$(realpath "$BIN/gpushare-bench")
	kernels=$(realpath "$BIN/host.test")
else
	CGO_ENABLED=0 go build -o "$tool" ./cmd/gpushare-bench
	kernels=$work/host.test
	CGO_ENABLED=0 go test -c -o "$kernels" ./host
fi

# values.csv: side,bytes,receiver,phase,median in ns; a line for each round
for round in $(seq "$rounds"); do
	for receiver in blocked polling; do
		for bytes in 4096 16777216; do
			"$work/memfd_cycle" "$bytes" 300 "$receiver" |
				awk -F, -v bytes="$bytes" -v receiver="$receiver" '$1 == "transfer" || $1 == "map" { print "C," bytes "," receiver "," $1 "," $2 }'
		done
	done >>"$work/values.csv"
	"$tool" sweep --backend host --allocator memfd --size 4KiB,16MiB --receiver blocked,polling --kernel none \
		--min-samples 300 --max-samples 1000 --max-time 3s --progress none --out "$work/run$round" >/dev/null
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["status"] == "ok" && ($column["metric"] == "transfer" || $column["metric"] == "map") {
			print "tool," $column["size_bytes"] "," $column["receiver"] "," $column["metric"] "," $column["median"] }' \
		"$work/run$round/summary.csv" >>"$work/values.csv"
done

echo "memfd, medians over $rounds round(s), ns"
printf '%10s  %-8s  %-13s  %10s  %10s  %6s\n' bytes receiver phase C tool ratio
for bytes in 4096 16777216; do
	for receiver in blocked polling; do
		for phase in transfer map; do
			for side in C tool; do
				grep "^$side,$bytes,$receiver,$phase," "$work/values.csv" | cut -d, -f5 | sort -n |
					awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
			done | paste -sd' ' | sed "s/^/$bytes $receiver $phase /"
		done
	done
done | awk '
	function line(bytes, receiver, phase, c, tool) { printf "%10d  %-8s  %-13s  %10.0f  %10.0f  %6.2f\n", bytes, receiver, phase, c, tool, tool / c }
	{ line($1, $2, $3, $4, $5) }
	$3 == "transfer" { c = $4; tool = $5 }
	$3 == "map" { line($1, $2, "transfer+map", c + $4, tool + $5) }'

echo
echo 'kernels on 256 MiB; ratio is of the best samples, median-ratio of the medians; above 1 is faster than C'
(cd host && "$kernels" -test.run '^$' -test.bench 'Kernels/(read|write|copy)' -test.benchtime "${rounds}x") | grep '^Benchmark'
