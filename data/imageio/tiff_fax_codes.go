package imageio

import "strings"

// faxCode is what a code means.
type faxCode struct {
	kind   byte
	length byte
	value  int16
}

// Kinds of codes; 0 is none.
const (
	faxRun        = 1 + iota // a run of some pixels ends
	faxMore                  // it has some more
	faxEnd                   // of a row or of the image
	faxPass                  // a change in the row above does not count
	faxHorizontal            // two runs follow
	faxVertical              // a change is near one of the row above
	faxExtension             // rows are stored in another way, which libtiff does not read either
)

const faxWhiteBits, faxBlackBits, faxModeBits = 12, 13, 7

var (
	faxWhite [1 << faxWhiteBits]faxCode
	faxBlack [1 << faxBlackBits]faxCode
	faxModes [1 << faxModeBits]faxCode
)

// Codes of T.4: of runs of 0 to 63 pixels, of 64, 128 and so on up to 1728, and of 1792 and so on, which both colours share.
const (
	faxWhiteRuns = "00110101 000111 0111 1000 1011 1100 1110 1111 10011 10100 00111 01000 001000 000011 110100 110101 101010 101011 0100111 0001100 0001000 0010111 " +
		"0000011 0000100 0101000 0101011 0010011 0100100 0011000 00000010 00000011 00011010 00011011 00010010 00010011 00010100 00010101 00010110 00010111 00101000 " +
		"00101001 00101010 00101011 00101100 00101101 00000100 00000101 00001010 00001011 01010010 01010011 01010100 01010101 00100100 00100101 01011000 01011001 " +
		"01011010 01011011 01001010 01001011 00110010 00110011 00110100"
	faxWhiteMore = "11011 10010 010111 0110111 00110110 00110111 01100100 01100101 01101000 01100111 011001100 011001101 011010010 011010011 011010100 011010101 011010110 " +
		"011010111 011011000 011011001 011011010 011011011 010011000 010011001 010011010 011000 010011011"
	faxBlackRuns = "0000110111 010 11 10 011 0011 0010 00011 000101 000100 0000100 0000101 0000111 00000100 00000111 000011000 0000010111 0000011000 0000001000 00001100111 " +
		"00001101000 00001101100 00000110111 00000101000 00000010111 00000011000 000011001010 000011001011 000011001100 000011001101 000001101000 000001101001 " +
		"000001101010 000001101011 000011010010 000011010011 000011010100 000011010101 000011010110 000011010111 000001101100 000001101101 000011011010 000011011011 " +
		"000001010100 000001010101 000001010110 000001010111 000001100100 000001100101 000001010010 000001010011 000000100100 000000110111 000000111000 000000100111 " +
		"000000101000 000001011000 000001011001 000000101011 000000101100 000001011010 000001100110 000001100111"
	faxBlackMore = "0000001111 000011001000 000011001001 000001011011 000000110011 000000110100 000000110101 0000001101100 0000001101101 0000001001010 0000001001011 " +
		"0000001001100 0000001001101 0000001110010 0000001110011 0000001110100 0000001110101 0000001110110 0000001110111 0000001010010 0000001010011 0000001010100 " +
		"0000001010101 0000001011010 0000001011011 0000001100100 0000001100101"
	faxBothMore = "00000001000 00000001100 00000001101 000000010010 000000010011 000000010100 000000010101 000000010110 000000010111 000000011100 000000011101 000000011110 " +
		"000000011111"
)

func init() {
	enter := func(table []faxCode, bits int, codes string, kind byte, first, step int) {
		for i, code := range strings.Fields(codes) {
			v := 0
			for _, c := range code {
				v = v<<1 | int(c-'0')
			}
			spare := bits - len(code)
			for k := range 1 << spare {
				at := &table[v<<spare|k]
				if at.kind != 0 {
					panic("imageio: two fax codes begin alike")
				}
				*at = faxCode{kind, byte(len(code)), int16(first + i*step)}
			}
		}
	}
	for _, t := range []struct {
		table      []faxCode
		bits       int
		runs, more string
	}{{faxWhite[:], faxWhiteBits, faxWhiteRuns, faxWhiteMore}, {faxBlack[:], faxBlackBits, faxBlackRuns, faxBlackMore}} {
		enter(t.table, t.bits, t.runs, faxRun, 0, 1)
		enter(t.table, t.bits, t.more, faxMore, 64, 64)
		enter(t.table, t.bits, faxBothMore, faxMore, 1792, 64)
		enter(t.table, t.bits, "00000000000", faxEnd, 0, 0)
	}
	modes := faxModes[:]
	enter(modes, faxModeBits, "0000000", faxEnd, 0, 0)
	enter(modes, faxModeBits, "0000001", faxExtension, 0, 0)
	enter(modes, faxModeBits, "0001", faxPass, 0, 0)
	enter(modes, faxModeBits, "001", faxHorizontal, 0, 0)
	enter(modes, faxModeBits, "1 011 000011 0000011", faxVertical, 0, 1)
	enter(modes, faxModeBits, "010 000010 0000010", faxVertical, -1, -1)
}
