package proto

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// ramp returns values that differ.
func ramp(n int, from float32) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = from + float32(i)/8
	}
	return values
}

// longModel has lists longer and shorter than the limit for staying in the file, of values and gradients, and unknown fields.
func longModel() *caffepb.NetParameter {
	m := smallModel()
	for i, n := range []int{longBytes / floatBytes, longBytes/floatBytes - 1, 40000, 0, 3} {
		m.Layer = append(m.Layer, &caffepb.LayerParameter{Name: proto.String("long"), Blobs: []*caffepb.BlobProto{
			{Shape: &caffepb.BlobShape{Dim: []int64{int64(n)}}, Data: ramp(n, float32(i))},
			{Num: proto.Int32(1), Channels: proto.Int32(int32(n)), Height: proto.Int32(1), Width: proto.Int32(1), Data: ramp(n, 2), Diff: ramp(n, -7)},
		}})
		unknown := protowire.AppendTag(nil, 999, protowire.BytesType)
		m.Layer[len(m.Layer)-1].ProtoReflect().SetUnknown(protowire.AppendBytes(unknown, []byte("nobody knows")))
	}
	m.State = &caffepb.NetState{Level: proto.Int32(3)}
	return m
}

// TestWriteBinaryIsMarshal: field by field, a file gets the bytes of a deterministic Marshal.
func TestWriteBinaryIsMarshal(t *testing.T) {
	history := make([]*caffepb.BlobProto, 0, 3)
	for n := range 3 {
		history = append(history, &caffepb.BlobProto{Shape: &caffepb.BlobShape{Dim: []int64{int64(9000 * n)}}, Data: ramp(9000*n, 1)})
	}
	for _, m := range []proto.Message{
		&caffepb.NetParameter{}, smallModel(), longModel(), longModel().Layer[4].Blobs[1],
		&caffepb.SolverState{Iter: proto.Int32(4), LearnedNet: proto.String("m"), History: history,
			RunState: &caffepb.RunState{RandomState: bytes.Repeat([]byte{7}, wholeBytes), Seed: proto.Uint64(1)}},
		&caffepb.WorkerState{Strategy: proto.String("easgd"), State: ramp(50000, 1), Velocity: ramp(50000, 2)},
		&caffepb.BlobProto{DoubleData: slices.Repeat([]float64{1.5, -3}, 20000)},
	} {
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "m")
		if err := WriteBinary(file, m); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, file); !bytes.Equal(got, want) {
			t.Errorf("%s of %d bytes: %d bytes are written, or others", m.ProtoReflect().Descriptor().Name(), len(want), len(got))
		}
	}
	if err := WriteBinary(filepath.Join(t.TempDir(), "m"), &caffepb.ClipParameter{Min: proto.Float32(0)}); err == nil || !strings.Contains(err.Error(), "max") {
		t.Errorf("a message without a required field: %v", err)
	}
}

// whole puts the values that stayed in the file into their messages, and says how many lists did.
func whole(t *testing.T, s *Stored, blobs []*caffepb.BlobProto) (far int) {
	t.Helper()
	for _, b := range blobs {
		data, diff := s.Counts(b)
		if data > len(b.Data) {
			far++
		}
		values, gradients := make([]float32, data), make([]float32, diff)
		if err := s.Data(b, values); err != nil {
			t.Fatal(err)
		}
		if err := s.Diff(b, gradients); err != nil {
			t.Fatal(err)
		}
		b.Data, b.Diff = values, gradients
	}
	return far
}

// TestOpenWeights: weights read on demand equal those in the file, whoever wrote it.
func TestOpenWeights(t *testing.T) {
	marshal := func(m proto.Message) []byte {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	old := &caffepb.NetParameter{Layers: []*caffepb.V1LayerParameter{{Name: proto.String("v1"), Blobs: longModel().Layer[4].Blobs}}}
	oldest := &caffepb.NetParameter{Layers: []*caffepb.V1LayerParameter{{Layer: &caffepb.V0LayerParameter{
		Name: proto.String("v0"), Type: proto.String("conv"), Blobs: longModel().Layer[4].Blobs}}}}
	// A layer in two pieces with parts of one list, and a layer whose list is not packed.
	piece := func(values []float32) []byte { return marshal(&caffepb.BlobProto{Data: values}) }
	layer := func(blob []byte) []byte {
		l := protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), blob)
		return protowire.AppendBytes(protowire.AppendTag(nil, 100, protowire.BytesType), l)
	}
	var loose []byte
	for range longBytes {
		loose = protowire.AppendFixed32(protowire.AppendTag(loose, blobData, protowire.Fixed32Type), 0x3f800000)
	}
	for _, c := range []struct {
		name string
		data []byte
		far  int
	}{
		{"short", marshal(smallModel()), 0}, {"long", marshal(longModel()), 4}, {"V1", marshal(old), 2}, {"V0", marshal(oldest), 2},
		{"pieces", layer(append(piece(ramp(5000, 1)), piece(ramp(6000, 2))...)), 0},
		{"a short piece first", layer(append(piece(ramp(5, 1)), piece(ramp(6000, 2))...)), 0},
		{"a short piece behind", layer(append(piece(ramp(5000, 1)), piece(ramp(6, 2))...)), 0},
		{"not packed", layer(loose), 0},
	} {
		file := filepath.Join(t.TempDir(), "w.caffemodel")
		if err := os.WriteFile(file, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		want, _, err := ReadBinaryNet(file)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, err := OpenWeights(file)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		far := 0
		for _, l := range got.Param.Layer {
			far += whole(t, got.Stored, l.Blobs)
		}
		same := len(got.Param.Layer) == len(want.Layer) && len(got.Param.Layers) == 0
		for i, l := range want.Layer {
			whole(t, nil, l.Blobs) // an empty list is none
			same = same && proto.Equal(got.Param.Layer[i], &caffepb.LayerParameter{Name: l.Name, Type: l.Type, Blobs: l.Blobs})
		}
		if far != c.far || !same {
			t.Errorf("%s: %d lists stayed in the file, want %d; equal names, types and blobs: %t", c.name, far, c.far, same)
		}
		if err := got.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOpenDamaged: the errors are those of reading the file whole.
func TestOpenDamaged(t *testing.T) {
	data, err := proto.Marshal(longModel())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "w.caffemodel")
	for n := 0; n < len(data); n += 997 {
		if err := os.WriteFile(file, data[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, want := ReadBinaryNet(file)
		_, got := OpenWeights(file)
		if want == nil || got == nil || got.Error() != want.Error() {
			t.Errorf("cut at %d: got  %v\nwant %v", n, got, want)
		}
	}
	if _, err := OpenState(file); err == nil || !strings.HasPrefix(err.Error(), file) {
		t.Errorf("damaged weights in the place of a state: %v", err)
	}
	if _, err := OpenWeights(filepath.Join(file, "none")); err == nil {
		t.Error("a file that is not there is opened")
	}
	if _, err := OpenWeights(t.TempDir()); err == nil {
		t.Error("a folder is opened")
	}
}

// TestStoredFileShrinks: truncating a file after it was opened gives an error that names it.
func TestStoredFileShrinks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w.caffemodel")
	if err := WriteBinary(file, longModel()); err != nil {
		t.Fatal(err)
	}
	w, err := OpenWeights(file)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := os.Truncate(file, 100); err != nil {
		t.Fatal(err)
	}
	if err := w.Data(w.Param.Layer[4].Blobs[0], make([]float32, 40000)); err == nil || !strings.HasPrefix(err.Error(), file+": ") {
		t.Errorf("got %v", err)
	}
}

// TestOpenWeightsOfForks: a layer's parameters may be another fork's message, or lack what ours must have. Its name, type and blobs are read, from files
// and from streams.
func TestOpenWeightsOfForks(t *testing.T) {
	const clipParam = 148
	field := func(b []byte, num protowire.Number, body []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), body)
	}
	blob, err := proto.Marshal(&caffepb.BlobProto{Shape: &caffepb.BlobShape{Dim: []int64{2000}}, Data: ramp(2000, 1)})
	if err != nil {
		t.Fatal(err)
	}
	for _, params := range [][]byte{
		field(nil, clipParam, nil),                                       // OpenPose: an empty message, where min and max must be given
		field(nil, clipParam, []byte("\x0d12")),                          // a float that is cut off
		field(nil, clipParam, []byte("\xff\xff\xff\xff")),                // no message at all
		field(field(nil, 100, []byte{0x0a}), 104, []byte("\x0b")),        // transform_param and concat_param of others
		protowire.AppendVarint(protowire.AppendTag(nil, 106, 0), 7),      // a number in the place of convolution_param
		field(nil, 6, field(nil, 1, []byte("shared"))),                   // param, as in our own files
		field(nil, 8, field(nil, 3, []byte("\x00"))[:2]),                 // include, damaged
		field(field(nil, 9999, []byte("unknown")), clipParam, []byte{7}), // an unknown field as well
	} {
		layer := field(field(field(append([]byte{}, params...), 1, []byte("ip")), 2, []byte("InnerProduct")), 7, blob)
		net := field(field(nil, 1, []byte("net")), 100, layer)
		file := filepath.Join(t.TempDir(), "w.caffemodel")
		if err := os.WriteFile(file, net, 0o644); err != nil {
			t.Fatal(err)
		}
		w, err := OpenWeights(file)
		if err != nil {
			t.Errorf("% x: %v", params, err)
			continue
		}
		l := w.Param.Layer[0]
		if far := whole(t, w.Stored, l.Blobs); far != 1 || l.GetName() != "ip" || l.GetType() != "InnerProduct" || !slices.Equal(l.Blobs[0].Data, ramp(2000, 1)) {
			t.Errorf("% x: %d lists in the file, layer %v", params, far, l)
		}
		w.Close()
		x, p := &indexer{from: bytes.NewReader(net), whole: true}, &caffepb.NetParameter{}
		if err := x.message(p.ProtoReflect(), span{0, int64(len(net))}); err != nil || !proto.Equal(p.Layer[0], l) {
			t.Errorf("% x, read whole: %v, error %v", params, p, err)
		}
	}
}

// TestOpenWeightsWithoutLayers: a net without layers is read; what parses as a net by chance is no net.
func TestOpenWeightsWithoutLayers(t *testing.T) {
	for _, c := range []struct {
		m    proto.Message
		want string
	}{
		{&caffepb.NetParameter{Name: proto.String("empty")}, ""},
		{&caffepb.BlobProto{Num: proto.Int32(1), Channels: proto.Int32(3), Height: proto.Int32(4), Width: proto.Int32(4), Data: ramp(48, 1)}, "no weights: the file has no layers"},
		{&caffepb.SolverState{Iter: proto.Int32(5), LearnedNet: proto.String("x.caffemodel")}, "a solver state, which has no weights: those are in x.caffemodel"},
	} {
		file := filepath.Join(t.TempDir(), "w.caffemodel")
		if err := WriteBinary(file, c.m); err != nil {
			t.Fatal(err)
		}
		w, err := OpenWeights(file)
		if c.want == "" && err == nil && len(w.Param.Layer) == 0 {
			continue
		}
		if c.want == "" || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.m, err, c.want)
		}
	}
}

// TestInt8Values: values of 8 bits are read times the scales of their parts, and scales that do not divide them are an error.
func TestInt8Values(t *testing.T) {
	var s *Stored
	p := &caffepb.BlobProto{Int8Data: &caffepb.Int8Values{Data: []byte{1, 0x80, 0xff, 127}, Scale: []float32{0.5, 2}}}
	if n, diff := s.Counts(p); n != 4 || diff != 0 {
		t.Fatalf("%d values, %d gradients", n, diff)
	}
	got := make([]float32, 4)
	if err := s.Data(p, got); err != nil || !slices.Equal(got, []float32{0.5, -64, -2, 254}) {
		t.Errorf("%v, %v", got, err)
	}
	p.Data = make([]float32, 8)
	if n, _ := s.Counts(p); n != 4 {
		t.Errorf("with 8 values of fp32 beside them, the 4 bytes are %d values", n)
	}
	p.Int8Data.Scale = []float32{1, 1, 1}
	if err := s.Data(p, got); err == nil || err.Error() != "int8_data has 3 scales for 4 values" {
		t.Error(err)
	}
}
