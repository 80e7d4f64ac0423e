package hdf5

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

const (
	filterDeflate  = 1
	filterShuffle  = 2
	filterFletcher = 3
)

// filterNames are those of filters that files may name by number only.
var filterNames = map[int]string{4: "szip", 5: "nbit", 6: "scaleoffset", 32000: "lzf", 32001: "blosc", 32004: "lz4", 32008: "bitshuffle", 32015: "zstd"}

// filter is a step through which chunks went when they were written.
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
		if f.id != filterDeflate && f.id != filterShuffle && f.id != filterFletcher {
			return fmt.Errorf("it is stored with %s: gzip, shuffle and fletcher32 can be read", &f)
		}
		d.filters = append(d.filters, f)
	}
	return nil
}

// undo takes a chunk back through the filters, but for those that mask says were left out, and returns it with as many bytes as it should have.
func (d *storedSet) undo(b []byte, mask uint64, want int) ([]byte, error) {
	for i := len(d.filters) - 1; i >= 0; i-- {
		if mask>>i&1 != 0 {
			continue
		}
		var err error
		switch f := &d.filters[i]; f.id {
		case filterDeflate:
			b, err = inflate(b, want+4*i)
		case filterShuffle:
			size := d.kind.size
			if len(f.values) > 0 {
				size = int(f.values[0])
			}
			b = unshuffle(b, size)
		case filterFletcher:
			b, err = checkSum(b)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(b) != want {
		return nil, damaged("a chunk has %d bytes, it should have %d", len(b), want)
	}
	return b, nil
}

// inflate undoes zlib. What comes out grows as it is read: a wrong size makes no room.
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

// unshuffle puts the bytes of values together, of which first all first ones are stored, then all second ones. What is left behind the
// last whole value stays where it is.
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

// checkSum takes the checksum off a chunk. Early versions of libhdf5 turned the bytes of both its words over on some processors.
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
