#include "textflag.h"
#include "go_asm.h"

GLOBL ·spreadCode(SB), NOPTR|RODATA, $8
DATA ·spreadCode(SB)/8, $spread(SB)

// long spread(spreadArgs *a), AAPCS64 calling convention, on a C stack.
//
// The stack arguments lie at SP, which stays a multiple of 16.
TEXT spread(SB), NOSPLIT|NOFRAME, $0-0
	SUB  $80, RSP
	STP  (R29, R30), 64(RSP)
	ADD  $64, RSP, R29
	MOVD spreadArgs_fn(R0), R9
	ADD  $spreadArgs_args, R0, R10

	LDP 64(R10), (R11, R12)
	STP (R11, R12), 0(RSP)
	LDP 80(R10), (R11, R12)
	STP (R11, R12), 16(RSP)
	LDP 96(R10), (R11, R12)
	STP (R11, R12), 32(RSP)
	LDP 112(R10), (R11, R12)
	STP (R11, R12), 48(RSP)

	LDP 0(R10), (R0, R1)
	LDP 16(R10), (R2, R3)
	LDP 32(R10), (R4, R5)
	LDP 48(R10), (R6, R7)
	CALL (R9)

	LDP 64(RSP), (R29, R30)
	ADD $80, RSP
	RET
