package hdf5

// undoLZF undoes the filter lzf of h5py: LibLZF's compression. A byte below 32 is followed by that many literal bytes and one more. In any other, the
// upper three bits are the length of a copy less 2, where 7 means that the next byte is added, and the lower five the upper bits of how far back it
// begins, less 1.
func undoLZF(_ *storedSet, _ *filter, b []byte, most int) ([]byte, error) {
	out := make([]byte, 0, min(most, len(b)*lzfRatio))
	short := func() ([]byte, error) { return nil, damaged("a chunk stored with lzf ends inside a step") }
	for at := 0; at < len(b); {
		n := int(b[at])
		at++
		if n < 32 {
			if n++; at+n > len(b) {
				return short()
			}
			out = append(out, b[at:at+n]...)
			at += n
			continue
		}
		length, back := n>>5, (n&31)<<8
		if at += 1 + length/7; at > len(b) {
			return short()
		}
		if length == 7 {
			length += int(b[at-2])
		}
		from := len(out) - back - int(b[at-1]) - 1
		if from < 0 || len(out)+length+2 > most {
			return nil, damaged("a chunk stored with lzf copies %d bytes from %d of %d", length+2, from, len(out))
		}
		for range length + 2 { // a copy may overlap what it writes
			out = append(out, out[from])
			from++
		}
	}
	if len(out) > most {
		return nil, damaged("a chunk stored with lzf has more than %d bytes", most)
	}
	return out, nil
}

// lzfRatio is the highest compression ratio of lzf: 264 bytes in three.
const lzfRatio = 88
