// Package cudatest is an emulated CUDA driver for tests: a C library with the
// part of libcuda.so.1 that gpushare-bench uses, over memory that processes
// really share, and descriptions of the machines that it can be.
//
// [Machine] builds the library, writes a machine's description and returns the
// environment in which a program finds both. Everything else happens in the
// program under test, in as many processes as it likes:
//
//	env := cudatest.Machine(t, "h200-580", cudatest.Faults("consumer:cuMemMap@3=CUDA_ERROR_OUT_OF_MEMORY"))
//	cmd.Env = append(os.Environ(), env.Entries()...)
//	...
//	env.CheckReport(t)
//
// A test that loads the library into its own process calls [Env.Setenv] first.
//
// # What is emulated
//
// Device memory is a memfd, mapped at its device address, so a device pointer is
// a host address and kernels run on the CPU: those of package kernels, as C
// functions, found by name. Streams have a thread each; events carry times of
// CLOCK_MONOTONIC. A shared handle is a descriptor of the memfd, or 64 bytes
// that lead to it through /proc, so all sharing works between any two processes
// of a user. Speeds mean nothing.
//
// The driver is stricter than a real one. It writes a report, which
// [Env.CheckReport] judges: what the API forbids although a real driver may let
// it pass (use after release, releasing twice, closing a descriptor that the
// driver owns, freeing memory that another process has mapped, unmapping under
// queued work), every call that was refused for its arguments, every object and
// descriptor left when the last context is released.
//
// # What is not
//
// A dma-buf of the emulated driver is a memfd: DMA_BUF_IOCTL_SYNC answers
// ENOTTY, which package host lets pass for descriptors of that name, /proc names it memfd, and where a machine does not let the CPU map it
// mmap answers EACCES instead of ENOTSUPP. cuMemMap takes no offset, as the
// manual says. Two dma-bufs of overlapping but different parts of one
// allocation are refused.
//
// # Machines
//
// machines/*.json describe them: devices, attributes, peers, the symbols that
// the driver lacks, and its answers by call and circumstance, for example
// "cuMemGetHandleForAddressRange/pinned". What is not listed succeeds, if the
// call is right. h200-580 is what a real H200 answered, and is at the same time
// the expectation for tests on a real one ([Load]).
//
// CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER work as in the real driver.
// GPUSHARE_ROLE (producer, consumer, peer1 …) selects fault rules and appears in the
// report. driver/faults.c documents the fault rules.
package cudatest
