package jpeg

import "fmt"

// conditioning are the parameters of arithmetic coding that a DAC segment sets (T.81, F.1.4.4).
type conditioning struct {
	lower, upper [16]byte // by DC table: the differences that count as small
	most         [16]byte // by AC table: the last coefficient that counts as one of low frequency
}

func (c *conditioning) reset() {
	for i := range 16 {
		c.lower[i], c.upper[i], c.most[i] = 0, 1, 5
	}
}

// read reads a DAC segment.
func (c *conditioning) read(body []byte) error {
	if len(body)%2 != 0 {
		return wrongLength(markerDAC, body)
	}
	for ; len(body) > 0; body = body[2:] {
		switch table, value := body[0], body[1]; {
		case table >= 32:
			return fmt.Errorf("a DAC segment has the table %d; 31 is the largest", table)
		case table >= 16:
			c.most[table-16] = value
		case value&15 > value>>4:
			return fmt.Errorf("a DAC segment has the bounds %d and %d", value&15, value>>4)
		default:
			c.lower[table], c.upper[table] = value&15, value>>4
		}
	}
	return nil
}

// arithmetic decodes the binary decisions of a scan (T.81, D.2).
type arithmetic struct {
	bits     *bits // for the bytes alone
	interval uint32
	code     uint32
	spare    int // bits of code below the interval

	dc      [16][64]byte // by table: the state of each statistic, and above it the more probable value
	ac      [16][256]byte
	even    byte   // a statistic that never adapts
	context [4]int // by component of the scan: the place of the statistics that the last difference chooses
}

// restart begins with the next bytes. Nothing has been learnt.
func (a *arithmetic) restart() {
	*a = arithmetic{bits: a.bits, even: evenState}
	a.code = a.byte()<<8 | a.byte()
	a.interval = 1 << 16
}

// byte returns the next byte of data, 0 behind its end.
func (a *arithmetic) byte() uint32 {
	v, ok := a.bits.next()
	if !ok {
		return 0
	}
	return uint32(v)
}

// bit decodes a decision.
func (a *arithmetic) bit(statistic *byte) int {
	for a.interval < 1<<15 {
		if a.spare == 0 {
			a.code, a.spare = a.code<<8|a.byte(), 8
		}
		a.interval <<= 1
		a.spare--
	}
	s, likely := &states[*statistic&127], *statistic>>7
	a.interval -= uint32(s.estimate)
	unlikely := a.code >= a.interval<<a.spare
	if unlikely {
		a.code -= a.interval << a.spare
	} else if a.interval >= 1<<15 {
		return int(likely)
	}
	// The smaller part of the interval stands for the less probable value, whichever part that is.
	if exchanged := a.interval < uint32(s.estimate); unlikely {
		a.interval = uint32(s.estimate)
		unlikely = !exchanged
	} else {
		unlikely = exchanged
	}
	if !unlikely {
		*statistic = likely<<7 | s.nextLikely
		return int(likely)
	}
	value := 1 - likely
	if s.swaps {
		likely = value
	}
	*statistic = likely<<7 | s.nextUnlikely
	return int(value)
}

// Places of statistics (T.81, F.1.4.4).
const (
	placeX1     = 20      // of the highest bit of a DC difference
	placeX2     = 189     // of that of an AC coefficient, at low frequencies
	placeX2High = 217     // at high ones
	toBits      = 14      // from the statistic of a highest bit to that of the bits below
	tooHigh     = 1 << 15 // no highest bit is so high
)

// magnitude decodes the highest bit of a magnitude, at least as high as top, with the statistics from a place on, and then the other bits.
func (a *arithmetic) magnitude(statistics []byte, at, top int) (v, highest int, ok bool) {
	for a.bit(&statistics[at]) != 0 {
		if top <<= 1; top == tooHigh {
			return 0, 0, false
		}
		at++
	}
	v = top
	for bit := top >> 1; bit > 0; bit >>= 1 {
		if a.bit(&statistics[at+toBits]) != 0 {
			v |= bit
		}
	}
	return v, top, true
}

// difference decodes the difference between two DC coefficients (T.81, F.1.4.1).
func (m *mcu) difference(component int) (diff int32, ok bool) {
	a, table := m.arithmetic, m.d.scan.of[component].dc
	statistics, context := a.dc[table][:], &a.context[component]
	if a.bit(&statistics[*context]) == 0 {
		*context = 0
		return 0, true
	}
	sign := a.bit(&statistics[*context+1])
	v, highest := 0, 0
	if a.bit(&statistics[*context+2+sign]) != 0 {
		if v, highest, ok = a.magnitude(statistics, placeX1, 1); !ok {
			return 0, false
		}
	}
	switch c := &m.d.condition; {
	case highest < 1<<c.lower[table]>>1:
		*context = 0
	case highest > 1<<c.upper[table]>>1:
		*context = 12 + 4*sign
	default:
		*context = 4 + 4*sign
	}
	if v++; sign != 0 {
		v = -v
	}
	return int32(v), true
}

// coefficientAt decodes the next AC coefficient that is not 0, from place k on and up to last. It returns its place, or 0 at the end of the block.
func (m *mcu) coefficientAt(table, k, last int) (value, place int, ok bool) {
	a := m.arithmetic
	statistics := a.ac[table][:]
	at := 3 * (k - 1)
	if a.bit(&statistics[at]) != 0 {
		return 0, 0, true
	}
	for a.bit(&statistics[at+1]) == 0 {
		at += 3
		if k++; k > last {
			return 0, 0, false
		}
	}
	sign := a.bit(&a.even)
	v := 0
	if a.bit(&statistics[at+2]) != 0 {
		v = 1
		if a.bit(&statistics[at+2]) != 0 {
			from := placeX2High
			if k <= int(m.d.condition.most[table]) {
				from = placeX2
			}
			if v, _, ok = a.magnitude(statistics, from, 2); !ok {
				return 0, 0, false
			}
		}
	}
	if v++; sign != 0 {
		v = -v
	}
	return v, k, true
}

// errCode is damage in the data of an arithmetic scan. The blocks up to the next restart marker are missing.
func (m *mcu) errCode() {
	m.bits.damaged, m.bits.short = true, true
}

// arithmeticBlock reads coefficients for the first time: all of a block, or the upper bits of a band.
func (m *mcu) arithmeticBlock(values *[64]int16, component int) {
	s := &m.d.scan
	k, table := s.first, s.of[component].ac
	if k == 0 {
		diff, ok := m.difference(component)
		if !ok {
			m.errCode()
			return
		}
		m.pred[component] += diff
		values[0] = int16(m.pred[component] << s.low)
		k = 1
	}
	for k <= s.last {
		v, at, ok := m.coefficientAt(table, k, s.last)
		if !ok {
			m.errCode()
			break
		}
		if at == 0 {
			break
		}
		values[natural[at]] = int16(v << s.low)
		k = at + 1
	}
}

// arithmeticRefinement reads one more bit of the coefficients of a band, and new ones (T.81, G.1.3.3).
func (m *mcu) arithmeticRefinement(values *[64]int16, component int) {
	a, s := m.arithmetic, &m.d.scan
	plus, minus := int16(1)<<s.low, int16(-1)<<s.low
	if s.first == 0 {
		if a.bit(&a.even) != 0 {
			values[0] |= plus
		}
		return
	}
	statistics := a.ac[s.of[component].ac][:]
	known := s.last // the last coefficient that is not 0
	for known > 0 && values[natural[known]] == 0 {
		known--
	}
	for k := s.first; k <= s.last; k++ {
		if k > known && a.bit(&statistics[3*(k-1)]) != 0 {
			return
		}
		for ; ; k++ {
			if k > s.last {
				m.errCode()
				return
			}
			v, at := &values[natural[k]], 3*(k-1)
			if *v != 0 {
				if a.bit(&statistics[at+2]) != 0 {
					if *v < 0 {
						*v += minus
					} else {
						*v += plus
					}
				}
				break
			}
			if a.bit(&statistics[at+1]) != 0 {
				if *v = plus; a.bit(&a.even) != 0 {
					*v = minus
				}
				break
			}
		}
	}
}
