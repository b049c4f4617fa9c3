// Package vmtest runs a program on a distribution kernel inside qemu and hands
// back what it wrote, so that a test can use kernel objects that the machine it
// runs on need not have: [Run] boots a kernel that scripts/vm-kernel.sh has
// unpacked. There, with vgem loaded, /dev/dri/card0, /dev/udmabuf and
// /dev/dma_heap/system make real dma-bufs.
//
// The root file system is an initramfs made for each run. It holds the program
// with the shared libraries that it names, the kernel modules asked for with
// those they depend on, and package guest as process 1. Process 1 reads a [Plan],
// runs the program and sends its exit status, its output and the files it left
// as a tar stream through a virtio serial port; the kernel's console goes to a
// second place and is quoted when the virtual machine dies without an answer.
//
// The processor is emulated in software, always: a boot takes some ten seconds,
// and it works the same where there is no hardware virtualisation or, as inside
// some clouds' machines, only a part of it. Times measured in the virtual machine
// mean nothing.
//
// It is imported by tests only.
package vmtest
