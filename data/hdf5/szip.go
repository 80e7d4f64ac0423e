package hdf5

import "encoding/binary"

// undoSzip undoes libhdf5's filter szip, the lossless coding of CCSDS 121.0-B. A chunk is its length, 4 bytes, and the coded samples: the values or,
// where these have 32 or 64 bits, their bytes, all first bytes before all second ones.
func undoSzip(_ *storedSet, f *filter, b []byte, most int) ([]byte, error) {
	const options, perBlock, width, perLine, parameters = 0, 1, 2, 3, 4
	const mostBlock, mostLine = 32, 4096
	v := f.values
	if len(v) < parameters || v[perBlock] < 2 || v[perBlock] > mostBlock || v[perBlock]%2 != 0 || v[perLine] < 1 || v[perLine] > mostLine || v[width] < 1 || v[width] > 64 || len(b) < 4 {
		return nil, damaged("szip of %d bytes with the parameters %v", len(b), v)
	}
	size := asInt(uint64(binary.LittleEndian.Uint32(b)))
	if size > most {
		return nil, damaged("a chunk stored with szip has %d bytes, at most %d are left", size, most)
	}
	r := &rice{bitReader: bitReader{b: b[4:]}, width: int(v[width]), block: int(v[perBlock]), line: int(v[perLine])}
	r.differences, r.big = v[options]&32 != 0, v[options]&16 != 0
	word := 1
	if r.width == 32 || r.width == 64 {
		word, r.width = r.width/8, 8
	} else if r.width > 32 {
		return nil, damaged("szip of values of %d bits", r.width)
	}
	out := r.decode(size)
	if r.lost {
		return nil, damaged("a chunk of %d bytes stored with szip for %d", len(b), size)
	}
	return unshuffle(out, word), nil
}

// rice decodes samples of some bits. They are coded in blocks, and blocks in lines, whose last block may be longer than its samples. With differences,
// the first sample of a line is stored as it is, and every other as its distance from the one before.
type rice struct {
	bitReader
	width, block, line int
	differences, big   bool

	samples []uint64 // of the line
}

// decode returns size bytes of samples.
func (r *rice) decode(size int) []byte {
	bytes := 1
	for 8*bytes < r.width {
		bytes *= 2
	}
	kind, out := &datatype{size: bytes, big: r.big}, make([]byte, size)
	blocks := ceil(r.line, r.block)
	for at := 0; at+bytes <= size && !r.lost; {
		left := min(r.line, (size-at)/bytes)
		r.samples = r.samples[:0]
		for len(r.samples) < left && !r.lost {
			r.codedBlock(blocks)
		}
		if r.lost {
			break
		}
		if r.differences {
			r.sum(r.samples[:left])
		}
		for _, v := range r.samples[:left] {
			kind.put(out[at:at+bytes], v)
			at += bytes
		}
	}
	return out
}

// codedBlock decodes a block, or a run of blocks of zeros, of a line of so many blocks.
func (r *rice) codedBlock(blocks int) {
	idBits := 3
	if r.width > 16 {
		idBits = 5
	} else if r.width > 8 {
		idBits = 4
	}
	id, n := int(r.take(idBits)), r.block
	if id == 1<<idBits-1 {
		for range n {
			r.samples = append(r.samples, r.take(r.width))
		}
		return
	}
	pairs := id == 0 && r.take(1) == 1
	if r.differences && len(r.samples) == 0 {
		r.samples = append(r.samples, r.take(r.width))
		n--
	}
	switch {
	case pairs:
		r.pairs(n)
	case id == 0:
		r.zeros(n, blocks)
	default:
		r.split(n, id-1)
	}
}

// unary counts the zeros before a one.
func (r *rice) unary() (n int) {
	for !r.lost && r.take(1) == 0 {
		n++
	}
	return n
}

// split decodes n samples whose lower bits stand behind the upper ones of all.
func (r *rice) split(n, lower int) {
	first := len(r.samples)
	for range n {
		r.samples = append(r.samples, uint64(r.unary())<<lower)
	}
	for i := range r.samples[first:] {
		r.samples[first+i] |= r.take(lower)
	}
}

// zeros decodes a run of blocks of zeros, the first of n samples. A run's number is one more than what is stored, except that 4 means all blocks up to the
// end of the line or the next multiple of 64, and that larger ones are not increased.
func (r *rice) zeros(n, blocks int) {
	const rest = 4
	run, done := r.unary(), len(r.samples)/r.block
	switch {
	case run < rest:
		run++
	case run == rest:
		run = min(blocks-done, 64-done%64)
	}
	if run > blocks-done {
		r.lost = true
		return
	}
	for range n + (run-1)*r.block {
		r.samples = append(r.samples, 0)
	}
}

// pairs decodes n samples, two with one number: the number of pairs with a smaller sum, plus the second of the two. Of an odd number of samples, the first is
// the second of a pair.
func (r *rice) pairs(n int) {
	const largest = 90
	for n > 0 {
		m := r.unary()
		if m > largest {
			r.lost = true
			return
		}
		sum := 0
		for (sum+1)*(sum+2)/2 <= m {
			sum++
		}
		second := m - sum*(sum+1)/2
		if n%2 == 0 {
			r.samples = append(r.samples, uint64(sum-second))
			n--
		}
		r.samples = append(r.samples, uint64(second))
		n--
	}
}

// sum turns differences into samples. A difference d stands for d/2 or, if odd, for -(d+1)/2, as long as both signs leave the sample in its range; where
// they do not, d is the distance from the nearer end of the range.
func (r *rice) sum(samples []uint64) {
	most := uint64(1)<<r.width - 1
	for i := 1; i < len(samples); i++ {
		last, d := samples[i-1], samples[i]
		room := min(last, most-last)
		switch {
		case (d+1)/2 <= room && d%2 == 0:
			samples[i] = last + d/2
		case (d+1)/2 <= room:
			samples[i] = last - (d+1)/2
		case last <= most/2:
			samples[i] = d
		default:
			samples[i] = most - d
		}
		samples[i] &= most
	}
}
