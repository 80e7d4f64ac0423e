// Package arm64 writes arm64 assembly from kernels that are described with avo.
//
// A kernel for vectors of four values is a program of AVX2's instructions on XMM registers, of which it has 32, once avo has given its values
// registers. Lowering replaces every instruction by those of arm64 that compute the same bits: registers keep their numbers, an operand in memory is
// loaded to a register that holds no value there, constants stay in registers from the start of a function as far as any are left, and the
// address of a base and an index is computed once in a row of instructions. An instruction, an operand or a use of flags that lowering does not
// know is an error of the generator. Conversions to integers are the exception to the same bits: NaN and values out of range give what arm64 gives, so that kernels
// clamp before they convert.
//
// Masks are lanes of all ones or of zeros: VBLENDVPS and VMASKMOVPS read whole lanes.
package arm64
