package hdf5

import "errors"

// undoNbit undoes libhdf5's filter nbit for numbers: of every value only the bits of its precision are stored.
func undoNbit(d *storedSet, f *filter, b []byte, most int) ([]byte, error) {
	const packs, count, class, size, order, precision, offset, parameters = 1, 2, 3, 4, 5, 6, 7, 8
	v := f.values
	if len(v) > packs && v[packs] != 0 {
		return b, nil // all bits of the values are used
	}
	if len(v) < parameters || v[class] != 1 {
		return nil, errors.New("nbit can be read for integers and floats alone")
	}
	kind := datatype{size: asInt(v[size]), big: v[order] == 1}
	n, width := asInt(v[count]), asInt(v[precision])
	if kind.size != d.kind.size || kind.size > 8 || n > most/kind.size || width < 1 || asInt(v[offset]) > 8*kind.size-width {
		return nil, damaged("nbit of %d values of %d bits at %d in %d bytes", n, width, v[offset], v[size])
	}
	out, r := make([]byte, n*kind.size), &bitReader{b: b}
	for i := range n {
		kind.put(out[i*kind.size:(i+1)*kind.size], r.take(width)<<v[offset])
	}
	if r.lost {
		return nil, damaged("a chunk of %d bytes stored with nbit for %d values of %d bits", len(b), n, width)
	}
	return out, nil
}
