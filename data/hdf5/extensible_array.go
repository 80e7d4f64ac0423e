package hdf5

import "fmt"

// extensibleArray is a chunk index for datasets with one unlimited axis (HDF5 file format specification 3.0, section VII.D). The
// index block holds the first entries. Data blocks of growing size hold the rest. The index block holds the addresses of the
// first data blocks; super blocks hold the addresses of the others.
type extensibleArray struct {
	array
	first, minEntries   uint64 // number of entries in the index block, and in the smallest data block
	direct              int    // number of super blocks whose data blocks are listed in the index block
	supers, offsetBytes int
	index               []byte // the index block
}

func (*extensibleArray) chunks(d *storedSet) ([]chunk, error) {
	endless := -1
	for i, n := range d.max {
		if n == 0 && endless < 0 {
			endless = i
		}
	}
	a := &extensibleArray{}
	address, err := a.openHead(d)
	if err != nil || address == undefined {
		return nil, err
	}
	o := uint64(d.f.offsetSize)
	direct := uint64(0) // number of data blocks listed in the index block
	for u := range a.direct {
		direct += 1 << (u / 2)
	}
	a.index, err = a.block(address, 6+o+a.first*a.entrySize+direct*o+uint64(a.supers-a.direct)*o+4)
	if err != nil {
		return nil, err
	}
	a.index = a.index[6+o:]
	return d.numbered(endless, a.look)
}

func (a *extensibleArray) openHead(d *storedSet) (uint64, error) {
	f := d.f
	b, err := f.readChecked(d.layout.address, uint64(16+6*f.lengthSize+f.offsetSize), "an array of chunks")
	if err != nil {
		return 0, err
	}
	c := f.cursor(b)
	if err := a.open(d, c, "EAHD"); err != nil {
		return 0, err
	}
	bits := c.u8()
	a.first, a.minEntries = c.uint(1), c.uint(1)
	pointers, pageBits := c.u8(), c.u8()
	c.skip(6 * f.lengthSize)
	address := c.offset()
	if c.err != nil {
		return 0, c.err
	}
	if a.minEntries == 0 || a.minEntries&(a.minEntries-1) != 0 || pointers < 2 || pointers&(pointers-1) != 0 || bits > 62 || pageBits > 31 {
		return 0, damaged("an array of chunks of %d bits, blocks of %d, %d pointers and pages of %d bits", bits, a.minEntries, pointers, pageBits)
	}
	a.pageSize = 1 << pageBits
	a.offsetBytes = (bits + 7) / 8
	a.supers = 1 + bits - log2(a.minEntries)
	a.direct = 2 * log2(uint64(pointers))
	if a.supers < a.direct {
		return 0, fmt.Errorf("an array of at most %d super blocks with %d in its index cannot be read", a.supers, a.direct)
	}
	return address, nil
}

// look finds the entry of a chunk.
func (a *extensibleArray) look(number uint64) (entry, error) {
	if number < a.first {
		return a.entry(a.index[:a.first*a.entrySize], number)
	}
	number -= a.first
	super := log2(number/a.minEntries + 1)
	if super >= a.supers {
		return entry{}, damaged("chunk %d of an array of %d super blocks", number, a.supers)
	}
	block, entries := uint64(0), a.minEntries<<((super+1)/2)
	for u := range super {
		number -= a.minEntries << ((u + 1) / 2) << (u / 2)
		if super < a.direct {
			block += 1 << (u / 2)
		}
	}
	block += number / entries
	o := uint64(a.d.f.offsetSize)
	head := 6 + o + uint64(a.offsetBytes)
	direct := a.index[a.first*a.entrySize:]
	if super < a.direct {
		return a.inBlock("EADB", a.address(direct, block), head, entries, number%entries, func(uint64, []byte) bool { return true })
	}
	address := a.address(direct, uint64(2*(1<<(a.direct/2)-1)+super-a.direct))
	if address == undefined {
		return entry{address: undefined}, nil
	}
	// A super block over paged data blocks has a bitmap of the pages that have been written.
	pages, bitmap := entries/a.pageSize, uint64(0)
	if entries > a.pageSize {
		bitmap = (pages + 7) / 8
	}
	blocks := uint64(1) << (super / 2)
	if err := a.d.f.check(address, blocks*(bitmap+o), "a super block"); err != nil {
		return entry{}, err
	}
	b, err := a.block(address, head+blocks*(bitmap+o)+4)
	if err != nil {
		return entry{}, err
	}
	b = b[head:]
	return a.inBlock("EADB", a.address(b[blocks*bitmap:], block), head, entries, number%entries, func(page uint64, _ []byte) bool {
		return bit(b[:blocks*bitmap], block*pages+page)
	})
}

// address returns address i of the addresses in b.
func (a *extensibleArray) address(b []byte, i uint64) uint64 {
	o := uint64(a.d.f.offsetSize)
	return a.d.f.cursor(b[i*o:]).offset()
}
