package imageio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"
)

// TestDensityMessage: what is too dense is named by its true extents, and by the bytes as which pixels count.
func TestDensityMessage(t *testing.T) {
	header := func(width, height uint32, depth, kind byte) []byte {
		var b bytes.Buffer
		b.WriteString(pngSignature)
		head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), width), height)
		for _, chunk := range [][]byte{append(head, depth, kind, 0, 0, 0), []byte("IDAT"), []byte("IEND")} {
			binary.Write(&b, binary.BigEndian, uint32(len(chunk)-4))
			b.Write(chunk)
			binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(chunk))
		}
		return b.Bytes()
	}
	webp := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8L\x10\x00\x00\x00\x2f"), binary.LittleEndian.AppendUint32(nil, 4999|4998<<14)...)
	webp = append(webp, make([]byte, 11)...)
	binary.LittleEndian.PutUint32(webp[4:], uint32(len(webp)-8))
	const begin = "the file is too small for so large an image: "
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"PNG of 16 bits and alpha", header(6200, 6201, 16, pngRGBAlpha), begin + "6200 x 6201 pixels that count as 8 bytes each in 57 bytes, which may have 41943496 pixels of 3 bytes"},
		{"PNG of bits", header(7000, 7001, 1, pngGray), begin + "7000 x 7001 pixels in 57 bytes, which may have 41943496 pixels of 3 bytes"},
		{"WebP", webp, begin + "5000 x 4999 pixels that count as 6 bytes each in 36 bytes, which may have 41943328 pixels of 3 bytes"},
	} {
		if _, err := Decode(c.file, Color); !errors.Is(err, ErrDense) || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}
