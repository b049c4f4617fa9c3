// Functions with which the tests of package dl see what a call really passes.

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>

// digits8 is unequal for every order of its arguments.
uint64_t digits8(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                 uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	return ((((((a * 10 + b) * 10 + c) * 10 + d) * 10 + e) * 10 + f) * 10 + g) * 10 + h;
}

uint64_t digits11(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                  uint64_t g, uint64_t h, uint64_t i, uint64_t j, uint64_t k)
{
	return ((digits8(a, b, c, d, e, f, g, h) * 11 + i) * 11 + j) * 11 + k;
}

// sum is variadic, as ioctl and syscall are.
uint64_t sum(int n, ...)
{
	va_list ap;
	uint64_t s = 0;
	va_start(ap, n);
	while (n-- > 0)
		s += va_arg(ap, uint64_t);
	va_end(ap);
	return s;
}

// misalignment is 0 when the caller kept the stack aligned as the calling
// convention demands: a 16-byte aligned local then costs the compiler nothing.
uint64_t misalignment(void)
{
	return (uintptr_t)__builtin_frame_address(0) & 15;
}

int fail(int number)
{
	errno = number;
	return -1;
}

// scratch overwrites every register that the convention gives to the callee.
uint64_t scratch(void)
{
#if defined(__x86_64__)
	__asm__ volatile(
		"xor %%eax,%%eax; mov $-1,%%rcx; mov %%rcx,%%rdx; mov %%rcx,%%rsi; mov %%rcx,%%rdi;"
		"mov %%rcx,%%r8; mov %%rcx,%%r9; mov %%rcx,%%r10; mov %%rcx,%%r11; pcmpeqd %%xmm15,%%xmm15"
		::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm15");
#elif defined(__aarch64__)
	__asm__ volatile(
		"mov x1,#-1; mov x2,x1; mov x3,x1; mov x4,x1; mov x5,x1; mov x6,x1; mov x7,x1; mov x8,x1;"
		"mov x9,x1; mov x10,x1; mov x11,x1; mov x12,x1; mov x13,x1; mov x14,x1; mov x15,x1; mov x16,x1; mov x17,x1"
		::: "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17");
#endif
	return 42;
}

// keeps calls code(arg) and returns a bit for each register that the convention
// gives to the caller but that code did not bring back.
uint64_t keeps(void (*code)(void *), void *arg)
{
	uint64_t lost = 0;
#if defined(__x86_64__)
	__asm__ volatile(
		"push %%rbp; sub $8,%%rsp;"
		"mov $0x1111,%%rbx; mov $0x2222,%%r12; mov $0x3333,%%r13; mov $0x4444,%%r14; mov $0x5555,%%r15; mov $0x6666,%%rbp;"
		"call *%[code];"
		"xor %%eax,%%eax;"
		"cmp $0x1111,%%rbx; je 1f; or $1,%%eax; 1:"
		"cmp $0x2222,%%r12; je 2f; or $2,%%eax; 2:"
		"cmp $0x3333,%%r13; je 3f; or $4,%%eax; 3:"
		"cmp $0x4444,%%r14; je 4f; or $8,%%eax; 4:"
		"cmp $0x5555,%%r15; je 5f; or $16,%%eax; 5:"
		"cmp $0x6666,%%rbp; je 6f; or $32,%%eax; 6:"
		"add $8,%%rsp; pop %%rbp"
		: "=&a"(lost), "+D"(arg)
		: [code] "S"(code)
		: "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
#elif defined(__aarch64__)
	register void *x0 __asm__("x0") = arg;
	register uint64_t x9 __asm__("x9") = (uint64_t)code;
	__asm__ volatile(
		"stp x29,x30,[sp,#-16]!;"
		"mov x19,#0x1119; mov x20,#0x1120; mov x21,#0x1121; mov x22,#0x1122; mov x23,#0x1123; mov x24,#0x1124;"
		"mov x25,#0x1125; mov x26,#0x1126; mov x27,#0x1127; mov x28,#0x1128; mov x29,sp;"
		"blr x9; mov x0,#0;"
		"mov x9,#0x1119; cmp x19,x9; b.eq 1f; orr x0,x0,#1; 1:"
		"mov x9,#0x1120; cmp x20,x9; b.eq 2f; orr x0,x0,#2; 2:"
		"mov x9,#0x1121; cmp x21,x9; b.eq 3f; orr x0,x0,#4; 3:"
		"mov x9,#0x1122; cmp x22,x9; b.eq 4f; orr x0,x0,#8; 4:"
		"mov x9,#0x1123; cmp x23,x9; b.eq 5f; orr x0,x0,#16; 5:"
		"mov x9,#0x1124; cmp x24,x9; b.eq 6f; orr x0,x0,#32; 6:"
		"mov x9,#0x1125; cmp x25,x9; b.eq 7f; orr x0,x0,#64; 7:"
		"mov x9,#0x1126; cmp x26,x9; b.eq 8f; orr x0,x0,#128; 8:"
		"mov x9,#0x1127; cmp x27,x9; b.eq 9f; orr x0,x0,#256; 9:"
		"mov x9,#0x1128; cmp x28,x9; b.eq 10f; orr x0,x0,#512; 10:"
		"mov x9,sp; cmp x29,x9; b.eq 11f; orr x0,x0,#1024; 11:"
		"ldp x29,x30,[sp],#16"
		: "+r"(x0), "+r"(x9)
		:
		: "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
		  "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "memory", "cc");
	lost = (uint64_t)x0;
#endif
	return lost;
}
