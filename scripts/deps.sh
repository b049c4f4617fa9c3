#!/bin/bash
# Installs what `make check` needs beyond Go, or says what to install.
#
#   scripts/deps.sh          as root: apt-get install what is missing; else: print the one line that does, and fail
#   scripts/deps.sh --print  only print that line (nothing when nothing is missing)
#
# Debian 12 or newer, or an Ubuntu of the same age. The kernel for the
# virtual-machine step is no package on this machine: scripts/vm-kernel.sh unpacks it.
set -euo pipefail

# What is looked for, a program or a file, any one of several | the package that has it | what it is for
needs() {
	local browser=chromium
	grep -qs '^ID=ubuntu' /etc/os-release && browser=chromium-browser
	cat <<-END
		gcc|gcc|the race detector, C baselines and the emulated driver
		/usr/include/stdlib.h|libc6-dev|headers for the same
		clang|clang|rebuilding the PTX of the GPU kernels
		xz|xz-utils|compressed kernel modules
		zstd|zstd|compressed kernel modules
		chromium chromium-browser|$browser|looking at the report in a real browser
		/usr/share/fonts/truetype/dejavu|fonts-dejavu-core|text in that browser
	END
	if [ "$(uname -m)" = x86_64 ]; then
		cat <<-'END'
			qemu-system-x86_64|qemu-system-x86|dma-buf tests on a real kernel
			qemu-aarch64|qemu-user|the arm64 assembly
			/usr/aarch64-linux-gnu/lib/libc.so.6|libc6-arm64-cross|the same
			aarch64-linux-gnu-gcc|gcc-aarch64-linux-gnu|the same
		END
	fi
}

if ! command -v go >/dev/null; then
	echo "Go is missing: install Go 1.26 or newer as https://go.dev/doc/install says" >&2
	exit 1
fi

missing=()
while IFS='|' read -r what package purpose; do
	for one in $what; do
		if [ -e "$one" ] || command -v "$one" >/dev/null; then
			continue 2
		fi
	done
	missing+=("$package")
	if [ "${1:-}" != --print ]; then
		echo "missing: $package ($purpose)"
	fi
done < <(needs)

if [ ${#missing[@]} -eq 0 ]; then
	[ "${1:-}" = --print ] || echo "nothing is missing"
	exit 0
fi

line="apt-get install -y --no-install-recommends ${missing[*]}"
if [ "${1:-}" = --print ]; then
	echo "$line"
	exit 0
fi
if ! command -v apt-get >/dev/null; then
	echo "this machine has no apt-get; install the equivalents of: ${missing[*]}" >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "install what is missing, then run 'make check' again:" >&2
	echo "  sudo apt-get update && sudo $line" >&2
	exit 1
fi

# Another apt-get may hold the lock for a while, for instance at boot.
apt="apt-get -o DPkg::Lock::Timeout=600 -q"
export DEBIAN_FRONTEND=noninteractive
$apt update </dev/null
echo "+ $line"
$apt install -y --no-install-recommends "${missing[@]}" </dev/null
