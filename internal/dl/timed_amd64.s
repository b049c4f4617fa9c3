#include "textflag.h"
#include "go_asm.h"

#define CLOCK_MONOTONIC 1

GLOBL ·timedCode(SB), NOPTR|RODATA, $8
DATA ·timedCode(SB)/8, $timed(SB)

// void timed(Timed *t), System V AMD64 calling convention, on a C stack.
//
// BX is the callee's to preserve and so survives the calls below. On entry SP
// is 8 modulo 16; BX and the two stack arguments make it 0 at each call.
TEXT timed(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ BX
	ADJSP $16
	MOVQ  DI, BX

	MOVQ $CLOCK_MONOTONIC, DI
	LEAQ Timed_start(BX), SI
	MOVQ Timed_clock(BX), AX
	CALL AX

	MOVQ Timed_a6(BX), AX
	MOVQ AX, 0(SP)
	MOVQ Timed_a7(BX), AX
	MOVQ AX, 8(SP)
	MOVQ Timed_a0(BX), DI
	MOVQ Timed_a1(BX), SI
	MOVQ Timed_a2(BX), DX
	MOVQ Timed_a3(BX), CX
	MOVQ Timed_a4(BX), R8
	MOVQ Timed_a5(BX), R9
	MOVQ Timed_fn(BX), R10
	XORL AX, AX            // variadic callee: no vector registers used
	CALL R10
	MOVQ AX, Timed_result(BX)

	MOVQ $CLOCK_MONOTONIC, DI
	LEAQ Timed_end(BX), SI
	MOVQ Timed_clock(BX), AX
	CALL AX

	// A successful clock_gettime leaves errno alone, so it is still fn's.
	MOVQ Timed_errnoLocation(BX), AX
	CALL AX
	MOVL (AX), AX
	MOVL AX, Timed_errno(BX)

	ADJSP $-16
	POPQ BX
	RET

GLOBL ·emptyCode(SB), NOPTR|RODATA, $8
DATA ·emptyCode(SB)/8, $empty(SB)

// long empty(void): the function whose timed call is all overhead.
TEXT empty(SB), NOSPLIT|NOFRAME, $0-0
	XORL AX, AX
	RET
