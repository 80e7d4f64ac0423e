package imageio

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	gojpeg "image/jpeg"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/swcaffe/swcaffe/internal/testkit/costtest"
)

// deflated compresses rows of zeros, each with a byte before it.
func deflated(t *testing.T, height, size int, first byte) []byte {
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]byte, 1+size)
	row[0] = first
	for range height {
		w.Write(row)
	}
	w.Close()
	return b.Bytes()
}

// densePNG writes a black PNG, all of whose rows have a filter.
func densePNG(t *testing.T, height, width int, depth, kind, filter byte, more ...string) []byte {
	var b bytes.Buffer
	b.WriteString(pngSignature)
	chunk := func(text string) {
		binary.Write(&b, binary.BigEndian, uint32(len(text)-4))
		b.WriteString(text)
		binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE([]byte(text)))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), uint32(width)), uint32(height))
	chunk(string(append(head, depth, kind, 0, 0, 0)))
	for _, c := range more {
		chunk(c)
	}
	p := pngFile{kind: kind, depth: int(depth)}
	chunk("IDAT" + string(deflated(t, height, p.bytesPerRow(width), filter)))
	chunk("IEND")
	return b.Bytes()
}

// denseTIFF writes a TIFF whose strips of one row or more share the same bytes.
func denseTIFF(height, width, rows, method, bits, samples int, block []byte, more ...[2]int) []byte {
	strips := (height + rows - 1) / rows
	const start = 8
	at := start + len(block) + len(block)%2
	b := append(binary.LittleEndian.AppendUint32([]byte("II*\x00"), uint32(at+8*strips)), block...)
	b = append(b, make([]byte, at-len(b))...)
	for range strips {
		b = binary.LittleEndian.AppendUint32(b, start)
	}
	for range strips {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(block)))
	}
	tags := append([][2]int{{tagWidth, width}, {tagHeight, height}, {tagBits, bits}, {tagMethod, method}, {tagPhotometric, samples / 3 * 2}, {tagSamples, samples}, {tagRows, rows}}, more...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(tags)+2))
	entry := func(tag, count, value int) {
		b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, uint16(tag)), 4)
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, uint32(count)), uint32(value))
	}
	for _, t := range tags {
		entry(t[0], 1, t[1])
	}
	if strips == 1 {
		entry(tagOffsets, 1, start)
		entry(tagCounts, 1, len(block))
	} else {
		entry(tagOffsets, strips, at)
		entry(tagCounts, strips, at+4*strips)
	}
	return append(b, 0, 0, 0, 0)
}

// denseWebP writes a black lossless WebP, whose pixels need no bits.
func denseWebP(height, width int) []byte {
	header := uint64(width-1) | uint64(height-1)<<14
	codes := uint64(0)
	for i := range 5 {
		codes |= 1 << (3 + 4*i) // a code of one symbol, 0
	}
	b := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f"), binary.LittleEndian.AppendUint32(nil, uint32(header))...)
	b = append(b, binary.LittleEndian.AppendUint32(nil, uint32(codes))...)
	b = append(b, make([]byte, 16+len(b)%2)...)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	binary.LittleEndian.PutUint32(b[16:], uint32(len(b)-20))
	return b
}

// padded makes a file larger, so that more pixels are allowed.
func padded(file []byte, size int) []byte {
	return append(file, make([]byte, max(0, size-len(file)))...)
}

// TestDense: files of up to 1 MB that take as long as they can. Those that would take longer than a second of processor time, or more memory than 20 times the
// picture, are refused. The others here have a quarter of the pixels that they may have.
func TestDense(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const size, most = 1 << 20, 0.25 // seconds
	zeros := func(n int) []byte { return deflated(t, 1, n-1, 0) }
	zstdOf := func(n int) []byte {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return w.EncodeAll(make([]byte, n), nil)
	}
	var photo bytes.Buffer
	if err := gojpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 1000, 60000)), nil); err != nil {
		t.Fatal(err)
	}
	empty := append(zeros(100)[:2], bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, size/5)...) // blocks of deflate without content
	profile := "iCCPp\x00\x00" + string(zeros(61000))
	many := make([]string, size/len(profile))
	for i := range many {
		many[i] = profile
	}
	bmp := append([]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x04\x00\x00\x28\x00\x00\x00\x00\x0c\x00\x00\x00\x0c\x00\x00\x01\x00\x08\x00\x01\x00\x00\x00"), make([]byte, 20+1024)...)
	bmp = append(bmp, bytes.Repeat([]byte{0, 2, 255, 0}, 40000)...)
	for _, f := range []struct {
		name  string
		file  []byte
		dense bool
	}{
		{"PNG of grey", padded(densePNG(t, 3000, 4000, 8, pngGray, 4), size), false},
		{"PNG of bits", padded(densePNG(t, 3000, 4000, 1, pngGray, 2), size), false},
		{"PNG of colours", padded(densePNG(t, 3000, 3000, 8, pngRGB, 4), size), false},
		{"PNG of 16 bits and alpha", padded(densePNG(t, 2000, 2000, 16, pngRGBAlpha, 4), size), false},
		{"PNG of a palette", padded(densePNG(t, 3000, 4000, 2, pngPalette, 3, "PLTEabcdef"), size), false},
		{"larger PNG", densePNG(t, 7000, 7000, 1, pngGray, 0), true},
		{"larger PNG of 16 bits and alpha", padded(densePNG(t, 5000, 4000, 16, pngRGBAlpha, 0), size), true},
		{"PNG of profiles", densePNG(t, 10, 10, 8, pngGray, 0, many...), false},
		{"TIFF of deflate in one strip", denseTIFF(3000, 3000, 3000, tiffDeflate, 8, 3, zeros(3*3000*3000)), false},
		{"TIFF of deflate in many strips", denseTIFF(15000, 600, 1, tiffDeflate, 8, 1, zeros(600)), false},
		{"TIFF of zstd in many strips", denseTIFF(15000, 600, 1, 50000, 8, 1, zstdOf(600)), false},
		{"TIFF of a fax", denseTIFF(10000, 1000, 10000, tiffFax4, 1, 1, bytes.Repeat([]byte{255}, 1250)), false},
		{"larger TIFF", denseTIFF(20000, 20000, 20000, tiffDeflate, 8, 3, zeros(100)), true},
		{"TIFF of strips that share 1 MB", denseTIFF(1000, 600, 1, tiffDeflate, 8, 1, empty), true},
		{"TIFF with a large JPEG in its last strip", denseTIFF(1, 1000, 1, tiffJPEG, 8, 1, photo.Bytes()), true},
		{"TIFF of a large tile", denseTIFF(16, 16, 16, tiffDeflate, 8, 1, zeros(100), [2]int{tagTileWidth, 4096}, [2]int{tagTileHeight, 4096}), true},
		{"BMP of jumps", bmp, false},
		{"WebP without bits", padded(denseWebP(2500, 2500), size), false},
		{"larger WebP without bits", denseWebP(5000, 5000), true},
	} {
		for _, mode := range []Mode{Color, Gray} {
			var im *Image
			var err error
			read := func() { im, err = Decode(f.file, mode) }
			took, allocated := costtest.Of(read)
			for again := 0; took > costtest.Seconds(most) && again < 3; again++ { // another program may have had the caches
				took, _ = costtest.Of(read)
			}
			values := 1 << 20
			if im != nil {
				values = max(values, len(im.Pix))
			}
			if errors.Is(err, ErrDense) != f.dense || (err == nil) == f.dense || took > 2*costtest.Seconds(most) || allocated > 20*float64(values) {
				t.Errorf("%s, mode %d: %v of processor time, %.0f bytes for %d values, error %v; is it too dense: want %t", f.name, mode, took, allocated, values, err, f.dense)
			}
			t.Logf("%s, mode %d, %d bytes: %v of processor time, %.1f bytes a value, %v", f.name, mode, len(f.file), took, allocated/float64(values), err)
		}
	}
}
