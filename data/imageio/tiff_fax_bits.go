package imageio

// fetch makes at least n bits available, with zeros behind the end. It fails if there are none.
func (f *fax) fetch(n int) error {
	for f.n < n {
		if len(f.in) == 0 {
			if f.n == 0 {
				return errFaxEnd
			}
			f.acc <<= n - f.n
			f.n = n
			return nil
		}
		f.acc, f.in, f.n = f.acc<<8|uint32(f.in[0]), f.in[1:], f.n+8
	}
	return nil
}

// peek returns the next n available bits.
func (f *fax) peek(n int) uint32 { return f.acc >> (f.n - n) & (1<<n - 1) }

// bits reads n bits.
func (f *fax) bits(n int) (uint32, error) {
	err := f.fetch(n)
	if err != nil {
		return 0, err
	}
	v := f.peek(n)
	f.n -= n
	return v, nil
}

// code reads a code of a table of codes of up to n bits. Its length is 0 if it does not exist.
func (f *fax) code(table []faxCode, n int) (faxCode, error) {
	if err := f.fetch(n); err != nil {
		return faxCode{}, err
	}
	c := table[f.peek(n)]
	f.n -= int(c.length)
	return c, nil
}

// rowEnd reads up to and with the next code of a row's end: 11 zeros or more, and a one.
func (f *fax) rowEnd() error {
	const zeros = 11
	for !f.atEnd {
		if err := f.fetch(zeros); err != nil {
			return err
		}
		if f.peek(zeros) == 0 {
			break
		}
		f.n--
	}
	for {
		if err := f.fetch(8); err != nil {
			return err
		}
		if f.peek(8) != 0 {
			break
		}
		f.n -= 8
	}
	for f.peek(1) == 0 {
		f.n--
	}
	f.n--
	f.atEnd = false
	return nil
}
