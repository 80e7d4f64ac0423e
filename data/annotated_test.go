package data

import (
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/augment"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// FuzzAnnotated sends any bytes through all that an annotated record goes through. A record that swcaffe takes is one for protobuf, too.
func FuzzAnnotated(f *testing.F) {
	param := &caffepb.TransformationParameter{}
	if err := prototext.Unmarshal([]byte(`mirror: true crop_h: 6 crop_w: 5 emit_constraint { }
		resize_param { resize_mode: FIT_LARGE_SIZE_AND_PAD height: 9 width: 8 interp_mode: AREA interp_mode: LANCZOS4 } expand_param { max_expand_ratio: 2 }
		distort_param { brightness_prob: 0.5 brightness_delta: 32 } noise_param { erode: true }`), param); err != nil {
		f.Fatal(err)
	}
	sampler := &caffepb.BatchSampler{Sampler: &caffepb.Sampler{MinScale: proto.Float32(0.2)}, MaxTrials: proto.Uint32(3)}
	tr, err := NewImageTransformer(param, caffepb.Phase_TRAIN)
	if err != nil {
		f.Fatal(err)
	}
	augmenter, err := augment.New(param, &caffepb.AnnotatedDataParameter{BatchSampler: []*caffepb.BatchSampler{sampler}})
	if err != nil {
		f.Fatal(err)
	}
	box := &caffepb.NormalizedBBox{Xmin: proto.Float32(0.1), Ymin: proto.Float32(0.2), Xmax: proto.Float32(0.7), Ymax: proto.Float32(1.4)}
	f.Add(marshal(f, &caffepb.AnnotatedDatum{
		Type: caffepb.AnnotatedDatum_BBOX.Enum(), Datum: &caffepb.Datum{Channels: proto.Int32(1), Height: proto.Int32(2), Width: proto.Int32(3), Data: []byte("abcdef")},
		AnnotationGroup: []*caffepb.AnnotationGroup{{GroupLabel: proto.Int32(3), Annotation: []*caffepb.Annotation{{Bbox: box}}}},
	}))
	f.Add([]byte("\x0a\x00\x10\x00\x1a\x04\x12\x02\x12\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := AnnotatedDecoder{Transformer: tr, Augmenter: augmenter, Seed: 1, Typed: true}
		r := &Record{Raw: b, Item: uint64(len(b))}
		p, _, err := d.Decode(r, &Scratch{})
		if err != nil {
			return
		}
		if err := proto.Unmarshal(b, &caffepb.AnnotatedDatum{}); err != nil && !strings.Contains(err.Error(), "utf-8") {
			t.Errorf("protobuf refuses it: %v", err)
		}
		for _, o := range r.Objects {
			if b := o.Box; !(b.XMin >= 0 && b.YMin >= 0 && b.XMax <= 1 && b.YMax <= 1 && b.XMin <= b.XMax && b.YMin <= b.YMax) {
				t.Errorf("object %+v", o)
			}
		}
		shape, err := tr.Shape(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Transform(make([]float32, shape[0]*shape[1]*shape[2]), shape, p, 1, r.Item); err != nil {
			t.Fatal(err)
		}
	})
}
