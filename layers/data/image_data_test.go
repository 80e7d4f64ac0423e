package data

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/testkit/conformance"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
)

// imageCase builds the first layer of a conformance case's net, in the case's folder.
func imageCase(t *testing.T, dir string, d *layers.Device) layers.Layer {
	t.Helper()
	t.Chdir(dir)
	text, err := os.ReadFile("net.prototxt")
	if err != nil {
		t.Fatal(err)
	}
	var net caffepb.NetParameter
	if err := prototext.Unmarshal(text, &net); err != nil {
		t.Fatal(err)
	}
	net.Layer[0].Phase = caffepb.Phase_TEST.Enum()
	entry, err := layers.Find(net.Layer[0].GetType())
	if err != nil {
		t.Fatal(err)
	}
	l := entry.New(net.Layer[0], d)
	t.Cleanup(func() { l.(layers.Closer).Close() })
	return l
}

// TestImageDataBatches compares the batches of the conformance cases' ImageData layers.
func TestImageDataBatches(t *testing.T) {
	devices := dataDevices(t)
	conformance.Each(t, []string{"data_image*"}, 6, func(t *testing.T, dir string) {
		for name, d := range devices {
			t.Run(name, func(t *testing.T) {
				l := imageCase(t, dir, d)
				text, err := os.ReadFile("expected.json")
				if err != nil {
					t.Fatal(err)
				}
				var want struct {
					Outputs    map[string][]float64
					RTol, ATol float64
				}
				if err := json.Unmarshal(text, &want); err != nil {
					t.Fatal(err)
				}
				top := []*blob.Blob{{}, {}}
				if err := l.SetUp(nil, top); err != nil {
					t.Fatal(err)
				}
				var got [2][]float32
				for len(got[0]) < len(want.Outputs["data"]) || len(got[1]) < len(want.Outputs["label"]) {
					if err := l.Forward(nil, top); err != nil {
						t.Fatal(err)
					}
					got[0], got[1] = append(got[0], top[0].Data()...), append(got[1], top[1].Data()...)
				}
				for i, blob := range []string{"data", "label"} {
					for j, w := range want.Outputs[blob] {
						if !(math.Abs(float64(got[i][j])-w) <= want.ATol+want.RTol*math.Abs(w)) {
							t.Fatalf("%s[%d] = %v, want %v", blob, j, got[i][j], w)
						}
					}
				}
			})
		}
	})
}

func TestImageDataErrors(t *testing.T) {
	d := dataDevices(t)["mpe"]
	for _, c := range []struct{ text, want string }{
		{"image_data_param { batch_size: 1 }", "source is not set"},
		{`image_data_param { source: "/no/such/list.txt" }`, "/no/such/list.txt"},
		{`image_data_param { source: "x" batch_size: 0 }`, "batch_size must be positive"},
		{`image_data_param { source: "x" new_height: 3 }`, "new_height 3 and new_width 0"},
	} {
		var p caffepb.LayerParameter
		if err := prototext.Unmarshal([]byte(c.text), &p); err != nil {
			t.Fatal(err)
		}
		l := &imageDataLayer{batchLayer{Base: layers.Base{Param: &p, Device: d}}}
		if err := l.SetUp(nil, []*blob.Blob{{}}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
}
