package data

import (
	"math"
	"path/filepath"
	"testing"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// TestRestore: restored pixels are those of the central crop, for means of every kind.
func TestRestore(t *testing.T) {
	const channels, height, width, crop = 3, 7, 9, 4
	pixels := Pixels{Channels: channels, Height: height, Width: width, StrideC: height * width, StrideY: width, StrideX: 1, Bytes: make([]byte, channels*height*width)}
	mean := make([]float32, len(pixels.Bytes))
	for i := range pixels.Bytes {
		pixels.Bytes[i], mean[i] = byte(i*37), float32(i*11%200)
	}
	path := filepath.Join(t.TempDir(), "mean.binaryproto")
	if err := swproto.WriteBinary(path, &caffepb.BlobProto{Num: proto.Int32(1), Channels: proto.Int32(channels), Height: proto.Int32(height), Width: proto.Int32(width), Data: mean}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*caffepb.TransformationParameter{
		{}, {Scale: proto.Float32(0.0078125), MeanFile: &path}, {MeanValue: []float32{7}}, {Scale: proto.Float32(0.017), MeanValue: []float32{7, 8, 99}},
	} {
		p.CropSize = proto.Uint32(crop)
		tr, err := NewTransformer(p, caffepb.Phase_TEST)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float32, channels*crop*crop)
		if err := tr.Transform(y, [3]int{channels, crop, crop}, pixels, 1, 0); err != nil {
			t.Fatal(err)
		}
		tr.Restore(y, [3]int{channels, crop, crop})
		for i, got := range y {
			c, h, w := i/(crop*crop), i/crop%crop, i%crop
			want := float64(pixels.Bytes[(c*height+1+h)*width+2+w])
			if math.Abs(float64(got)-want) > 1e-3 {
				t.Fatalf("%v: value %d is %g, want %g", p, i, got, want)
			}
		}
	}
}
