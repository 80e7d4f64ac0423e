package jpeg

import (
	"errors"
	"unsafe"
)

// errProgression refuses a scan that no progressive JPEG can have.
var errProgression = errors.New("the header of a progressive scan names coefficients or bits that it cannot have")

// checkProgression checks a scan of a progressive JPEG, and notes which bits of its coefficients are still unknown behind it.
func (d *Decoder) checkProgression() error {
	s := &d.scan
	switch {
	case s.first == 0 && s.last != 0,
		s.first > 0 && (s.last < s.first || s.last > 63 || len(s.of) != 1),
		s.high != 0 && s.low != s.high-1,
		s.low > 13:
		return errProgression
	}
	for _, c := range s.of {
		if s.first > 0 && c.bits[0] < 0 {
			d.warn("a progressive scan comes in the wrong order")
		}
		for k := s.first; k <= s.last; k++ {
			if int(max(c.bits[k], 0)) != s.high {
				d.warn("a progressive scan comes in the wrong order")
			}
			c.bits[k] = int8(s.low)
		}
	}
	return nil
}

// beginProgressive prepares for a scan that has some coefficients, or bits of them.
func (m *mcu) beginProgressive() error {
	d, s := m.d, &m.d.scan
	if err := d.checkProgression(); err != nil {
		return err
	}
	switch {
	case d.arithmetic && s.high == 0:
		m.read = (*mcu).arithmeticBlock
	case d.arithmetic:
		m.read = (*mcu).arithmeticRefinement
	case s.first == 0 && s.high == 0:
		m.read = (*mcu).firstDC
	case s.first == 0:
		m.read = (*mcu).refineDC
	case s.high == 0:
		m.read = (*mcu).firstAC
	default:
		m.read = (*mcu).refineAC
	}
	if d.arithmetic {
		return nil
	}
	for i, c := range s.of {
		var err error
		switch {
		case s.first > 0:
			m.ac[i], err = d.table(1, c.ac, s.high == 0)
		case s.high == 0:
			m.dc[i], err = d.table(0, c.dc, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// firstDC reads the upper bits of a DC coefficient.
func (m *mcu) firstDC(values *[64]int16, component int) {
	if n := m.dc[component].symbol(&m.bits); n > 0 {
		m.pred[component] += extend(m.bits.take(n), n)
	}
	values[0] = int16(m.pred[component] << m.d.scan.low)
}

// refineDC reads one more bit of a DC coefficient.
func (m *mcu) refineDC(values *[64]int16, _ int) {
	if m.bits.take(1) != 0 {
		values[0] |= 1 << m.d.scan.low
	}
}

// firstAC reads the upper bits of a band of AC coefficients.
func (m *mcu) firstAC(values *[64]int16, component int) {
	if m.eobRun > 0 {
		m.eobRun--
		return
	}
	s, b, table := &m.d.scan, &m.bits, m.ac[component]
	for k := s.first; k <= s.last; k++ {
		if b.n < 32 {
			b.fill()
		}
		e := table.short[b.acc>>(64-shortBits)]
		if v := e.value(); v != 0 {
			b.drop(e.length())
			k += e.second()
			values[natural[k]] = int16(v << s.low)
			continue
		}
		symbol, length := e.second(), e.length()
		if e == 0 {
			symbol, length = table.long(b)
		}
		b.drop(length)
		run, size := symbol>>4, symbol&15
		switch {
		case size > 0:
			k += run
			values[natural[k]] = int16(extend(b.take(size), size) << s.low)
		case run == 15:
			k += 15
		default:
			m.eobRun = 1<<run - 1
			if run > 0 {
				m.eobRun += int(b.take(run))
			}
			return
		}
	}
}

// refineAC reads one more bit of the coefficients of a band that are not 0, and new ones.
func (m *mcu) refineAC(values *[64]int16, component int) {
	s, b, table := &m.d.scan, &m.bits, m.ac[component]
	if m.eobRun > 0 && !anyAC(values) {
		m.eobRun--
		return
	}
	bit := int16(1) << s.low
	k := s.first
	for ; m.eobRun == 0 && k <= s.last; k++ {
		symbol := table.symbol(b)
		run, size := symbol>>4, symbol&15
		value := int16(0)
		switch {
		case size > 0:
			if size != 1 {
				b.damaged = true
			}
			if value = -bit; b.take(1) != 0 {
				value = bit
			}
		case run < 15:
			m.eobRun = 1 << run
			if run > 0 {
				m.eobRun += int(b.take(run))
			}
		}
		if m.eobRun > 0 {
			break
		}
		// The new coefficient comes behind run zeros. Coefficients that are not 0 get their bit on the way.
		if k = b.refine(values, k, s.last, run, bit); value != 0 {
			values[natural[k]] = value
		}
	}
	if m.eobRun > 0 {
		b.refine(values, k, s.last, 64, bit)
		m.eobRun--
	}
}

// refine reads the next bit of coefficients that are not 0, from place k on, and passes over some zeros. It returns the place of the next zero,
// or last+1.
func (b *bits) refine(values *[64]int16, k, last, zeros int, bit int16) int {
	acc, n := b.acc, b.n
	for ; k <= last; k++ {
		v := &values[natural[k]]
		if *v == 0 {
			if zeros == 0 {
				break
			}
			zeros--
			continue
		}
		if n == 0 {
			b.acc, b.n = acc, n
			b.fill()
			acc, n = b.acc, b.n
		}
		if int64(acc) < 0 && *v&bit == 0 {
			if *v > 0 {
				*v += bit
			} else {
				*v -= bit
			}
		}
		acc <<= 1
		n--
	}
	b.acc, b.n = acc, n
	return k
}

// anyAC reports whether a block has AC coefficients that are not 0.
func anyAC(values *[64]int16) bool {
	any := uint64(uint16(values[1] | values[2] | values[3]))
	for _, four := range (*[16]uint64)(unsafe.Pointer(values))[1:] { // blocks begin at multiples of 128 bytes of an array
		any |= four
	}
	return any != 0
}
