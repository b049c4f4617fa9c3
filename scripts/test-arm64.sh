#!/bin/bash
# Runs the tests of the assembly, and of what hands structures to C, for arm64 under qemu-user. Installs nothing: says
# what is missing and fails. ARM64_SYSROOT names the directory with the arm64 C library when it is not where Debian and
# Ubuntu put it; ARM64_CC names another cross compiler for the C fixture of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."

sysroot=${ARM64_SYSROOT:-/usr/aarch64-linux-gnu}
cc=${ARM64_CC:-aarch64-linux-gnu-gcc}

missing=()
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) ||
	missing+=("qemu-aarch64 (Debian and Ubuntu: apt-get install qemu-user)")
command -v "$cc" >/dev/null ||
	missing+=("$cc (Debian and Ubuntu: apt-get install gcc-aarch64-linux-gnu)")
[ -e "$sysroot/lib/ld-linux-aarch64.so.1" ] ||
	missing+=("$sysroot/lib/ld-linux-aarch64.so.1 (Debian and Ubuntu: apt-get install libc6-arm64-cross)")
if [ ${#missing[@]} -gt 0 ]; then
	printf 'test-arm64: needs %s\n' "${missing[@]}" >&2
	exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cc" -O1 -shared -fPIC -o "$work/fixture.so" internal/dl/testdata/fixture.c
export GOOS=linux GOARCH=arm64 CGO_ENABLED=0
go test -c -o "$work/dl.test" ./internal/dl
go test -c -o "$work/fdpass.test" ./fdpass
export GPUSHARE_DL_FIXTURE=$work/fixture.so
(cd internal/dl && "$qemu" -L "$sysroot" "$work/dl.test" -test.short)
# A test that starts a second process would start it without the emulator.
(cd fdpass && "$qemu" -L "$sysroot" "$work/fdpass.test" -test.short -test.skip 'BetweenProcesses|BetweenSiblings')
