#!/bin/bash
# Unpacks a distribution kernel and its modules into a directory (default build/vm),
# for the tests that boot it in qemu. Nothing is installed on this machine and no
# root is needed: the package is only downloaded and taken apart.
#
#   scripts/vm-kernel.sh [DIR]
#
# GPUSHARE_VM_PACKAGE names another kernel package than the newest.
# Afterwards DIR/boot has one vmlinuz-VERSION and DIR/lib/modules has VERSION.
set -euo pipefail

dir=${1:-build/vm}
arch=$(dpkg --print-architecture)
if [ "$arch" != amd64 ]; then
	echo "the virtual machine is x86-64 and this machine is $arch: no kernel fetched" >&2
	exit 1
fi
if [ -e "$dir/complete" ]; then
	echo "kernel $(cat "$dir/complete") is already in $dir"
	exit 0
fi

# newest prints the newest kernel package that apt knows: on Debian 12
# linux-image-6.12.115+deb12-amd64, on Ubuntu linux-image-6.8.0-60-generic. Newest
# because Debian's kernels have udmabuf and dma-heap only since 6.12.
newest() {
	# madison drops names that only other packages mention.
	apt-cache pkgnames linux-image- |
		{ grep -E '^linux-image-[0-9][0-9.]*[0-9](-[0-9]+)?(\+[a-z0-9]+)?-(amd64|generic)$' || true; } |
		xargs -r apt-cache madison | awk '{ print $1 }' | sort -uV | tail -n 1
}

# modules prints the packages that hold the modules of image $1 where the image does not (Ubuntu).
modules() {
	apt-cache madison "${1/image/modules}" "${1/image/modules-extra}" | awk '{ print $1 }' | sort -u
}

# download fetches the packages into $dir/deb.
download() {
	image=${GPUSHARE_VM_PACKAGE:-$(newest)}
	if [ -z "$image" ]; then
		echo "apt knows no kernel package" >&2
		return 1
	fi
	packages="$image $(modules "$image")"
	echo downloading $packages
	# apt cannot drop its rights in a directory of ours and says so: that is no fault.
	(cd "$dir/deb" && apt-get -q download $packages 2> >(grep -v unsandboxed >&2))
}

rm -rf "$dir/deb" "$dir/boot" "$dir/lib" "$dir/usr"
mkdir -p "$dir/deb"
if ! download; then
	# The package lists are absent or stale.
	if [ "$(id -u)" -ne 0 ]; then
		echo "run 'sudo apt-get update', then this again" >&2
		exit 1
	fi
	apt-get -q -o DPkg::Lock::Timeout=600 update </dev/null
	download
fi
for deb in "$dir"/deb/*.deb; do
	# Network, sound and file systems are most of the modules, and no test loads them.
	dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir" \
		--exclude='*/kernel/net' --exclude='*/kernel/drivers/net' --exclude='*/kernel/sound' \
		--exclude='*/kernel/fs' --exclude='./usr/share' --exclude='./boot/System.map*'
done
# Debian 13 and Ubuntu keep modules under usr/lib.
if [ -d "$dir/usr/lib/modules" ]; then
	mkdir -p "$dir/lib"
	mv "$dir/usr/lib/modules" "$dir/lib/modules"
fi
rm -rf "$dir/deb" "$dir/usr"
version=$(cd "$dir/lib/modules" && ls | head -n 1)
if [ -z "$version" ] || [ ! -e "$dir/boot/vmlinuz-$version" ]; then
	echo "no kernel image with modules came out of: $packages" >&2
	exit 1
fi
echo "$version" >"$dir/complete"
echo "kernel $version is in $dir"
