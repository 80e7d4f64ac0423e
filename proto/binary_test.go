package proto

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/conformance"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func smallModel() *caffepb.NetParameter {
	return &caffepb.NetParameter{
		Name: proto.String("small"),
		Layer: []*caffepb.LayerParameter{
			{Name: proto.String("a"), Type: proto.String("ReLU")},
			{Name: proto.String("ip"), Type: proto.String("InnerProduct"), Blobs: []*caffepb.BlobProto{
				{Shape: &caffepb.BlobShape{Dim: []int64{2, 3}}, Data: []float32{1, 2, 3, 4, 5, 6}},
				{Shape: &caffepb.BlobShape{Dim: []int64{2}}, Data: []float32{7, 8}},
			}},
		},
	}
}

func TestBinaryRoundTrip(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	for _, path := range []string{one, two} {
		if err := WriteBinary(path, smallModel()); err != nil {
			t.Fatal(err)
		}
	}
	got, warnings, err := ReadBinaryNet(one)
	if err != nil || len(warnings) > 0 || !proto.Equal(got, smallModel()) {
		t.Errorf("got %v, error %v", got, err)
	}
	a, b := readFile(t, one), readFile(t, two)
	if !bytes.Equal(a, b) {
		t.Error("equal messages give different bytes")
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTruncatedWeights cuts a model at every byte. Where the cut is not between two fields the error names the file,
// its size and the place.
func TestTruncatedWeights(t *testing.T) {
	whole, err := proto.Marshal(smallModel())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "w.caffemodel")
	ends := map[int]bool{len("small") + 2: true}
	for keep := 1; keep <= 2; keep++ {
		m := smallModel()
		m.Layer = m.Layer[:keep]
		ends[proto.Size(m)] = true
	}
	for n := range len(whole) + 1 {
		if err := os.WriteFile(file, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := OpenWeights(file)
		if (err == nil) != ends[n] {
			t.Errorf("cut at %d: error %v", n, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), file+": ") {
			t.Errorf("cut at %d: the error does not name the file: %v", n, err)
		}
	}
}

func TestUnreadableBinary(t *testing.T) {
	whole, err := proto.Marshal(smallModel())
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	at := bytes.Index(damaged, []byte("InnerProduct")) - 1
	damaged[at] = 0x7f // the length of the type
	state, err := proto.Marshal(&caffepb.SolverState{Iter: proto.Int32(3)})
	if err != nil {
		t.Fatal(err)
	}
	clip, err := proto.MarshalOptions{AllowPartial: true}.Marshal(&caffepb.NetParameter{Layer: []*caffepb.LayerParameter{
		{ClipParam: &caffepb.ClipParameter{Min: proto.Float32(0)}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "the file is empty, expected a binary NetParameter"},
		{"cut", whole[:len(whole)-3], "not a whole binary NetParameter: the file ends early: layer[1] at byte 19 has a size of 69 bytes, 66 are left (the file has 88 bytes)"},
		{"damaged", damaged, "not a whole binary NetParameter: layer[1].type at byte 26 has a size of 127 bytes, 63 are left of layer[1] (the file has 91 bytes)"},
		{"garbage", []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "not a whole binary NetParameter: byte 0 is not the start of a field (the file has 11 bytes)"},
		{"cut number", []byte("\x28\x80\x80"), "not a whole binary NetParameter: the file ends early: force_backward at byte 0 is cut off or damaged (the file has 3 bytes)"},
		{"cut size", []byte("\x0a\x80"), "not a whole binary NetParameter: the file ends early: name at byte 0 is cut off or damaged (the file has 2 bytes)"},
		{"unknown field", []byte("\xa2\x06\x01\x00\xba\x3e\x09\x00"), "not a whole binary NetParameter: byte 3 of layer[0] is not the start of a field"},
		{"text", []byte("name: 'net'\n"), "not a whole binary NetParameter: it is text (the file has 12 bytes)"},
		{"UTF-16", []byte("\xff\xfen\x00a\x00"), "it is text in UTF-16; save it as UTF-8"},
		{"HDF5", []byte("\x89HDF\r\n\x1a\n\x00\x00"), "not a binary NetParameter: it is an HDF5 file"},
		{"pointer", []byte("version https://git-lfs.github.com/spec/v1\n"), "not a whole binary NetParameter: it is a Git LFS pointer, not the file it stands for (the file has 43 bytes)"},
		{"solver state", state, "not a binary NetParameter: none of its fields is there"},
		{"required", clip, "ClipParameter.max"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "w.caffemodel")
			if err := os.WriteFile(file, c.data, 0o644); err != nil {
				t.Fatal(err)
			}
			_, _, whole := ReadBinaryNet(file)
			_, weights := OpenWeights(file)
			for _, err := range []error{whole, weights} {
				if c.name == "required" && err == weights {
					continue // of a layer's parameters, which weights do not need
				}
				if err == nil || !strings.HasPrefix(err.Error(), file+": ") || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got  %v\nwant %s: ... %s", err, file, c.want)
				}
			}
		})
	}
}

func TestReadNetTakesBinary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net.binaryproto")
	if err := WriteBinary(file, smallModel()); err != nil {
		t.Fatal(err)
	}
	n, err := ReadNet(file)
	if err != nil || !proto.Equal(n.Param, smallModel()) {
		t.Fatalf("got %v, error %v", n, err)
	}
	if pos := n.LayerPos(0); pos != file {
		t.Errorf("a layer of a binary file stands at %q", pos)
	}
}

// Weights in all forms that versions of Caffe wrote, by other writers than ours: all are read, and nothing that the schema does not know.
func TestConformanceWeights(t *testing.T) {
	conformance.Each(t, []string{"[^e]*"}, 292, knownWeights)
}

// knownWeights reads all weights of a case, and wants values for every blob.
func knownWeights(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.caffemodel"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		p, _, err := ReadBinaryNet(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if unknown := p.ProtoReflect().GetUnknown(); len(unknown) > 0 {
			t.Errorf("%s: unknown fields % x", file, unknown)
		}
		for _, l := range p.Layer {
			if unknown := l.ProtoReflect().GetUnknown(); len(unknown) > 0 {
				t.Errorf("%s: layer %s: unknown fields % x", file, l.GetName(), unknown)
			}
			for i, b := range l.Blobs {
				if len(b.Data)+len(b.DoubleData) == 0 {
					t.Errorf("%s: layer %s: blob %d has no values", file, l.GetName(), i)
				}
			}
		}
	}
}

func FuzzReadBinary(f *testing.F) {
	whole, err := proto.Marshal(smallModel())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &caffepb.NetParameter{}
		if err := unmarshalBinary("file", data, p); err != nil {
			return
		}
		if _, err := UpgradeNet(p, "file"); err != nil && err.Error() == "" {
			t.Error("an error without a text")
		}
	})
}

// FuzzOpenBinary: reading on demand gives the names, types and blobs of the whole file. It fails with the same error, or because there are no
// layers. Only parameters of layers may be damaged in a file that it reads.
func FuzzOpenBinary(f *testing.F) {
	for _, m := range []*caffepb.NetParameter{smallModel(), longModel()} {
		data, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	file := filepath.Join(f.TempDir(), "w.caffemodel")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		want, _, wantErr := ReadBinaryNet(file)
		got, gotErr := OpenWeights(file)
		switch {
		case gotErr != nil && strings.Contains(gotErr.Error(), "the file has no layers"):
			return
		case gotErr != nil && (wantErr == nil || wantErr.Error() != gotErr.Error()):
			t.Fatalf("got %v, want %v", gotErr, wantErr)
		case gotErr != nil:
			return
		case wantErr != nil:
			got.Close()
			return
		}
		for i, l := range got.Param.Layer {
			whole(t, got.Stored, l.Blobs)
			whole(t, nil, want.Layer[i].Blobs)
			named := &caffepb.LayerParameter{Name: want.Layer[i].Name, Type: want.Layer[i].Type, Blobs: want.Layer[i].Blobs}
			a, _ := proto.MarshalOptions{Deterministic: true}.Marshal(l)
			b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(named)
			if !bytes.Equal(a, b) { // NaNs are equal here
				t.Error("other messages")
			}
		}
		if err := got.Close(); err != nil {
			t.Error(err)
		}
	})
}
