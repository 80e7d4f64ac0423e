package imageio

import (
	"encoding/binary"
	"testing"
)

// withExif returns the beginning of a JPEG with a segment APP1 behind others.
func withExif(before string, content []byte) []byte {
	file := append([]byte("\xff\xd8"+before+"\xff\xe1"), binary.BigEndian.AppendUint16(nil, uint16(len(content)+2))...)
	return append(append(file, content...), "\xff\xda\x00\x02"...)
}

// exifData returns a directory of a tag and the orientation, in either byte order.
func exifData(order binary.AppendByteOrder, tag uint16, count, value uint32, orientation uint16) []byte {
	b := []byte("Exif\x00\x00II")
	if order.String() == "BigEndian" {
		b = []byte("Exif\x00\x00MM")
	}
	b = order.AppendUint16(b, 42)
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint16(order.AppendUint16(b, tag), 2)
	b = order.AppendUint32(order.AppendUint32(b, count), value)
	b = order.AppendUint16(order.AppendUint16(b, 0x0112), 3)
	b = order.AppendUint32(b, 1)
	b = order.AppendUint16(order.AppendUint16(b, orientation), 0)
	return order.AppendUint32(b, 0)
}

// TestExifOrientation: what OpenCV 4.5 turns by. scripts/pictures.sh compares with Caffe itself; these are the rules that it showed.
func TestExifOrientation(t *testing.T) {
	const maker, unknown = 0x010f, 0x9999
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for v := range uint16(12) {
			want := int(v)
			if v < 1 || v > 8 {
				want = 1
			}
			if got := exifOrientation(withExif("", exifData(order, maker, 4, 0, v))); got != want {
				t.Errorf("%v, %d: %d", order, v, got)
			}
		}
		good := exifData(order, maker, 4, 0, 6)
		xmp := withExif("", []byte("http://ns.adobe.com/xap/1.0/\x00<x/>"))
		for name, c := range map[string]struct {
			file []byte
			want int
		}{
			"behind JFIF":                  {withExif("\xff\xe0\x00\x04ab", good), 6},
			"behind XMP":                   {withExif(string(xmp[2:len(xmp)-4]), good), 1},
			"before a scan only":           {withExif("\xff\xc1\x00\x02", good), 1},
			"behind bytes that fill":       {withExif("\xff\xff", good), 1},
			"text beyond the segment":      {withExif("", exifData(order, maker, 5, 1000, 6)), 1},
			"text that ends at its end":    {withExif("", exifData(order, maker, 5, uint32(len(good)-6-5), 6)), 6},
			"an unknown tag's may be":      {withExif("", exifData(order, unknown, 5, 1000, 6)), 6},
			"without Exif's name":          {withExif("", append([]byte("abcdef"), good[6:]...)), 6},
			"a header that is not TIFF's":  {withExif("", append([]byte("Exif\x00\x00II\x00\x00"), good[10:]...)), 1},
			"the first of two directories": {withExif("", append(good, exifData(order, maker, 4, 0, 3)...)), 6},
		} {
			if got := exifOrientation(c.file); got != c.want {
				t.Errorf("%v, %s: %d, want %d", order, name, got, c.want)
			}
		}
		for n := range len(good) - 4 - 2 { // OpenCV takes two bytes behind the segment for a part of it
			if got := exifOrientation(withExif("", good[:n])); got != 1 {
				t.Errorf("%v, cut to %d bytes: %d", order, n, got)
			}
		}
	}
}

// FuzzExif: no Exif data makes the search for the orientation panic, and an orientation is one of the eight.
func FuzzExif(f *testing.F) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, tag := range []uint16{0x010f, 0x011a, 0x013f, 0x0112, 0x8298} {
			f.Add(withExif("\xff\xe0\x00\x04ab", exifData(order, tag, 9, 20, 6)))
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if o := exifOrientation(file); o < 1 || o > 8 {
			t.Errorf("orientation %d", o)
		}
	})
}
