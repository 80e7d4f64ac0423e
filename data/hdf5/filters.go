package hdf5

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
	"strings"
)

// decoder undoes a filter of a chunk. Its result has at most most bytes.
type decoder func(d *storedSet, f *filter, b []byte, most int) ([]byte, error)

const (
	filterSzip        = 4
	filterScaleOffset = 6
)

// filterHead is the most bytes by which a filter makes a chunk longer: scaleoffset's head.
const filterHead = soHead

// decoders are the filters that can be read, by their numbers.
var decoders = map[int]decoder{
	1:          func(_ *storedSet, _ *filter, b []byte, most int) ([]byte, error) { return inflate(b, most) },
	2:          undoShuffle,
	3:          func(_ *storedSet, _ *filter, b []byte, _ int) ([]byte, error) { return checkSum(b) },
	filterSzip: undoSzip, 5: undoNbit, filterScaleOffset: undoScaleOffset, 32000: undoLZF,
}

// filterNames names the filters that files may identify by number only.
var filterNames = map[int]string{
	1: "gzip", 2: "shuffle", 3: "fletcher32", 4: "szip", 5: "nbit", 6: "scaleoffset", 32000: "lzf",
	32001: "blosc", 32004: "lz4", 32008: "bitshuffle", 32015: "zstd",
}

// readable lists the names of the filters that can be read.
func readable() string {
	var names []string
	for _, id := range slices.Sorted(maps.Keys(decoders)) {
		names = append(names, filterNames[id])
	}
	return strings.Join(names, ", ")
}

// filter is one step of the pipeline that chunks passed when they were written.
type filter struct {
	id     int
	name   string
	values []uint64
}

func (f *filter) String() string {
	name := filterNames[f.id]
	if name == "" {
		name = f.name
	}
	return fmt.Sprintf("%s (filter %d)", name, f.id)
}

func (d *storedSet) parseFilters(b []byte) error {
	c := d.f.cursor(b)
	version, n := c.u8(), c.u8()
	if version != 1 && version != 2 {
		return damaged("filters of version %d", version)
	}
	if version == 1 {
		c.skip(6)
	}
	for range n {
		f := filter{id: c.u16()}
		nameLength := 0
		if version == 1 || f.id >= 256 {
			nameLength = c.u16()
		}
		c.skip(2)
		values := c.u16()
		f.name = untilNUL(c.take(nameLength))
		if version == 1 {
			c.skip(-nameLength & 7)
		}
		for range values {
			f.values = append(f.values, c.u32())
		}
		if version == 1 && values%2 != 0 {
			c.skip(4)
		}
		if c.err != nil {
			return c.err
		}
		d.filters = append(d.filters, f)
	}
	return nil
}

// undo reverses the filters of a chunk, except for those in mask, which were not applied. It fails unless the result has want
// bytes.
func (d *storedSet) undo(b []byte, mask uint64, want int) ([]byte, error) {
	for i := len(d.filters) - 1; i >= 0; i-- {
		if mask>>i&1 != 0 {
			continue
		}
		f := &d.filters[i]
		decode, ok := decoders[f.id]
		if !ok {
			return nil, fmt.Errorf("a chunk is stored with %s: %s can be read", f, readable())
		}
		var err error
		b, err = decode(d, f, b, want+filterHead*i)
		if err != nil {
			return nil, err
		}
	}
	if len(b) != want {
		return nil, damaged("a chunk has %d bytes, it should have %d", len(b), want)
	}
	return b, nil
}

// inflate undoes zlib. Its buffer grows with the output, so a wrong size in the file allocates nothing.
func inflate(b []byte, most int) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, damaged("a compressed chunk: %w", err)
	}
	out := bytes.NewBuffer(make([]byte, 0, min(most, len(b)*deflateRatio)+bytes.MinRead))
	n, err := out.ReadFrom(io.LimitReader(r, int64(most)+1))
	if err != nil {
		return nil, damaged("a compressed chunk: %w", err)
	}
	if n > int64(most) {
		return nil, damaged("a compressed chunk has more than %d bytes", most)
	}
	return out.Bytes(), nil
}

func undoShuffle(d *storedSet, f *filter, b []byte, _ int) ([]byte, error) {
	size := d.kind.size
	if len(f.values) > 0 {
		size = asInt(f.values[0])
	}
	return unshuffle(b, size), nil
}

// unshuffle undoes the shuffle filter, which stores first the first byte of every value, then all second bytes, and so on. Bytes
// after the last whole value stay in place.
func unshuffle(b []byte, size int) []byte {
	n := 0
	if size > 1 {
		n = len(b) / size
	}
	if n < 2 {
		return b
	}
	out := make([]byte, len(b))
	for k := range size {
		for i := range n {
			out[i*size+k] = b[k*n+i]
		}
	}
	copy(out[n*size:], b[n*size:])
	return out
}

// checkSum verifies and removes the checksum of a chunk. Early versions of libhdf5 swapped the bytes of both checksum words on
// some processors.
func checkSum(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, damaged("a chunk of %d bytes, which is less than its checksum", len(b))
	}
	body, stored := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	sum := fletcher32(body)
	turned := bits.ReverseBytes32(sum)
	if verify && sum != stored && turned>>16|turned<<16 != stored {
		return nil, damaged("the checksum of a chunk is wrong")
	}
	return body, nil
}
