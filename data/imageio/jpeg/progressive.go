package jpeg

import (
	"errors"
	bits64 "math/bits"
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
			m.set(values, k, int16(v<<s.low))
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
			m.set(values, k, int16(extend(b.take(size), size)<<s.low))
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

// set sets coefficient k. Damaged files have some behind the last one, which they overwrite.
func (m *mcu) set(values *[64]int16, k int, value int16) {
	values[natural[k]] = value
	if bit := uint64(1) << min(k, 63); value != 0 {
		*m.nonzero |= bit
	} else {
		*m.nonzero &^= bit
	}
}

// refineAC reads one more bit of the coefficients of a band that are not 0, and new ones.
func (m *mcu) refineAC(values *[64]int16, component int) {
	s, b, table := &m.d.scan, &m.bits, m.ac[component]
	if m.eobRun > 0 && *m.nonzero == 0 {
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
		if k = b.refine(values, *m.nonzero, k, s.last, run, bit); value != 0 {
			m.set(values, k, value)
		}
	}
	if m.eobRun > 0 {
		b.refine(values, *m.nonzero, k, s.last, 64, bit)
		m.eobRun--
	}
}

// refine reads the next bit of coefficients that are not 0, from place k on, and passes over some zeros. It returns the place of the next zero,
// or last+1.
func (b *bits) refine(values *[64]int16, nonzero uint64, k, last, zeros int, bit int16) int {
	for nonzero = nonzero >> k << k; ; nonzero &= nonzero - 1 {
		next := bits64.TrailingZeros64(nonzero) // 64 if there is none
		if k+zeros < min(next, last+1) {
			return k + zeros
		}
		if next > last {
			return last + 1
		}
		zeros, k = zeros-(next-k), next+1
		v := &values[natural[next]]
		if b.n == 0 {
			b.fill()
		}
		if int64(b.acc) < 0 && *v&bit == 0 {
			if *v > 0 {
				*v += bit
			} else {
				*v -= bit
			}
		}
		b.acc <<= 1
		b.n--
	}
}
