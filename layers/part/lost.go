package part

import "math"

// lost is what weights lose when each row of them is multiplied by a factor and rounded: divided by the factor again, a weight is often another in
// its last bit. lost keeps that difference, which is at most one of its units, in two bits. Rows whose weights are lost in another way, by factors of 0
// or beyond the range of numbers, are kept whole.
type lost struct {
	row    int // weights of a row
	factor []float32
	bits   []byte
	whole  [][]float32 // by row, nil for most
}

func newLost(rows, row int) *lost {
	return &lost{row: row, factor: make([]float32, rows), bits: make([]byte, rows*rowBytes(row)), whole: make([][]float32, rows)}
}

// rowBytes is the number of bytes that hold the differences of a row.
func rowBytes(row int) int { return (row + 3) / 4 }

// note keeps what row o loses. Rows may be noted at the same time.
func (l *lost) note(o int, weights, products []float32, factor float32) {
	l.factor[o], l.whole[o] = factor, nil
	bits, inverse := l.of(o), 1/float64(factor)
	clear(bits)
	for i, v := range products {
		d := math.Float32bits(weights[i]) - math.Float32bits(float32(float64(v)*inverse)) + 1
		if d > 2 {
			l.whole[o] = append([]float32(nil), weights...)
			return
		}
		bits[i/4] |= byte(d) << (i % 4 * 2)
	}
}

// of returns the differences of row o.
func (l *lost) of(o int) []byte { return l.bits[o*rowBytes(l.row):][:rowBytes(l.row)] }

// restore turns products into the weights.
func (l *lost) restore(values []float32) {
	for o, factor := range l.factor {
		row := values[o*l.row:][:l.row]
		if l.whole[o] != nil {
			copy(row, l.whole[o])
			continue
		}
		bits, inverse := l.of(o), 1/float64(factor)
		for i, v := range row {
			d := uint32(bits[i/4]>>(i%4*2)&3) - 1
			row[i] = math.Float32frombits(math.Float32bits(float32(float64(v)*inverse)) + d)
		}
	}
}
