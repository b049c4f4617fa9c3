#include "textflag.h"
#include "go_asm.h"

GLOBL ·spreadCode(SB), NOPTR|RODATA, $8
DATA ·spreadCode(SB)/8, $spread(SB)

// long spread(spreadArgs *a), System V AMD64 calling convention, on a C stack.
//
// On entry SP is 8 modulo 16; BP and the eight stack arguments make it 0 at the
// call.
TEXT spread(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ BP
	ADJSP $64
	LEAQ  spreadArgs_args(DI), AX

	MOVOU 48(AX), X0
	MOVOU X0, 0(SP)
	MOVOU 64(AX), X0
	MOVOU X0, 16(SP)
	MOVOU 80(AX), X0
	MOVOU X0, 32(SP)
	MOVOU 96(AX), X0
	MOVOU X0, 48(SP)

	MOVQ spreadArgs_fn(DI), R10
	MOVQ 0(AX), DI
	MOVQ 8(AX), SI
	MOVQ 16(AX), DX
	MOVQ 24(AX), CX
	MOVQ 32(AX), R8
	MOVQ 40(AX), R9
	XORL AX, AX
	CALL R10

	ADJSP $-64
	POPQ  BP
	RET
