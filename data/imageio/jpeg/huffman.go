package jpeg

import (
	"bytes"
	"errors"
	"fmt"
)

// codes are a table of Huffman codes, as a file has them.
type codes struct {
	counts  [16]byte // of codes of 1 to 16 bits
	symbols []byte
}

// huffman decodes the codes of a table. Most files have the same tables, so that a decoder takes over those of the last one (buffers).
type huffman struct {
	codes
	values bool // the values behind codes are decoded too
	ready  bool

	// short has an entry for all values of the next shortBits bits that begin with a whole code. Others are 0.
	short  [1 << shortBits]entry
	most   [18]int32 // the largest code of each length; -1: none
	offset [17]int32 // what to add to a code for the place of its symbol
}

// entry is what a few bits begin with. The lowest byte is a number of bits. If the upper 16 bits are not 0, they are the value of an AC coefficient, the
// second byte is the run of zeros before it, and the bits are those of both its code and its value. Else the second byte is a symbol, and the
// bits are those of its code.
type entry uint32

func (e entry) length() int { return int(e & 255) }
func (e entry) second() int { return int(e >> 8 & 255) }
func (e entry) value() int  { return int(int32(e) >> 16) }

const shortBits = 11

var errCodes = errors.New("a Huffman table is damaged: its codes do not fit into their lengths")

// prepare checks a table and makes what decodes its codes. DC tables have symbols up to 15. values says whether the values behind codes are decoded too.
func (h *huffman) prepare(of *codes, dc, values bool) error {
	if h.ready && h.values == values && h.counts == of.counts && bytes.Equal(h.symbols, of.symbols) {
		return nil
	}
	h.codes, h.values, h.ready = *of, values, false
	if dc {
		for _, s := range h.symbols {
			if s > 15 {
				return fmt.Errorf("a Huffman table for DC coefficients has the symbol %d; 15 is the largest", s)
			}
		}
	}
	h.short = [1 << shortBits]entry{}
	code, place := int32(0), 0
	for length := 1; length <= 16; length++ {
		h.most[length] = -1
		h.offset[length] = int32(place) - code
		for range h.counts[length-1] {
			if code >= 1<<length {
				return errCodes
			}
			h.enter(int(code), length, h.symbols[place], values)
			h.most[length] = code
			code++
			place++
		}
		code <<= 1
	}
	h.most[17] = 1 << 20 // ends the search for a code that does not exist
	h.ready = true
	return nil
}

// enter puts a code into the table of short codes.
func (h *huffman) enter(code, length int, symbol byte, values bool) {
	if length > shortBits {
		return
	}
	free := shortBits - length
	size := int(symbol & 15)
	for rest := range 1 << free {
		e := entry(symbol)<<8 | entry(length)
		if values && size > 0 && size <= free {
			e = entry(extend(int32(rest>>(free-size)), size))<<16 | entry(symbol>>4)<<8 | entry(length+size)
		}
		h.short[code<<free|rest] = e
	}
}

// extend turns n bits of a file into the value that they stand for (T.81, F.2.2.1).
func extend(v int32, n int) int32 {
	if v < 1<<n>>1 {
		return v - 1<<n + 1
	}
	return v
}

// symbol decodes a code of a table that is prepared without values. A code that the table lacks gives 0.
func (h *huffman) symbol(b *bits) int {
	if b.n < 32 {
		b.fill()
	}
	if e := h.short[b.acc>>(64-shortBits)]; e != 0 {
		b.drop(e.length())
		return e.second()
	}
	symbol, length := h.long(b)
	b.drop(length)
	return symbol
}

// long decodes a code that short lacks, without passing it.
func (h *huffman) long(b *bits) (symbol, length int) {
	acc := b.acc
	length = 1
	for ; int32(acc>>uint(64-length)) > h.most[length]; length++ {
	}
	if length > 16 {
		b.damaged = true
		return 0, length
	}
	return int(h.symbols[h.offset[length]+int32(acc>>uint(64-length))]), length
}

// usual returns the tables that T.81 gives as an example (K.3), which Motion JPEG takes for granted.
func usual(class, index int) *codes {
	type table struct {
		counts  [16]byte
		symbols string
	}
	t := [2][2]table{
		{{[16]byte{0, 1, 5, 1, 1, 1, 1, 1, 1}, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"},
			{[16]byte{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"}},
		{{[16]byte{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d}, "\x01\x02\x03\x00\x04\x11\x05\x12\x21\x31\x41\x06\x13\x51\x61\x07" +
			"\x22\x71\x14\x32\x81\x91\xa1\x08\x23\x42\xb1\xc1\x15\x52\xd1\xf0\x24\x33\x62\x72\x82\x09\x0a\x16\x17\x18\x19\x1a\x25\x26\x27\x28" +
			"\x29\x2a\x34\x35\x36\x37\x38\x39\x3a\x43\x44\x45\x46\x47\x48\x49\x4a\x53\x54\x55\x56\x57\x58\x59\x5a\x63\x64\x65\x66\x67\x68\x69" +
			"\x6a\x73\x74\x75\x76\x77\x78\x79\x7a\x83\x84\x85\x86\x87\x88\x89\x8a\x92\x93\x94\x95\x96\x97\x98\x99\x9a\xa2\xa3\xa4\xa5\xa6\xa7" +
			"\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xe1\xe2" +
			"\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa"},
			{[16]byte{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77}, "\x00\x01\x02\x03\x11\x04\x05\x21\x31\x06\x12\x41\x51\x07\x61\x71" +
				"\x13\x22\x32\x81\x08\x14\x42\x91\xa1\xb1\xc1\x09\x23\x33\x52\xf0\x15\x62\x72\xd1\x0a\x16\x24\x34\xe1\x25\xf1\x17\x18\x19\x1a\x26" +
				"\x27\x28\x29\x2a\x35\x36\x37\x38\x39\x3a\x43\x44\x45\x46\x47\x48\x49\x4a\x53\x54\x55\x56\x57\x58\x59\x5a\x63\x64\x65\x66\x67\x68" +
				"\x69\x6a\x73\x74\x75\x76\x77\x78\x79\x7a\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x92\x93\x94\x95\x96\x97\x98\x99\x9a\xa2\xa3\xa4\xa5" +
				"\xa6\xa7\xa8\xa9\xaa\xb2\xb3\xb4\xb5\xb6\xb7\xb8\xb9\xba\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc9\xca\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda" +
				"\xe2\xe3\xe4\xe5\xe6\xe7\xe8\xe9\xea\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa"}},
	}
	if index > 1 {
		return nil
	}
	return &codes{counts: t[class][index].counts, symbols: []byte(t[class][index].symbols)}
}

// table returns a Huffman table, prepared.
func (d *Decoder) table(class, index int, values bool) (*huffman, error) {
	var of *codes
	if index < 4 {
		if of = d.huff[class][index]; of == nil && !d.progressive {
			of = usual(class, index)
			d.huff[class][index] = of
		}
	}
	if of == nil {
		return nil, fmt.Errorf("a scan uses Huffman table %d of class %d, which the file lacks", index, class)
	}
	h := &d.buffers.tables[class][index]
	return h, h.prepare(of, class == 0, values)
}
