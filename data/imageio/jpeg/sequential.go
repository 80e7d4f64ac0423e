package jpeg

import "encoding/binary"

// beginSequential prepares for a scan that has all coefficients of its blocks.
func (m *mcu) beginSequential() error {
	d, s := m.d, &m.d.scan
	if s.first != 0 || s.last != 63 || s.high != 0 || s.low != 0 {
		d.warn("a scan's header is not that of a sequential JPEG")
		s.first, s.last, s.high, s.low = 0, 63, 0, 0
	}
	if d.arithmetic {
		m.read = (*mcu).arithmeticBlock
		return nil
	}
	m.read = (*mcu).sequentialBlock
	for i, c := range s.of {
		var err error
		if m.dc[i], err = d.table(0, c.dc, false); err != nil {
			return err
		}
		if m.ac[i], err = d.table(1, c.ac, true); err != nil {
			return err
		}
	}
	return nil
}

// sequentialBlock reads the coefficients of a block, which are 0 before.
func (m *mcu) sequentialBlock(values *[64]int16, component int) {
	b := &m.bits
	if n := m.dc[component].symbol(b); n > 0 {
		m.pred[component] += extend(b.take(n), n)
	}
	values[0] = int16(m.pred[component])
	ac := m.ac[component]
	acc, n := b.acc, b.n
	for k := 1; k < 64; k++ {
		if n < 32 { // a code has up to 16 bits, 17 if it is damaged, and a value 15
			if at := b.pos; b.marker == 0 && at+8 <= len(b.file) && plain(binary.BigEndian.Uint64(b.file[at:])) {
				acc |= binary.BigEndian.Uint64(b.file[at:]) >> (uint(n) & 63)
				b.pos = at + (63-n)>>3
				n |= 56
			} else {
				b.acc, b.n = acc, n
				b.fillSlowly()
				acc, n = b.acc, b.n
			}
		}
		e := ac.short[acc>>(64-shortBits)]
		if v := e.value(); v != 0 {
			acc <<= uint(e) & 63
			n -= e.length()
			k += e.second()
			values[natural[k]] = int16(v)
			continue
		}
		symbol, length := e.second(), e.length()
		if e == 0 {
			b.acc = acc
			symbol, length = ac.long(b)
		}
		acc <<= uint(length) & 63
		n -= length
		size := symbol & 15
		if size == 0 {
			if symbol < 0xf0 {
				break
			}
			k += 15
			continue
		}
		k += symbol >> 4
		values[natural[k]] = int16(extend(int32(acc>>(uint(64-size)&63)), size))
		acc <<= uint(size)
		n -= size
	}
	b.acc, b.n = acc, n
}
