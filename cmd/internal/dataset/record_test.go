package dataset

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// jpegFile writes a JPEG with some pattern.
func jpegFile(t *testing.T, height, width int) string {
	t.Helper()
	im := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			im.SetRGBA(x, y, color.RGBA{byte(x), byte(x*y) >> 3, byte(y), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, im, nil); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "image.jpg")
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestRecord: a record has the bytes that protobuf's own code makes of its fields.
func TestRecord(t *testing.T) {
	name := jpegFile(t, 30, 50)
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	im, err := imageio.Decode(file, imageio.Color)
	if err != nil {
		t.Fatal(err)
	}
	objects := []annotation.Object{{Label: 2}, {Label: 2, Instance: 1}, {Label: 5}}
	end := annotated(nil, objects)
	for _, o := range []*imagesetOptions{{}, {encoded: true}, {height: 20, width: 10}, {encoded: true, encodeType: "png"}, {gray: true}} {
		for range 3 { // the later ones in memory of the earlier ones
			pixels := im
			if o.height > 0 {
				if pixels, err = im.Resize(o.height, o.width); err != nil {
					t.Fatal(err)
				}
			}
			channels := 3
			content := pixels.Planes()
			switch {
			case o.gray:
				grey, err := imageio.Decode(file, imageio.Gray)
				if err != nil {
					t.Fatal(err)
				}
				channels, content = 1, grey.Pix
			case o.encodeType != "":
				if content, err = encode(pixels, o.encodeType); err != nil {
					t.Fatal(err)
				}
			case o.encoded:
				content = file
			}
			want := &caffepb.Datum{
				Channels: proto.Int32(int32(channels)), Height: proto.Int32(int32(pixels.Height)), Width: proto.Int32(int32(pixels.Width)), Data: content, Label: proto.Int32(-3),
			}
			if o.encoded {
				want.Encoded = proto.Bool(true)
			}
			r := &data.Record{Name: name, Label: -3}
			sameRecord(t, o, o.convert(r, func() {}), want)
			detection := func(size annotation.Size) ([]byte, []string, error) {
				if size != (annotation.Size{Height: 30, Width: 50}) {
					t.Errorf("annotations for an image of %+v", size)
				}
				b, err := proto.Marshal(end)
				return b, nil, err
			}
			whole := annotated(want, objects)
			sameRecord(t, o, o.record(r, detection, func() {}), whole)
			sameRecord(t, o, o.record(r, labelled, func() {}), &caffepb.AnnotatedDatum{Datum: want})
		}
	}
}

func sameRecord(t *testing.T, o *imagesetOptions, got convertedImage, want proto.Message) {
	t.Helper()
	b, err := proto.Marshal(want)
	if err != nil || got.err != nil || got.unusable != nil || !bytes.Equal(got.value, b) {
		t.Errorf("%+v, %T: other bytes (errors %v, %v)", o, want, got.err, got.unusable)
	}
	o.memory.values.put(got.value)
}

// TestRecordMemory: beside its bytes in the database a picture needs little memory, and the next one of its size no more.
func TestRecordMemory(t *testing.T) {
	const height, width = 1500, 2000
	name := jpegFile(t, height, width)
	for _, c := range []struct {
		o    *imagesetOptions
		want float64
	}{{&imagesetOptions{}, 1}, {&imagesetOptions{encoded: true}, 0}, {&imagesetOptions{width: 256, height: 256}, 0}} {
		for round, want := range []float64{c.want + 0.25, 0.05} { // a quarter for the file and rows
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			im := c.o.convert(&data.Record{Name: name}, func() {})
			runtime.ReadMemStats(&after)
			if got := float64(after.TotalAlloc-before.TotalAlloc) / (3 * height * width); got > want || im.unusable != nil {
				t.Errorf("%+v, picture %d: %.2f of the pixels' bytes, want %.2f (error %v)", c.o, round, got, want, im.unusable)
			}
			c.o.memory.values.put(im.value)
		}
		c.o.memory.release()
	}
}
