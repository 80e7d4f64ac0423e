package jpeg

// waiting walks over a scan of Huffman codes as libjpeg-turbo does, to find where it waits for more bytes. It wants more when it has few bits left, not
// only when it has none. So the place depends on when it took bytes before, and on how many.
type waiting struct {
	mcu
	fast   bool // bytes are taken by sixes, since many are ahead
	gaveUp bool // the fast way met a marker
	waits  bool
}

const (
	fastBytes = 512 // ahead for each block of an MCU, for the fast way
	fastBits  = 16  // it takes bytes if it has no more bits than these
	fastTakes = 6   // bytes
	slowBits  = 8   // the slow way takes bytes for a code if it has fewer bits
)

// rows counts the whole rows of MCUs before the end of the file.
func (w *waiting) rows() int {
	s := &w.d.scan
	for y := range s.down {
		for range s.across {
			if w.d.restart > 0 {
				if w.left == 0 {
					if w.next(); w.bits.over {
						return y
					}
				}
				w.left--
			}
			if !w.bits.short && !w.one() {
				return y
			}
		}
	}
	return s.down
}

// one passes an MCU. It reports false if libjpeg waits in it.
func (w *waiting) one() bool {
	blocks := 1
	if of := w.d.scan.of; len(of) > 1 {
		blocks = 0
		for _, c := range of {
			blocks += c.h * c.v
		}
	}
	w.fast = w.d.restart == 0 && w.bits.marker == 0 && len(w.bits.file)-w.bits.pos >= fastBytes*blocks
	before := w.bits
	if w.gaveUp = false; !w.blocks() && w.gaveUp {
		w.bits, w.fast, w.gaveUp = before, false, false
		w.blocks()
	}
	w.bits.settle()
	return !w.waits
}

// blocks passes the blocks of an MCU.
func (w *waiting) blocks() bool {
	of := w.d.scan.of
	if len(of) == 1 {
		return w.block(0)
	}
	for i, c := range of {
		for range c.h * c.v {
			if !w.block(i) {
				return false
			}
		}
	}
	return true
}

func (w *waiting) block(component int) bool {
	size, ok := w.code(w.dc[component])
	if !ok || !w.pass(size) {
		return false
	}
	for k := 1; k < 64; k++ {
		symbol, ok := w.code(w.ac[component])
		if !ok {
			return false
		}
		if size := symbol & 15; size > 0 {
			if k += symbol >> 4; !w.pass(size) {
				return false
			}
		} else if k += 15; symbol < 0xf0 {
			return true
		}
	}
	return true
}

// code passes a code and returns its symbol.
func (w *waiting) code(h *huffman) (symbol int, ok bool) {
	if !w.have(slowBits) {
		return 0, false
	}
	b := &w.bits
	symbol, length := h.long(b)
	if length > b.n { // bits behind the last one look like zeros
		if b.n > slowBits {
			return w.split(h)
		}
		if !w.have(b.n + 1) {
			return 0, false
		}
		symbol, length = h.long(b)
	}
	b.drop(length)
	return symbol, true
}

// split passes a code of which only the front is there. libjpeg has taken these bits from its buffer before it takes bytes, and therefore takes more.
func (w *waiting) split(h *huffman) (symbol int, ok bool) {
	b := &w.bits
	front, n := b.acc, b.n
	b.drop(n)
	if !w.have(1) {
		return 0, false
	}
	whole := *b
	whole.acc = front | b.acc>>uint(n)
	symbol, length := h.long(&whole)
	b.drop(length - n)
	return symbol, true
}

// pass passes the bits of a value.
func (w *waiting) pass(n int) bool {
	if n > 0 && !w.have(n) {
		return false
	}
	w.bits.drop(n)
	return true
}

// have takes bytes if there may be less than n bits. It reports false if the fast way gives up, or libjpeg waits.
func (w *waiting) have(n int) bool {
	b := &w.bits
	if !w.fast {
		if b.n < n {
			b.fillSlowly()
			w.waits = b.over
		}
		return !w.waits
	}
	if b.n > fastBits {
		return true
	}
	for range fastTakes {
		if b.file[b.pos] == 0xff && b.file[b.pos+1] != 0 {
			w.gaveUp = true
			return false
		}
		v, _ := b.next()
		b.acc |= uint64(v) << uint(56-b.n)
		b.n += 8
	}
	return true
}
