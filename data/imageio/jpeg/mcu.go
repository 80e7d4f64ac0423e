package jpeg

// mcu walks over the MCUs of a scan.
type mcu struct {
	d          *Decoder
	bits       bits
	arithmetic *arithmetic // nil: the scan has Huffman codes
	read       func(m *mcu, values *[64]int16, component int)
	dc, ac     [4]*huffman // of the components
	y          int         // the next row of MCUs
	left       int         // MCUs before the next restart marker
	restart    byte        // its number
	pred       [4]int32    // the last DC coefficient of each component in the scan
	eobRun     int         // progressive: blocks whose band ends before it begins
	nonzero    *uint64     // progressive, of the block that is read: its AC coefficients that are not 0, a bit for each in their order in the file
}

// row reads the next row of MCUs. Blocks that damage has made unreadable keep their coefficients, 0 before the first scan.
func (m *mcu) row() {
	s := &m.d.scan
	first := m.y
	if m.y++; !m.d.several { // there are coefficients for one row only
		first = 0
	}
	for x := range s.across {
		if m.d.restart > 0 {
			if m.left == 0 {
				m.next()
			}
			m.left--
		}
		if m.bits.short {
			if m.d.restart == 0 {
				return
			}
			continue
		}
		if len(s.of) == 1 {
			c := s.of[0]
			if c.nonzero != nil {
				m.nonzero = &c.nonzero[first*c.stride+x]
			}
			m.read(m, c.at(first*c.stride+x), 0)
		} else {
			m.several(x, first)
		}
		if m.bits.fake > 0 {
			m.bits.settle()
		}
	}
}

// several reads the blocks of an MCU of several components.
func (m *mcu) several(x, y int) {
	for i, c := range m.d.scan.of {
		for v := range c.v {
			at := (y*c.v+v)*c.stride + x*c.h
			for h := range c.h {
				if m.read(m, c.at(at+h), i); m.arithmetic != nil && m.bits.short { // found damaged in the middle of an MCU
					return
				}
			}
		}
	}
}

// at are the coefficients of a block.
func (c *component) at(block int) *[64]int16 { return (*[64]int16)(c.coefficients[64*block:]) }

// spent reports whether nothing can be read any more.
func (m *mcu) spent() bool { return m.bits.short && m.d.restart == 0 }

// next passes a restart marker.
func (m *mcu) next() {
	if !m.bits.nextRestart(m.restart) {
		m.d.warn("a restart marker is missing")
	}
	if m.bits.short {
		m.d.warn("image data is missing")
	}
	m.restart = (m.restart + 1) & 7
	m.left, m.pred, m.eobRun = m.d.restart, [4]int32{}, 0
	if m.arithmetic != nil {
		m.bits.short = false
		m.arithmetic.restart()
	}
}
