#!/bin/bash
# Compares this machine with itself and counts false alarms: pairs of runs of one and the same sweep, so that every
# "slower" and every "faster" of compare is wrong. Prints a line a comparison, the false alarms, and their number.
#
#   scripts/aa.sh [-b BINARY] [-t SECONDS] [-n COMPARISONS] [-r REPEATS] [-o DIR] [-- SWEEP FLAGS…]
#
#   -b  the tool; build/gpushare-bench by default. Nothing else is needed but bash and awk
#   -t  time for everything, in seconds; 600 by default
#   -n  how many comparisons, of two runs each; 20 by default
#   -r  fresh pairs of processes in each run; 8 by default. compare gives verdicts from 4 on, and the more metrics a run has
#       the more repeats it takes until a difference of a single one can be significant: compare says how many
#   -o  keep the runs in this directory, new or empty
#
# By default a memfd of 4 KiB and of 1 MiB without kernels is shared. On a GPU, for example:
#
#   scripts/aa.sh -- --backend cuda --pair 0:0 --path cumemmap,cuda-ipc --allocator vmm,device --size 2MiB --kernel read
#
# Exit status: 0 if at most one comparison in twenty had a false regression, 1 if there were more, 2 for wrong usage or a
# sweep that failed.
set -euo pipefail

die() { echo "aa: $*" >&2; exit 2; }

tool=$(dirname "$0")/../build/gpushare-bench seconds=600 comparisons=20 repeats=8 keep=
while getopts b:t:n:r:o: flag; do
	case $flag in
	b) tool=$OPTARG ;;
	t) seconds=$OPTARG ;;
	n) comparisons=$OPTARG ;;
	r) repeats=$OPTARG ;;
	o) keep=$OPTARG ;;
	*) sed -n '5,12p' "$0" >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ -x "$tool" ] || die "no program $tool: name it with -b"
for number in "$seconds" "$comparisons" "$repeats"; do
	[[ $number =~ ^[1-9][0-9]*$ ]] || die "'$number' is no whole number above 0"
done
[ $# -gt 0 ] || set -- --backend host --path memfd --allocator memfd --size 4KiB,1MiB --kernel none

dir=$keep
if [ -z "$dir" ]; then
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
fi
mkdir -p "$dir"
[ -z "$(ls -A "$dir")" ] || die "$dir is not empty"

# Milliseconds for a run. A run shares them out among its cases and repeats.
each=$((1000 * seconds / (2 * comparisons)))
began=$(date +%s)
echo "A/A on $(uname -n): $comparisons comparisons of two runs of $repeats repeats, $((each / 1000)).$(printf %03d $((each % 1000))) s a run, load $(cut -d' ' -f1-3 /proc/loadavg)"
echo "sweep $*"
sweep() { # DIR FLAGS…
	local out=$1 status=0
	shift
	"$tool" sweep --progress none --repeat "$repeats" --time-limit "${each}ms" --max-time "${each}ms" --out "$out" "$@" >"$out.txt" 2>&1 || status=$?
	[ "$status" -eq 0 ] || { tail -5 "$out.txt" >&2; die "sweep ended with status $status"; }
}

for i in $(seq "$comparisons"); do
	sweep "$dir/$i-a" "$@"
	sweep "$dir/$i-b" "$@"
	status=0
	"$tool" compare "$dir/$i-a" "$dir/$i-b" --csv "$dir/$i.csv" --json "$dir/$i.json" >"$dir/$i.txt" 2>&1 || status=$?
	case $status in 0 | 5) ;; *) tail -5 "$dir/$i.txt" >&2; die "compare ended with status $status" ;; esac
	# verdict and the columns before it hold no commas of their own.
	awk -F, -v i="$i" -v alarms="$dir/alarms.txt" '
		NR == 1 { for (k = 1; k <= NF; k++) column[$k] = k; next }
		$column["step"] == "true" { next } # does not count in the exit status
		{ n++; verdict[$column["verdict"]]++; basis[$column["basis"]]++ }
		$column["verdict"] == "slower" || $column["verdict"] == "faster" {
			printf "  comparison %d: %s %s %s, %s B, %s: ×%.3f [%.3f, %.3f], adjusted p %.2g, by %s\n", i, $column["verdict"], $column["path"],
				$column["allocator"], $column["size_bytes"], $column["metric"], $column["ratio"], $column["ratio_low"], $column["ratio_high"],
				$column["p_adjusted"], $column["basis"] >>alarms
		}
		END {
			printf "%2d: %d metrics, %d slower, %d faster, %d equivalent, %d inconclusive; unit:", i, n, verdict["slower"], verdict["faster"],
				verdict["equivalent"], verdict["inconclusive"]
			for (b in basis) printf " %s", b
			printf "\n"
		}' "$dir/$i.csv" | tee -a "$dir/lines.txt"
done

touch "$dir/alarms.txt"
echo
note=$(sed -n 's/.*"\(With [0-9]* repeats [^"]*\|One pair of [^"]*\|Fewer than [^"]*\|[0-9]* of [0-9]* metrics have [^"]*\)".*/\1/p' "$dir"/*.json | sort -u)
if [ -n "$note" ]; then
	printf 'What could not have been found:\n%s\n\n' "$note"
fi
if [ -s "$dir/alarms.txt" ]; then
	echo 'False alarms:'
	cat "$dir/alarms.txt"
	echo
fi
awk -v n="$comparisons" -v took=$(($(date +%s) - began)) '
	FILENAME ~ /alarms.txt$/ { if ($3 == "slower") bad[$2]++; alarms[$3]++; next }
	{ metrics += $2 }
	END {
		for (c in bad) k++
		printf "%d of %d comparisons had a false regression (at most %d may); of %d metrics %d were called slower and %d faster; %d s\n",
			k, n, n / 20, metrics, alarms["slower"], alarms["faster"], took
		exit k > n / 20
	}' "$dir/alarms.txt" "$dir/lines.txt"
