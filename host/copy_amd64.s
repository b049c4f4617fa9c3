#include "textflag.h"

// func cpuid(leaf, sub uint32) (a, b, c, d uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, a+8(FP)
	MOVL BX, b+12(FP)
	MOVL CX, c+16(FP)
	MOVL DX, d+20(FP)
	RET

// func xgetbv() (enabled uint32)
TEXT ·xgetbv(SB), NOSPLIT, $0-4
	XORL CX, CX
	XGETBV
	MOVL AX, enabled+0(FP)
	RET

// func readAVX(addr uintptr, bytes int64) uint64
//
// Loads bytes, a multiple of 256, and returns the exclusive or of their words.
TEXT ·readAVX(SB), NOSPLIT, $0-24
	MOVQ  addr+0(FP), SI
	MOVQ  bytes+8(FP), CX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7

loop:
	VPXOR 0(SI), Y0, Y0
	VPXOR 32(SI), Y1, Y1
	VPXOR 64(SI), Y2, Y2
	VPXOR 96(SI), Y3, Y3
	VPXOR 128(SI), Y4, Y4
	VPXOR 160(SI), Y5, Y5
	VPXOR 192(SI), Y6, Y6
	VPXOR 224(SI), Y7, Y7
	ADDQ  $256, SI
	SUBQ  $256, CX
	JNZ   loop

	VPXOR        Y1, Y0, Y0
	VPXOR        Y3, Y2, Y2
	VPXOR        Y5, Y4, Y4
	VPXOR        Y7, Y6, Y6
	VPXOR        Y2, Y0, Y0
	VPXOR        Y6, Y4, Y4
	VPXOR        Y4, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPXOR        X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPXOR        X1, X0, X0
	VMOVQ        X0, AX
	VZEROUPPER
	MOVQ         AX, ret+16(FP)
	RET

// func readSSE(addr uintptr, bytes int64) uint64
TEXT ·readSSE(SB), NOSPLIT, $0-24
	MOVQ addr+0(FP), SI
	MOVQ bytes+8(FP), CX
	PXOR X0, X0
	PXOR X1, X1
	PXOR X2, X2
	PXOR X3, X3

loop:
	MOVOU 0(SI), X4
	MOVOU 16(SI), X5
	MOVOU 32(SI), X6
	MOVOU 48(SI), X7
	PXOR  X4, X0
	PXOR  X5, X1
	PXOR  X6, X2
	PXOR  X7, X3
	ADDQ  $64, SI
	SUBQ  $64, CX
	JNZ   loop

	PXOR   X1, X0
	PXOR   X3, X2
	PXOR   X2, X0
	PSHUFD $0x4E, X0, X1
	PXOR   X1, X0
	MOVQ   X0, AX
	MOVQ   AX, ret+16(FP)
	RET

// func copyAVX(dst, src uintptr, bytes int64)
//
// Copies bytes, a multiple of 256, through the caches.
TEXT ·copyAVX(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ bytes+16(FP), CX

loop:
	VMOVDQU 0(SI), Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU 64(SI), Y2
	VMOVDQU 96(SI), Y3
	VMOVDQU 128(SI), Y4
	VMOVDQU 160(SI), Y5
	VMOVDQU 192(SI), Y6
	VMOVDQU 224(SI), Y7
	VMOVDQU Y0, 0(DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)
	VMOVDQU Y4, 128(DI)
	VMOVDQU Y5, 160(DI)
	VMOVDQU Y6, 192(DI)
	VMOVDQU Y7, 224(DI)
	ADDQ    $256, SI
	ADDQ    $256, DI
	SUBQ    $256, CX
	JNZ     loop
	VZEROUPPER
	RET

// func copySSE(dst, src uintptr, bytes int64)
TEXT ·copySSE(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ bytes+16(FP), CX

loop:
	MOVOU 0(SI), X0
	MOVOU 16(SI), X1
	MOVOU 32(SI), X2
	MOVOU 48(SI), X3
	MOVOU X0, 0(DI)
	MOVOU X1, 16(DI)
	MOVOU X2, 32(DI)
	MOVOU X3, 48(DI)
	ADDQ  $64, SI
	ADDQ  $64, DI
	SUBQ  $64, CX
	JNZ   loop
	RET

// func streamSSE(dst, src uintptr, bytes int64)
//
// Copies bytes, a multiple of 256, to dst, which is aligned to 16, past the caches: the lines of dst are not read first.
TEXT ·streamSSE(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ bytes+16(FP), CX

loop:
	MOVOU   0(SI), X0
	MOVOU   16(SI), X1
	MOVOU   32(SI), X2
	MOVOU   48(SI), X3
	MOVNTDQ X0, 0(DI)
	MOVNTDQ X1, 16(DI)
	MOVNTDQ X2, 32(DI)
	MOVNTDQ X3, 48(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $64, CX
	JNZ     loop
	SFENCE
	RET

// func streamAVX(dst, src uintptr, bytes int64)
//
// The same for a dst that is aligned to 32.
TEXT ·streamAVX(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ bytes+16(FP), CX

loop:
	VMOVDQU  0(SI), Y0
	VMOVDQU  32(SI), Y1
	VMOVDQU  64(SI), Y2
	VMOVDQU  96(SI), Y3
	VMOVDQU  128(SI), Y4
	VMOVDQU  160(SI), Y5
	VMOVDQU  192(SI), Y6
	VMOVDQU  224(SI), Y7
	VMOVNTDQ Y0, 0(DI)
	VMOVNTDQ Y1, 32(DI)
	VMOVNTDQ Y2, 64(DI)
	VMOVNTDQ Y3, 96(DI)
	VMOVNTDQ Y4, 128(DI)
	VMOVNTDQ Y5, 160(DI)
	VMOVNTDQ Y6, 192(DI)
	VMOVNTDQ Y7, 224(DI)
	ADDQ     $256, SI
	ADDQ     $256, DI
	SUBQ     $256, CX
	JNZ      loop
	SFENCE
	VZEROUPPER
	RET

// func storeSSE(dst uintptr, bytes int64, word uint64)
//
// Stores word over bytes, a multiple of 64, through the caches.
TEXT ·storeSSE(SB), NOSPLIT, $0-24
	MOVQ   dst+0(FP), DI
	MOVQ   bytes+8(FP), CX
	MOVQ   word+16(FP), AX
	MOVQ   AX, X0
	PSHUFD $0x44, X0, X0

loop:
	MOVOU X0, 0(DI)
	MOVOU X0, 16(DI)
	MOVOU X0, 32(DI)
	MOVOU X0, 48(DI)
	ADDQ  $64, DI
	SUBQ  $64, CX
	JNZ   loop
	RET

// func streamStore(dst uintptr, bytes int64, word uint64)
//
// The same past the caches, for a dst that is aligned to 16.
TEXT ·streamStore(SB), NOSPLIT, $0-24
	MOVQ   dst+0(FP), DI
	MOVQ   bytes+8(FP), CX
	MOVQ   word+16(FP), AX
	MOVQ   AX, X0
	PSHUFD $0x44, X0, X0

loop:
	MOVNTDQ X0, 0(DI)
	MOVNTDQ X0, 16(DI)
	MOVNTDQ X0, 32(DI)
	MOVNTDQ X0, 48(DI)
	ADDQ    $64, DI
	SUBQ    $64, CX
	JNZ     loop
	SFENCE
	RET

// func storeAVX(dst uintptr, bytes int64, word uint64)
//
// Stores word over bytes, a multiple of 256, through the caches.
TEXT ·storeAVX(SB), NOSPLIT, $0-24
	MOVQ         dst+0(FP), DI
	MOVQ         bytes+8(FP), CX
	VPBROADCASTQ word+16(FP), Y0

loop:
	VMOVDQU Y0, 0(DI)
	VMOVDQU Y0, 32(DI)
	VMOVDQU Y0, 64(DI)
	VMOVDQU Y0, 96(DI)
	VMOVDQU Y0, 128(DI)
	VMOVDQU Y0, 160(DI)
	VMOVDQU Y0, 192(DI)
	VMOVDQU Y0, 224(DI)
	ADDQ    $256, DI
	SUBQ    $256, CX
	JNZ     loop
	VZEROUPPER
	RET

// func flushOpt(addr uintptr, lines int64)
//
// Starts to write back and drop lines lines of 64 bytes from all caches; fence waits until they are gone.
TEXT ·flushOpt(SB), NOSPLIT, $0-16
	MOVQ addr+0(FP), SI
	MOVQ lines+8(FP), CX

loop:
	CLFLUSHOPT (SI)
	ADDQ       $64, SI
	DECQ       CX
	JNZ        loop
	RET

// func flushOld(addr uintptr, lines int64)
//
// The same for processors without clflushopt, one line after the other.
TEXT ·flushOld(SB), NOSPLIT, $0-16
	MOVQ addr+0(FP), SI
	MOVQ lines+8(FP), CX

loop:
	CLFLUSH (SI)
	ADDQ    $64, SI
	DECQ    CX
	JNZ     loop
	RET

// func fence()
TEXT ·fence(SB), NOSPLIT, $0-0
	MFENCE
	RET

// func chase(start uintptr, loads int64) uintptr
//
// Follows pointers, at least one: each load's address is the result of the one before.
TEXT ·chase(SB), NOSPLIT, $0-24
	MOVQ start+0(FP), AX
	MOVQ loads+8(FP), CX
	SUBQ $8, CX
	JLT  rest

eight:
	MOVQ (AX), AX
	MOVQ (AX), AX
	MOVQ (AX), AX
	MOVQ (AX), AX
	MOVQ (AX), AX
	MOVQ (AX), AX
	MOVQ (AX), AX
	MOVQ (AX), AX
	SUBQ $8, CX
	JGE  eight

rest:
	ADDQ $8, CX
	JZ   done

one:
	MOVQ (AX), AX
	DECQ CX
	JNZ  one

done:
	MOVQ AX, ret+16(FP)
	RET

GLOBL ·repeatCode(SB), NOPTR|RODATA, $8
DATA ·repeatCode(SB)/8, $repeat(SB)

// void repeat(void *copy(void *, const void *, size_t), void *dst, const void *src, size_t bytes, long times), System V
// AMD64 calling convention, on a C stack: calls copy(dst, src, bytes) times times, at least once.
//
// On entry SP is 8 modulo 16; five pushes make it 0 at each call.
TEXT repeat(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ BX
	PUSHQ R12
	PUSHQ R13
	PUSHQ R14
	PUSHQ R15
	MOVQ  DI, BX
	MOVQ  SI, R12
	MOVQ  DX, R13
	MOVQ  CX, R14
	MOVQ  R8, R15

again:
	MOVQ R12, DI
	MOVQ R13, SI
	MOVQ R14, DX
	CALL BX
	DECQ R15
	JNZ  again

	POPQ R15
	POPQ R14
	POPQ R13
	POPQ R12
	POPQ BX
	RET
