#!/bin/bash
# Checks and measures everything on a machine with an NVIDIA GPU, in one go.
#
#   scripts/gpu-check.sh OUT [STEP...]
#
# OUT is a new or empty directory for the results: summary.txt, log.txt with all
# that the steps printed, and what they measured, runs packed as NAME.tar.gz.
# A step that fails does not keep the next from running; the exit status is 0 when
# every step that ran went well. Steps, all of them in this order by default:
#
#   machine    what the machine is: nvidia-smi -q, processors, compilers
#   info       gpushare-bench info: what can be shared here
#   contract   the contract tests against the real driver, where a profile describes it
#   kernels    kernels/bench/bench.cu, built with nvcc: are the kernels right and fast
#   speed      bare C, the tool, bare C again: what the phases cost in each
#   sweep      gpushare-bench sweep with its defaults
#   kill       a consumer is killed in the middle: the rest must be measured, no memory lost
#   bandwidth  2 GiB: kernels on device and host memory, warm and cold, and copies over the link
#   pairs      between several GPUs: sharing and all kernels, against nvbandwidth where it
#              is installed and against copies in bare C
#   export     bare C: what makes the export of a fresh allocation slow
#
# No Go is needed on that machine when BIN (default build/gpu) has the programs:
#
#   CGO_ENABLED=0 go build -buildvcs=true -o build/gpu/ ./cmd/gpushare-bench ./baseline/ratio
#   CGO_ENABLED=0 go test -c -o build/gpu/gpu.test ./gpu
#
# Any other NAME.test in BIN is run in the folder NAME as well. gcc is needed for
# speed, export and pairs, nvcc for kernels.
#
# Variables: BUDGET, seconds for everything (540): what no longer fits is not run.
# SIZES (2MiB,64MiB,1GiB) and CYCLES (101) of speed and export, BANDWIDTH_SIZE
# (2GiB), SWEEP_FLAGS, further flags of the sweep, ROUNDS of speed (7). PAIRS, those
# of pairs, such as "0:1 1:0" (all of up to 4 GPUs; of more, each GPU and the next, both
# ways), and PAIR_SIZE (1GiB), the buffer of its kernels.
# shellcheck disable=SC2317 # steps are called by name
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

all_steps='machine info contract kernels speed sweep kill bandwidth pairs export'
: "${BIN:=build/gpu}" "${BUDGET:=540}" "${ROUNDS:=7}" "${SIZES:=2MiB,64MiB,1GiB}" "${CYCLES:=101}" "${BANDWIDTH_SIZE:=2GiB}" "${SWEEP_FLAGS:=}" "${PAIRS:=}" "${PAIR_SIZE:=1GiB}"

usage() {
	echo "$1" >&2
	echo "usage: scripts/gpu-check.sh OUT [STEP...]; steps: $all_steps" >&2
	exit 2
}

[ $# -ge 1 ] || usage "no directory for the results"
out=$1
shift
steps=${*:-$all_steps}
for step in $steps; do
	case " $all_steps " in *" $step "*) ;; *) usage "no step $step" ;; esac
done
mkdir -p "$out" || exit 2
[ -z "$(ls -A "$out")" ] || usage "$out is not empty"
out=$(cd "$out" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# --- helpers ----------------------------------------------------------------------

# A step that can't run here returns this.
not_here=77

left() { echo $((BUDGET - SECONDS)); }

# limited SECONDS COMMAND… ends a command that takes longer, or longer than there is time. The tool then still writes
# what it has measured.
limited() {
	local limit=$1 rest
	rest=$(left)
	shift
	[ "$limit" -le "$rest" ] || limit=$rest
	echo "+ $*" >&2
	timeout -k 10 "$((limit > 1 ? limit : 1))" "$@"
}

# tool SECONDS ARGUMENTS… runs gpushare-bench.
tool() {
	local limit=$1
	shift
	limited "$limit" "$BIN/gpushare-bench" "$@"
}

smi() { nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits; }

# memory_used prints the MiB used of each GPU.
memory_used() { smi memory.used | paste -sd ,; }

# gpus prints how many GPUs there are.
gpus() { smi uuid | wc -l; }

need() {
	command -v "$1" >/dev/null && return
	echo "$1 is not installed here"
	return "$not_here"
}

# find_cuda sets nvcc, the folder of cuda.h ("" where the compiler finds it by itself) and the driver library to link.
find_cuda() {
	local root dir
	nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
	include=""
	roots=""
	[ -z "$nvcc" ] || roots=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
	for root in ${CUDA_HOME:-} $roots /usr/local/cuda; do
		for dir in "$root/include" "$root/targets/$(uname -m)-linux/include"; do
			if [ -z "$include" ] && [ -e "$dir/cuda.h" ]; then
				include=$dir
			fi
		done
	done
	libcuda=${GPUSHARE_LIBCUDA:-}
	if [ -z "$libcuda" ]; then
		libcuda=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk '$1 == "libcuda.so.1" && /64/ { print $NF; exit }')
	fi
	if [ -z "$libcuda" ]; then
		for dir in /usr/lib/"$(uname -m)"-linux-gnu /usr/lib64; do
			[ ! -e "$dir/libcuda.so.1" ] || libcuda=$dir/libcuda.so.1
		done
	fi
}

# build_bare NAME SOURCE… compiles a program in bare C, once.
build_bare() {
	local name=$1
	shift
	[ ! -x "$work/$name" ] || return 0
	need gcc || return
	find_cuda
	if [ -z "$libcuda" ]; then
		echo "libcuda.so.1 is not where the loader looks"
		return "$not_here"
	fi
	if ! echo '#include <cuda.h>' | gcc ${include:+-I"$include"} -E - >/dev/null; then
		echo "there is no cuda.h beside nvcc, in /usr/local/cuda or in CUDA_HOME"
		return "$not_here"
	fi
	limited 60 gcc -std=gnu11 -O2 -Wall ${include:+-I"$include"} -o "$work/$name" baseline/bare.c "$@" \
		-Wl,--allow-shlib-undefined "$libcuda"
}

build_sharing() { build_bare sharing baseline/sharing.c baseline/export.c; }

# lines FILE counts its lines, 0 if there is none.
lines() { if [ -e "$1" ]; then wc -l <"$1"; else echo 0; fi; }

# worker_of PARENT ROLE prints the process that is the producer or consumer of a sweep.
worker_of() {
	local proc
	for proc in /proc/[0-9]*; do
		if [ "$(awk '/^PPid:/ { print $2 }' "$proc/status" 2>/dev/null)" = "$1" ] &&
			tr '\0' '\n' 2>/dev/null <"$proc/environ" | grep -qx "GPUSHARE_ROLE=$2"; then
			echo "${proc#/proc/}"
			return 0
		fi
	done
	return 1
}

# pack NAME puts a folder of $work into an archive of less than 16 MiB. samples.csv repeats what run.jsonl has:
# gpushare-bench report writes it again.
pack() {
	local drop excludes=()
	[ -d "$work/$1" ] || return 0
	for drop in samples.csv plots run.jsonl; do
		excludes+=(--exclude="$drop")
		tar -C "$work" -czf "$out/$1.tar.gz" "${excludes[@]}" "$1"
		[ "$(stat -c %s "$out/$1.tar.gz")" -ge 16000000 ] || return 0
	done
}

# --- steps ------------------------------------------------------------------------

step_machine() {
	uname -a
	sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | sort | uniq -c
	grep -E '^(MemTotal|MemAvailable)' /proc/meminfo
	cat /proc/driver/nvidia/version 2>/dev/null || echo 'no /proc/driver/nvidia/version'
	for compiler in nvcc gcc; do
		$compiler --version 2>/dev/null || echo "no $compiler"
	done
	need nvidia-smi || return
	nvidia-smi
	nvidia-smi topo -m || true
	nvidia-smi -q
}

step_info() {
	tool 60 info --backend cuda >"$out/info.txt"
	cat "$out/info.txt"
}

step_contract() {
	local machine test name status=0
	need nvidia-smi || return
	machine=$(smi name,driver_version | sort -u)
	case $machine in
	'NVIDIA H200, 580.'*)
		# Of several GPUs, those at the positions of the profile's tests are taken, as far as they are here.
		export GPUSHARE_MACHINE=h200-580
		[ "$(gpus)" -le 1 ] || GPUSHARE_MACHINE=eight-h200
		;;
	*)
		echo "no profile says what to expect of: ${machine:-this machine}"
		return "$not_here"
		;;
	esac
	for test in "$BIN"/*.test; do
		name=$(basename "$test" .test)
		if [ ! -x "$test" ] || [ ! -d "$name" ]; then
			echo "$test: not a test of a folder of this repository"
			continue
		fi
		(cd "$name" && limited 150 "$test" -test.v) | tee "$work/$name.tests" || status=1
		remark+="$name: $(awk '/^--- / { n[$2]++ } END { printf "%d passed, %d failed, %d skipped", n["PASS:"], n["FAIL:"], n["SKIP:"] }' "$work/$name.tests") "
	done
	if [ -z "$remark" ]; then
		echo "there is no test in $BIN"
		return "$not_here"
	fi
	return "$status"
}

step_kernels() {
	local status=0
	find_cuda
	if [ -z "$nvcc" ]; then
		echo "nvcc is not installed here"
		return "$not_here"
	fi
	limited 120 "$nvcc" -O3 -arch=native -o "$work/kernels-bench" kernels/bench/bench.cu
	limited 60 "$work/kernels-bench" | tee "$work/kernels.out" || status=1
	remark=$(tail -n 1 "$work/kernels.out")
	return "$status"
}

# cores prints the two cores that the tool pins its processes to on the first GPU, for the baseline.
cores() {
	"$BIN/gpushare-bench" sweep --backend cuda --pair 0:0 --path cuda-ipc --allocator device --size 2MiB --kernel none --max-time 100ms \
		--progress none --out "$work/cores" >/dev/null 2>&1
	sed -n '1s/.*"backend":"cuda","index":0[^]]*"cpus":\[\([0-9]*\),\([0-9]*\)[],].*/\1,\2/p' "$work/cores/run.jsonl" 2>/dev/null
}

step_speed() {
	local status=0 round pinned
	build_sharing || return
	mkdir "$work/speed"
	pinned=$(cores)
	echo "cores of producer and consumer: ${pinned:-not known, the first two}"
	for round in $(seq "$ROUNDS"); do
		limited 60 "$work/sharing" -k kernels/ptx/kernels.ptx ${pinned:+-c "$pinned"} -n "$CYCLES" -s "$SIZES" >"$work/speed/baseline-$round.csv" || status=1
		tool 90 sweep --pair 0:0 --path cumemmap,opaque-fd,cuda-ipc,dma-buf,mempool --allocator vmm,vmm-unmapped,device,pool \
			--size "$SIZES" --receiver blocked,polling --kernel none --min-samples "$CYCLES" --max-samples "$CYCLES" \
			--max-time 2s --time-limit 80s --progress none --out "$work/speed/run-$round" || status=1
	done
	if [ -x "$BIN/ratio" ]; then
		"$BIN/ratio" "$work"/speed/run-*/summary.csv "$work"/speed/baseline-*.csv >"$work/speed/ratio.txt" || status=1
		cat "$work/speed/ratio.txt"
		printf '\nbeyond the limits:\n'
		grep -v ' within$' "$work/speed/ratio.txt"
		remark=$(tail -n 1 "$work/speed/ratio.txt")
	fi
	return "$status"
}

step_export() {
	build_sharing || return
	limited 120 "$work/sharing" --why-export -n "$CYCLES" -s "$SIZES" >"$out/why-export.csv"
	# The figures that the question is about, in microseconds.
	awk -F, '$5 ~ /Export/ { printf "%-12s %-9s %-9s %5s us  %-38s %9.1f us\n", $1, $2, $3, $4, $5, $7 / 1000 }' "$out/why-export.csv"
}

step_kill() {
	local sweep victim before after journal=$work/kill/run.jsonl status failed ok
	need nvidia-smi || return
	before=$(memory_used)
	# Too precise to be reached: every case takes its three seconds.
	"$BIN/gpushare-bench" sweep --pair 0:0 --path cumemmap --allocator vmm --size 2MiB,4MiB,8MiB,16MiB --kernel none \
		--precision 0.001% --max-samples 1000000 --max-time 3s --time-limit 30s --progress plain --out "$work/kill" &
	sweep=$!
	# The first case is in the journal after its header: then the second is under way.
	for _ in $(seq 300); do
		if ! kill -0 "$sweep" 2>/dev/null || [ "$(lines "$journal")" -ge 2 ]; then
			break
		fi
		sleep 0.1
	done
	sleep 1
	if victim=$(worker_of "$sweep" consumer); then
		echo "killing the consumer, process $victim of sweep $sweep"
		kill -KILL "$victim"
	else
		echo "no consumer found among the children of sweep $sweep"
	fi
	status=0
	wait "$sweep" || status=$?
	failed=$(grep -c '"status":"failed"' "$journal" || true)
	ok=$(grep -c '"status":"ok"' "$journal" || true)
	grep -o '"status":"failed","reason":"[^"]*"' "$journal" || true
	# The driver may take a moment to give back what the dead process had.
	for _ in $(seq 50); do
		after=$(memory_used)
		[ "$after" != "$before" ] || break
		sleep 0.2
	done
	remark="exit status $status, $failed case failed, $ok ok; GPU memory used $before MiB before, $after MiB after"
	echo "$remark; expected status 1, 1 failed, 3 ok, equal memory"
	[ "$status" = 1 ] && [ "$failed" = 1 ] && [ "$ok" = 3 ] && [ "$after" = "$before" ]
}

step_bandwidth() {
	# staged times the copies themselves: export and map are the two directions of the host link.
	tool 100 sweep --pair 0:0 --path cumemmap,staged --allocator vmm,vmm-host,device,pinned --size "$BANDWIDTH_SIZE" \
		--cache cold,warm --kernel read,write,copy,memcpy --min-samples 10 --max-time 4s --time-limit 70s \
		--progress plain --out "$work/bandwidth"
}

# devices prints the number and the ID of each GPU.
devices() {
	[ -e "$out/info.txt" ] || tool 60 info --backend cuda >"$out/info.txt"
	sed -n 's/^device *\([0-9][0-9]*\) *[^,]*, \([^,]*\),.*/\1 \2/p' "$out/info.txt"
}

# pairs_of N prints the pairs of N GPUs that are measured.
pairs_of() {
	local i j
	for ((i = 0; i < $1; i++)); do
		for ((j = 0; j < $1; j++)); do
			if [ "$i" != "$j" ] && { [ "$1" -le 4 ] || [ $(((i + 1) % $1)) = "$j" ] || [ $(((j + 1) % $1)) = "$i" ]; }; then
				echo "$i:$j"
			fi
		done
	done
}

# matrix_of TEST turns the matrix that nvbandwidth prints, of several the total, into lines: producer, consumer, TEST,
# GB/s. A row is the GPU that copies, which is the consumer, a column the other.
matrix_of() {
	awk -v test="$1" '
		/bandwidth \(GB\/s\)/ { wanted = !/(Read|Write)[12]/; head = 1; next }
		!NF || /^SUM/ { wanted = 0 }
		!wanted { next }
		head { split($0, column); head = 0; next }
		{ for (i = 2; i <= NF; i++) if ($i != "N/A") print column[i - 1], $1, test, $i }'
}

# nvbandwidth_tests prints what nvbandwidth measures between the GPUs, as matrix_of does.
nvbandwidth_tests() {
	local test size
	size=$(numfmt --from=iec-i --suffix=B "$PAIR_SIZE")
	size=${size%B}
	case $(nvbandwidth --help 2>&1) in
	*MiB*) size=$((size / 1048576)) ;;
	esac
	for test in memcpy_read_sm memcpy_write_sm memcpy_read_ce memcpy_write_ce bidirectional_memcpy_read_ce bidirectional_memcpy_write_ce; do
		limited 60 nvbandwidth -t "device_to_device_$test" --bufferSize "$size" >"$work/pairs/nvbandwidth-$test.txt" || return
		cat "$work/pairs/nvbandwidth-$test.txt" >&2
		matrix_of "$test" <"$work/pairs/nvbandwidth-$test.txt"
	done
}

# kernels_of FILE prints the kernels of a summary.csv: producer, consumer, path/allocator, kernel, GB/s. The columns up to
# the metric have no commas in a row of a case that went well.
kernels_of() {
	devices | awk -F, '
		FNR == NR { split($0, device, " "); number[device[2]] = device[1]; next }
		FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["status"] == "ok" && $at["unit"] == "B/s" && $at["metric"] ~ /^kernel\// {
			sub("kernel/", "", $at["metric"])
			print number[$at["producer"]], number[$at["consumer"]], $at["path"] "/" $at["allocator"], $at["metric"], $at["median"] / 1e9
		}' - "$1"
}

# ratios REFERENCES TOOL holds the tool, in lines as of kernels_of, against the references, in lines as of matrix_of: copies
# of the copy engines against both of them, kernels against nvbandwidth or, where it has no figure, against bare C.
ratios() {
	awk '
		BEGIN {
			least = 0.98
			against["read"] = against["copy"] = "memcpy_read_sm|bare/memcpy"
			against["write"] = against["copy-to"] = "memcpy_write_sm|bare/memcpy-to"
			against["memcpy"] = "memcpy_read_ce bare/memcpy"
			against["memcpy-to"] = "memcpy_write_ce bare/memcpy-to"
			against["memcpy-both"] = "bidirectional_memcpy_read_ce bidirectional_memcpy_write_ce bare/memcpy-both"
			printf "%-6s %-17s %-12s %9s  %-30s %9s %7s\n", "pair", "path/allocator", "kernel", "GB/s", "reference", "GB/s", "ratio"
		}
		FNR == NR { reference[$1 " " $2 " " $3] = $4; next }
		{
			n = split(against[$4], names, " ")
			for (i = 1; i <= n; i++) {
				m = split(names[i], either, "|")
				for (j = 1; j < m && !($1 " " $2 " " either[j] in reference); j++) { }
				if (!($1 " " $2 " " either[j] in reference)) continue
				r = reference[$1 " " $2 " " either[j]]
				ratio = r > 0 ? $5 / r : 0
				printf "%-6s %-17s %-12s %9.1f  %-30s %9.1f %7.3f%s\n", $1 ":" $2, $3, $4, $5, either[j], r, ratio, ratio < least ? " below" : ""
				all++
				below += ratio < least
				if (all == 1 || ratio < lowest) lowest = ratio
			}
		}
		END {
			if (!all) { print "nothing to compare with"; exit }
			printf "%d of %d at least %.2f of the reference, the lowest %.3f\n", all - below, all, least, lowest
			exit below > 0
		}' "$1" "$2"
}

step_pairs() {
	local status=0 pair n list folder=$work/pairs
	n=$(devices | wc -l)
	if [ "$n" -lt 2 ]; then
		echo "there is no second GPU here: $n"
		return "$not_here"
	fi
	[ -n "$PAIRS" ] || PAIRS=$(pairs_of "$n" | paste -sd ' ')
	list=${PAIRS// /,}
	echo "$n GPUs, pairs $list"
	mkdir "$folder"
	if need nvbandwidth; then
		nvbandwidth_tests >"$folder/references" || status=1
	fi
	if build_bare peer baseline/peer.c; then
		for pair in $PAIRS; do
			limited 30 "$work/peer" -g "${pair/:/,}" -s "$PAIR_SIZE" >"$folder/bare-${pair/:/-}.csv" || status=1
			awk -F, 'NR > 1 { print $3, $4, "bare/" $6, $5 / $8 }' "$folder/bare-${pair/:/-}.csv" >>"$folder/references"
		done
	fi
	tool 150 sweep --pair "$list" --path cumemmap,cuda-ipc --allocator vmm,device --size "$PAIR_SIZE" \
		--kernel read,write,copy,copy-to,memcpy,memcpy-to,memcpy-both --min-samples 10 --max-samples 30 --max-time 4s --time-limit 120s \
		--progress plain --out "$folder/kernels" || status=1
	tool 150 sweep --pair "0:0,$list" --path cumemmap,cuda-ipc --allocator vmm,device --size 2MiB,16MiB,128MiB,1GiB \
		--kernel none --max-time 500ms --time-limit 120s --progress plain --out "$folder/sharing" || status=1
	touch "$folder/references"
	kernels_of "$folder/kernels/summary.csv" >"$folder/tool"
	ratios "$folder/references" "$folder/tool" >"$folder/ratio.txt" || status=1
	cat "$folder/ratio.txt"
	remark=$(tail -n 1 "$folder/ratio.txt")
	return "$status"
}

step_sweep() {
	local status=0
	# shellcheck disable=SC2086 # several flags
	tool 240 sweep --progress plain --out "$work/sweep" $SWEEP_FLAGS || status=$?
	remark="$(grep -m 1 '^backend' "$log"); measuring took $(grep -o '"duration_ns":[0-9]*' "$work/sweep/run.jsonl" | awk -F: '{ s += $2 } END { printf "%d", s / 1e9 }') s"
	return "$status"
}

# --- the run ------------------------------------------------------------------------

# Seconds below which a step is not worth starting.
declare -A least=([machine]=5 [info]=15 [contract]=30 [kernels]=60 [speed]=120 [export]=40 [kill]=40 [bandwidth]=60 [pairs]=90 [sweep]=130)

for program in gpushare-bench gpu.test ratio; do
	if [ ! -x "$BIN/$program" ] && command -v go >/dev/null; then
		echo "building $BIN/$program"
		case $program in
		gpu.test) CGO_ENABLED=0 go test -c -o "$BIN/gpu.test" ./gpu ;;
		ratio) CGO_ENABLED=0 go build -o "$BIN/" ./baseline/ratio ;;
		*) CGO_ENABLED=0 go build -o "$BIN/" ./cmd/gpushare-bench ;;
		esac
	fi
done
[ -x "$BIN/gpushare-bench" ] || usage "there is no $BIN/gpushare-bench: build it as this script's first lines say"
BIN=$(cd "$BIN" && pwd)

worst=0
printf '%-10s %-12s %7s  %s\n' step outcome seconds remark | tee "$out/summary.txt"
for step in $steps; do
	begun=$SECONDS
	log=$work/$step.log
	: >"$work/remark"
	if [ "$(left)" -lt "${least[$step]}" ]; then
		outcome='no time left'
		worst=1
	else
		(
			set -e
			remark=
			trap 'echo "$remark" >"$work/remark"' EXIT
			"step_$step"
		) >"$log" 2>&1 </dev/null
		status=$?
		case $status in
		0) outcome=ok ;;
		"$not_here") outcome='not here' ;;
		*) outcome="FAILED ($status)" worst=1 ;;
		esac
	fi
	{
		printf '\n== %s: %s\n' "$step" "$outcome"
		cat "$log" 2>/dev/null
	} >>"$out/log.txt"
	pack "$step"
	printf '%-10s %-12s %7d  %s\n' "$step" "$outcome" $((SECONDS - begun)) "$(cat "$work/remark")" | tee -a "$out/summary.txt"
	if [ "$outcome" != ok ] && [ -e "$log" ]; then
		tail -n 30 "$log" | sed 's/^/    /'
	fi
done

if [ "$(stat -c %s "$out/log.txt")" -ge 16000000 ]; then
	gzip "$out/log.txt"
fi
printf '%-10s %-12s %7d\n' all '' "$SECONDS" | tee -a "$out/summary.txt"
exit $worst
