#include "textflag.h"
#include "go_asm.h"

#define CLOCK_MONOTONIC 1

GLOBL ·timedCode(SB), NOPTR|RODATA, $8
DATA ·timedCode(SB)/8, $timed(SB)

// void timed(Timed *t), AAPCS64 calling convention, on a C stack.
//
// R19 is the callee's to preserve and so survives the calls below. SP stays a
// multiple of 16. On Linux variadic callees take their arguments in the same
// registers as others.
TEXT timed(SB), NOSPLIT|NOFRAME, $0-0
	SUB  $32, RSP
	STP  (R29, R30), 0(RSP)
	MOVD R19, 16(RSP)
	MOVD RSP, R29
	MOVD R0, R19

	MOVD $CLOCK_MONOTONIC, R0
	ADD  $Timed_start, R19, R1
	MOVD Timed_clock(R19), R9
	CALL (R9)

	MOVD Timed_a0(R19), R0
	MOVD Timed_a1(R19), R1
	MOVD Timed_a2(R19), R2
	MOVD Timed_a3(R19), R3
	MOVD Timed_a4(R19), R4
	MOVD Timed_a5(R19), R5
	MOVD Timed_a6(R19), R6
	MOVD Timed_a7(R19), R7
	MOVD Timed_fn(R19), R9
	CALL (R9)
	MOVD R0, Timed_result(R19)

	MOVD $CLOCK_MONOTONIC, R0
	ADD  $Timed_end, R19, R1
	MOVD Timed_clock(R19), R9
	CALL (R9)

	// A successful clock_gettime leaves errno alone, so it is still fn's.
	MOVD Timed_errnoLocation(R19), R9
	CALL (R9)
	MOVW (R0), R0
	MOVW R0, Timed_errno(R19)

	MOVD 16(RSP), R19
	LDP  0(RSP), (R29, R30)
	ADD  $32, RSP
	RET

GLOBL ·emptyCode(SB), NOPTR|RODATA, $8
DATA ·emptyCode(SB)/8, $empty(SB)

// long empty(void): the function whose timed call is all overhead.
TEXT empty(SB), NOSPLIT|NOFRAME, $0-0
	MOVD $0, R0
	RET
