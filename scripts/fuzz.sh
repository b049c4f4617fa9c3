#!/bin/bash
# Runs every native fuzz target of the tree, one after the other.
#
#   scripts/fuzz.sh [TIME] [PACKAGE...]
#
# TIME is for each target, as go test -fuzztime takes it (default 1m). Inputs that
# fail are kept by go test under the package's testdata/fuzz and then run with
# every go test.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-1m}
shift || true
export CGO_ENABLED=0
targets=0
packages=$(go list "${@:-./...}")
for package in $packages; do
	# Names, and then a line "ok  package  time".
	names=$(go test -list '^Fuzz' "$package")
	for target in $(grep '^Fuzz' <<<"$names" || true); do
		echo "-- $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" </dev/null
		targets=$((targets + 1))
	done
done
echo "$targets fuzz targets ran for $time each"
