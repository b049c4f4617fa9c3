#include "textflag.h"

// func readNEON(addr uintptr, bytes int64) uint64
//
// Loads bytes, a multiple of 256, and returns the exclusive or of their words.
TEXT ·readNEON(SB), NOSPLIT, $0-24
	MOVD addr+0(FP), R0
	MOVD bytes+8(FP), R1
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16

loop:
	FLDPQ 0(R0), (F16, F17)
	FLDPQ 32(R0), (F18, F19)
	FLDPQ 64(R0), (F20, F21)
	FLDPQ 96(R0), (F22, F23)
	VEOR  V16.B16, V0.B16, V0.B16
	VEOR  V17.B16, V1.B16, V1.B16
	VEOR  V18.B16, V2.B16, V2.B16
	VEOR  V19.B16, V3.B16, V3.B16
	VEOR  V20.B16, V4.B16, V4.B16
	VEOR  V21.B16, V5.B16, V5.B16
	VEOR  V22.B16, V6.B16, V6.B16
	VEOR  V23.B16, V7.B16, V7.B16
	FLDPQ 128(R0), (F16, F17)
	FLDPQ 160(R0), (F18, F19)
	FLDPQ 192(R0), (F20, F21)
	FLDPQ 224(R0), (F22, F23)
	VEOR  V16.B16, V0.B16, V0.B16
	VEOR  V17.B16, V1.B16, V1.B16
	VEOR  V18.B16, V2.B16, V2.B16
	VEOR  V19.B16, V3.B16, V3.B16
	VEOR  V20.B16, V4.B16, V4.B16
	VEOR  V21.B16, V5.B16, V5.B16
	VEOR  V22.B16, V6.B16, V6.B16
	VEOR  V23.B16, V7.B16, V7.B16
	ADD   $256, R0
	SUBS  $256, R1
	BNE   loop

	VEOR V1.B16, V0.B16, V0.B16
	VEOR V3.B16, V2.B16, V2.B16
	VEOR V5.B16, V4.B16, V4.B16
	VEOR V7.B16, V6.B16, V6.B16
	VEOR V2.B16, V0.B16, V0.B16
	VEOR V6.B16, V4.B16, V4.B16
	VEOR V4.B16, V0.B16, V0.B16
	VMOV V0.D[0], R0
	VMOV V0.D[1], R1
	EOR  R1, R0
	MOVD R0, ret+16(FP)
	RET

// func copyNEON(dst, src uintptr, bytes int64)
//
// Copies bytes, a multiple of 128, through the caches.
TEXT ·copyNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD bytes+16(FP), R2

loop:
	FLDPQ 0(R1), (F0, F1)
	FLDPQ 32(R1), (F2, F3)
	FLDPQ 64(R1), (F4, F5)
	FLDPQ 96(R1), (F6, F7)
	FSTPQ (F0, F1), 0(R0)
	FSTPQ (F2, F3), 32(R0)
	FSTPQ (F4, F5), 64(R0)
	FSTPQ (F6, F7), 96(R0)
	ADD   $128, R0
	ADD   $128, R1
	SUBS  $128, R2
	BNE   loop
	RET

// func streamNEON(dst, src uintptr, bytes int64)
//
// The same with stores that hint that the lines will not be used again: stnp q0, q1, [x0] and so on, which the assembler
// has no name for.
TEXT ·streamNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD src+8(FP), R1
	MOVD bytes+16(FP), R2

loop:
	FLDPQ 0(R1), (F0, F1)
	FLDPQ 32(R1), (F2, F3)
	FLDPQ 64(R1), (F4, F5)
	FLDPQ 96(R1), (F6, F7)
	WORD  $0xAC000400       // stnp q0, q1, [x0]
	WORD  $0xAC010C02       // stnp q2, q3, [x0, #32]
	WORD  $0xAC021404       // stnp q4, q5, [x0, #64]
	WORD  $0xAC031C06       // stnp q6, q7, [x0, #96]
	ADD   $128, R0
	ADD   $128, R1
	SUBS  $128, R2
	BNE   loop
	DMB   $10               // ishst
	RET

// func storeNEON(dst uintptr, bytes int64, word uint64)
//
// Stores word over bytes, a multiple of 128, through the caches.
TEXT ·storeNEON(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD bytes+8(FP), R2
	MOVD word+16(FP), R3
	VDUP R3, V0.D2
	VDUP R3, V1.D2

loop:
	FSTPQ (F0, F1), 0(R0)
	FSTPQ (F0, F1), 32(R0)
	FSTPQ (F0, F1), 64(R0)
	FSTPQ (F0, F1), 96(R0)
	ADD   $128, R0
	SUBS  $128, R2
	BNE   loop
	RET

// func streamStore(dst uintptr, bytes int64, word uint64)
//
// The same with stnp.
TEXT ·streamStore(SB), NOSPLIT, $0-24
	MOVD dst+0(FP), R0
	MOVD bytes+8(FP), R2
	MOVD word+16(FP), R3
	VDUP R3, V0.D2
	VDUP R3, V1.D2

loop:
	WORD $0xAC000400        // stnp q0, q1, [x0]
	WORD $0xAC010400        // stnp q0, q1, [x0, #32]
	WORD $0xAC020400        // stnp q0, q1, [x0, #64]
	WORD $0xAC030400        // stnp q0, q1, [x0, #96]
	ADD  $128, R0
	SUBS $128, R2
	BNE  loop
	DMB  $10                // ishst
	RET

// func cacheType() uint64
//
// CTR_EL0, which Linux lets programs read.
TEXT ·cacheType(SB), NOSPLIT, $0-8
	MRS  CTR_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func flush(addr uintptr, lines, line int64)
//
// Starts to write back and drop lines lines of line bytes from all caches to the point of coherency; fence waits until they
// are gone.
TEXT ·flush(SB), NOSPLIT, $0-24
	MOVD addr+0(FP), R0
	MOVD lines+8(FP), R1
	MOVD line+16(FP), R2

loop:
	DC   CIVAC, R0
	ADD  R2, R0
	SUBS $1, R1
	BNE  loop
	RET

// func fence()
TEXT ·fence(SB), NOSPLIT, $0-0
	DSB $11 // ish
	RET

// func chase(start uintptr, loads int64) uintptr
//
// Follows pointers, at least one: each load's address is the result of the one before.
TEXT ·chase(SB), NOSPLIT, $0-24
	MOVD start+0(FP), R0
	MOVD loads+8(FP), R1
	SUBS $8, R1
	BLT  rest

eight:
	MOVD (R0), R0
	MOVD (R0), R0
	MOVD (R0), R0
	MOVD (R0), R0
	MOVD (R0), R0
	MOVD (R0), R0
	MOVD (R0), R0
	MOVD (R0), R0
	SUBS $8, R1
	BGE  eight

rest:
	ADDS $8, R1
	BEQ  done

one:
	MOVD (R0), R0
	SUBS $1, R1
	BNE  one

done:
	MOVD R0, ret+16(FP)
	RET

GLOBL ·repeatCode(SB), NOPTR|RODATA, $8
DATA ·repeatCode(SB)/8, $repeat(SB)

// void repeat(void *copy(void *, const void *, size_t), void *dst, const void *src, size_t bytes, long times), AAPCS64
// calling convention, on a C stack: calls copy(dst, src, bytes) times times, at least once.
TEXT repeat(SB), NOSPLIT|NOFRAME, $0-0
	SUB  $64, RSP
	STP  (R29, R30), 0(RSP)
	STP  (R19, R20), 16(RSP)
	STP  (R21, R22), 32(RSP)
	MOVD R23, 48(RSP)
	MOVD RSP, R29
	MOVD R0, R19
	MOVD R1, R20
	MOVD R2, R21
	MOVD R3, R22
	MOVD R4, R23

again:
	MOVD R20, R0
	MOVD R21, R1
	MOVD R22, R2
	CALL (R19)
	SUBS $1, R23
	BNE  again

	MOVD 48(RSP), R23
	LDP  32(RSP), (R21, R22)
	LDP  16(RSP), (R19, R20)
	LDP  0(RSP), (R29, R30)
	ADD  $64, RSP
	RET
