#!/bin/bash
# Unpacks a distribution kernel and its modules into a directory (default build/vm),
# for the tests that boot it in qemu. Nothing is installed on this machine and no
# root is needed: the package is only downloaded and taken apart.
#
#   scripts/vm-kernel.sh [DIR]
#
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

# The packages that the meta package stands for today, one a line:
# linux-image-6.1.0-57-amd64 on Debian; image, modules and extra modules on Ubuntu.
kernel_packages() {
	apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts \
		--no-breaks --no-replaces --no-enhances "$1" 2>/dev/null |
		grep -E '^linux-(image|modules)(-unsigned|-extra)?-[0-9]' | sort -u
}

packages=
for meta in linux-image-amd64 linux-image-generic; do
	packages=$(kernel_packages "$meta") && [ -n "$packages" ] && break
done
if [ -z "$packages" ]; then
	echo "apt knows neither linux-image-amd64 nor linux-image-generic: run 'apt-get update' as root first" >&2
	exit 1
fi

rm -rf "$dir/deb" "$dir/boot" "$dir/lib" "$dir/usr"
mkdir -p "$dir/deb"
echo "downloading" $packages
# apt cannot drop its rights in a directory of ours and says so: that is no fault.
(cd "$dir/deb" && apt-get -q download $packages 2> >(grep -v 'unsandboxed' >&2))
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
