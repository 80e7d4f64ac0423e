package proto

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/conformance"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

func TestMarshalText(t *testing.T) {
	p := &caffepb.NetParameter{
		Layer: []*caffepb.LayerParameter{{
			Name: proto.String("conv \"1\"\n\\\xe9"), LossWeight: []float32{0.01, 1e-5, 1e6, 123456, 16777216, -0.1, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())},
			ConvolutionParam: &caffepb.ConvolutionParameter{Pad: []uint32{1, 2}, Engine: caffepb.ConvolutionParameter_CUDNN.Enum(), WeightFiller: &caffepb.FillerParameter{}},
			Blobs:            []*caffepb.BlobProto{{Data: []float32{1}, DoubleData: []float64{0.1, 1.0 / 3}}},
			PropagateDown:    []bool{true, false},
		}},
		Name:      proto.String("net"),
		Input:     []string{"a", "b"},
		DebugInfo: proto.Bool(false),
		State:     &caffepb.NetState{Phase: caffepb.Phase_TRAIN.Enum(), Level: proto.Int32(-3)},
	}
	want := `name: "net"
input: "a"
input: "b"
state {
  phase: TRAIN
  level: -3
}
debug_info: false
layer {
  name: "conv \"1\"\n\\\351"
  loss_weight: 0.01
  loss_weight: 1e-05
  loss_weight: 1e+06
  loss_weight: 123456
  loss_weight: 1.6777216e+07
  loss_weight: -0.1
  loss_weight: inf
  loss_weight: -inf
  loss_weight: nan
  blobs {
    data: 1
    double_data: 0.1
    double_data: 0.3333333333333333
  }
  propagate_down: true
  propagate_down: false
  convolution_param {
    pad: 1
    pad: 2
    weight_filler {
    }
    engine: CUDNN
  }
}
`
	if got := string(MarshalText(p)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Every net and solver of the conformance cases and of the zoo reads back, here and by protobuf-go, as it was written.
func TestMarshalTextReadsBack(t *testing.T) {
	eachText(t, func(t *testing.T, files []string) { readBack(t, files) })
}

// eachText calls f with the prototxts of the zoo, and of every conformance case.
func eachText(t *testing.T, f func(t *testing.T, files []string)) {
	in := func(t *testing.T, pattern string) []string {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no file matches %s (error %v)", pattern, err)
		}
		return files
	}
	t.Run("zoo", func(t *testing.T) { f(t, in(t, "../models/*/*.prototxt")) })
	conformance.Each(t, []string{"*"}, 350, func(t *testing.T, dir string) { f(t, in(t, filepath.Join(dir, "*.prototxt"))) })
}

// parameter is an empty message for a prototxt, whose name says what it holds.
func parameter(file string) proto.Message {
	if strings.Contains(filepath.Base(file), "solver") {
		return &caffepb.SolverParameter{}
	}
	return &caffepb.NetParameter{}
}

func readBack(t *testing.T, files []string) {
	for _, file := range files {
		m := parameter(file)
		if _, err := ReadText(file, m); err != nil {
			if !strings.HasPrefix(filepath.Base(filepath.Dir(file)), "error_") {
				t.Error(err)
			}
			continue
		}
		text := MarshalText(m)
		theirs, ours := m.ProtoReflect().New().Interface(), m.ProtoReflect().New().Interface()
		if err := prototext.Unmarshal(text, theirs); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if _, err := UnmarshalText(file, text, ours); err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(m, theirs) || !proto.Equal(m, ours) {
			t.Errorf("%s reads back differently:\n%s", file, text)
		}
	}
}

func FuzzStringReadsBack(f *testing.F) {
	f.Add([]byte("plain"))
	f.Add([]byte("'\"\\\x00\xff\n\r\t\x7f?1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text := MarshalText(&caffepb.Datum{Data: data})
		ours, theirs := &caffepb.Datum{}, &caffepb.Datum{}
		if _, err := UnmarshalText("d", text, ours); err != nil || string(ours.Data) != string(data) {
			t.Errorf("%q reads back as %q, error %v", data, ours.Data, err)
		}
		if err := prototext.Unmarshal(text, theirs); err != nil || string(theirs.Data) != string(data) {
			t.Errorf("protobuf-go reads %q back as %q, error %v", data, theirs.Data, err)
		}
	})
}

func TestFloatsReadBack(t *testing.T) {
	for bits := uint32(1); bits < math.MaxUint32-0x100001; bits += 0x100001 {
		v := math.Float32frombits(bits)
		if math.IsNaN(float64(v)) {
			continue
		}
		floatReadsBack(t, v)
	}
	for _, bits := range []uint32{1, 0x15ae43fd, 0x7f7fffff, 0xff7fffff} { // the shortest form of the second, 7.038531e-26, is the next float for C++
		floatReadsBack(t, math.Float32frombits(bits))
	}
}

// floatReadsBack checks the text of a float: it must give the float when rounded once, as protobuf-go does, and through a double.
func floatReadsBack(t *testing.T, v float32) {
	t.Helper()
	text := floatText(float64(v), 32)
	once, err := strconv.ParseFloat(text, 32)
	if twice, err2 := parseFloat(text); err != nil || err2 != nil || float32(once) != v || roundFloat(twice) != v {
		t.Fatalf("%v is written %s and reads back as %v and %v, errors %v, %v", v, text, once, twice, err, err2)
	}
}

// Errors of ReadText name the path it was given.
func TestReadTextNamesTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net.prototxt")
	if err := os.WriteFile(file, []byte("name: 1"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := ReadText(file, &caffepb.NetParameter{})
	if want := file + `:1:7: field "name": "1" is not a string in quotes`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := ReadText(file+"x", &caffepb.NetParameter{}); !os.IsNotExist(err) {
		t.Errorf("a missing file gives %v", err)
	}
}
