package imageio

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// exifOrientation returns the orientation, 1 to 8, that OpenCV 4.5 turns a JPEG by; 1 if it finds none. Only the first segment APP1 counts, also where
// it is none of Exif, as in files whose XMP comes first. Any offset beyond the segment, whatever tag it belongs to, makes the whole of it invalid.
func exifOrientation(file []byte) int {
	const lead = 6 // "Exif" and two zeros, which are not looked at
	for at := 0; at+2 <= len(file); {
		marker := file[at+1]
		at += 2
		switch {
		case marker == 0xd8 || marker == 0xd9: // begin and end
			continue
		case marker == 0xc0, marker == 0xc2, marker == 0xc4, marker == 0xdb, marker == 0xdd, marker == 0xda, marker >= 0xd0 && marker <= 0xd7, marker >= 0xe0 && marker <= 0xef, marker == 0xfe:
		default: // frames of other kinds and all that is no marker end the search
			return 1
		}
		if at+2 > len(file) {
			return 1
		}
		size := int(binary.BigEndian.Uint16(file[at:]))
		if marker != 0xe1 {
			if size < 2 {
				return 1
			}
			at += size
			continue
		}
		if size <= lead || at+2+lead > len(file) {
			return 1
		}
		tiff := make([]byte, size-lead) // with the two bytes behind the segment, as OpenCV counts
		copy(tiff, file[at+2+lead:])
		return (&exifReader{data: tiff}).orientation()
	}
	return 1
}

// exifReader reads the first directory of Exif data.
type exifReader struct {
	data  []byte
	order binary.ByteOrder
	err   error
}

var errExif = errors.New("Exif data that leaves its segment")

func (r *exifReader) has(at, n uint64) bool {
	if at+n > uint64(len(r.data)) {
		r.err = errExif
	}
	return r.err == nil
}

func (r *exifReader) short(at uint64) int {
	if !r.has(at, 2) {
		return 0
	}
	return int(r.order.Uint16(r.data[at:]))
}

func (r *exifReader) long(at uint64) uint64 {
	if !r.has(at, 4) {
		return 0
	}
	return uint64(r.order.Uint32(r.data[at:]))
}

// Tags that OpenCV reads, whose values must be there. The value is how many fractions of 8 bytes it has, or one of the constants below.
var exifTags = map[int]int{
	0x010e: exifText, 0x010f: exifText, 0x0110: exifText, 0x0112: exifShort, 0x011a: 1, 0x011b: 1, 0x0128: exifShort, 0x0131: exifText, 0x0132: exifText,
	0x013e: 2, 0x013f: 6, 0x0211: 3, 0x0213: exifShort, 0x0214: 6, 0x8298: exifText,
}

const exifText, exifShort, exifOrientationTag = -1, -2, 0x0112

// orientation returns the value of the first tag of that number.
func (r *exifReader) orientation() int {
	r.order = binary.BigEndian // for anything but II
	if bytes.HasPrefix(r.data, []byte("II")) {
		r.order = binary.LittleEndian
	}
	if r.short(2) != 42 {
		return 1
	}
	at := r.long(4)
	n := r.short(at)
	found := 0
	for at += 2; n > 0 && r.err == nil; n, at = n-1, at+12 {
		tag := r.short(at)
		switch kind := exifTags[tag]; {
		case kind == exifShort:
			if v := r.short(at + 8); tag == exifOrientationTag && found == 0 {
				found = v
			}
		case kind == exifText:
			size, from := r.long(at+4), at+8
			if size > 4 {
				from = r.long(at + 8)
			}
			r.has(from, size)
		case kind > 0:
			r.has(r.long(at+8), 8*uint64(kind))
		}
	}
	if r.err != nil || found < 1 || found > 8 {
		return 1
	}
	return found
}
