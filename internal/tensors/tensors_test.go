package tensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// writer makes files with numpy and a writer of safetensors of its own: 120 arrays of 0 to 5 axes, in all types and both orders of bytes, axes in
// Fortran's order too. Beside them it writes the values as float32.
const writer = `
import json, struct, sys, numpy as np
folder = sys.argv[1]
draw = np.random.RandomState(7)
arrays, want = {}, {}
for i in range(120):
    shape = tuple(draw.randint(0 if i % 9 == 0 else 1, 6, size=i % 6))
    a = draw.standard_normal(shape) * 10.0 ** draw.randint(-9, 5)
    a = np.asarray(a).astype(['<f4', '<f8', '<f2', '>f4', '>f8', '>f2'][draw.randint(6)])
    if i % 3 == 0 and a.ndim:
        a = np.asfortranarray(a)
    name = 'layer%d/%d' % (i, i % 4)
    arrays[name] = a
    want[name] = [[int(d) for d in shape], [float(v) for v in a.astype(np.float32).reshape(-1)]]
arrays['counter'] = np.int64(3)
np.savez(folder + '/plain.npz', **arrays)
np.savez_compressed(folder + '/packed.npz', **arrays)
def brain(a):
    return (np.ascontiguousarray(a.astype('<f4')).view('<u4') >> 16).astype('<u2')
header, body = {'__metadata__': {'made': 'by a test'}}, b''
for i, (name, a) in enumerate(sorted(arrays.items(), reverse=True)):
    a = np.asarray(a).astype(a.dtype.newbyteorder('<'))
    kind = {'f2': 'F16', 'f4': 'F32', 'f8': 'F64', 'i8': 'I64'}[a.dtype.str[1:]]
    raw = a.tobytes()
    header[name] = {'dtype': kind, 'shape': [int(d) for d in a.shape], 'data_offsets': [len(body), len(body) + len(raw)]}
    body += raw
names = sorted(k for k in header if k != '__metadata__')
text = json.dumps({k: header[k] for k in ['__metadata__'] + names}).encode()
open(folder + '/mixed.safetensors', 'wb').write(struct.pack('<Q', len(text)) + text + body)
b = brain(np.float32([[1, -2.5], [3e38, 1e-3]]))
text = json.dumps({'b': {'dtype': 'BF16', 'shape': [2, 2], 'data_offsets': [0, 8]}}).encode()
open(folder + '/brain.safetensors', 'wb').write(struct.pack('<Q', len(text)) + text + b.tobytes())
json.dump(want, open(folder + '/want.json', 'w'))
`

// reader reads what Write wrote, and prints names, shapes and values.
const reader = `
import json, struct, sys, numpy as np
path, found = sys.argv[1], {}
if path.endswith('.npz'):
    for name, a in np.load(path, allow_pickle=False).items():
        assert a.dtype == np.float32 and a.flags['C_CONTIGUOUS']
        found[name] = [list(a.shape), a.reshape(-1).tolist()]
else:
    raw = open(path, 'rb').read()
    n, = struct.unpack('<Q', raw[:8])
    assert n % 8 == 0
    header, at = json.loads(raw[8:8 + n]), 0
    header.pop('__metadata__')
    for name, e in header.items():
        begin, end = e['data_offsets']
        assert e['dtype'] == 'F32' and begin == at
        at = end
        found[name] = [e['shape'], np.frombuffer(raw[8 + n + begin:8 + n + end], '<f4').tolist()]
    assert at == len(raw) - 8 - n
print(json.dumps(found))
`

func python(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	if err := exec.Command("/usr/bin/python3", "-c", "import numpy").Run(); err != nil {
		t.Skip("needs Debian's python3-numpy")
	}
	c := exec.Command("/usr/bin/python3", append([]string{"-c", program}, args...)...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return out
}

// same reports whether both are the same float32, or both NaN.
func same(a float32, b float64) bool { return a == float32(b) || a != a && b != b }

func compare(t *testing.T, label string, list []Tensor, want map[string][]json.RawMessage) {
	t.Helper()
	floats := 0
	for _, got := range list {
		if got.Name == "counter" {
			if got.Values != nil || !strings.Contains(strings.ToLower(got.Type), "i") {
				t.Errorf("%s: counter has type %s and values %v", label, got.Type, got.Values)
			}
			continue
		}
		floats++
		var shape []int
		var values []float64
		if err := json.Unmarshal(want[got.Name][0], &shape); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(want[got.Name][1], &values); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(shape) != fmt.Sprint(got.Shape) || len(values) != len(got.Values) {
			t.Fatalf("%s: %s has shape %v and %d values, want %v and %d", label, got.Name, got.Shape, len(got.Values), shape, len(values))
		}
		for i, v := range values {
			if !same(got.Values[i], v) {
				t.Fatalf("%s: %s, %s: value %d is %v, want %v", label, got.Name, got.Type, i, got.Values[i], v)
			}
		}
	}
	if floats != len(want) {
		t.Errorf("%s has %d arrays, want %d", label, floats, len(want))
	}
}

// TestAgainstNumpy reads files that numpy wrote, and has numpy read those of Write.
func TestAgainstNumpy(t *testing.T) {
	dir := t.TempDir()
	python(t, writer, dir)
	raw, err := os.ReadFile(filepath.Join(dir, "want.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string][]json.RawMessage
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	var list []Tensor
	for _, name := range []string{"plain.npz", "packed.npz", "mixed.safetensors"} {
		if list, err = Read(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		compare(t, name, list, want)
	}
	brain, err := Read(filepath.Join(dir, "brain.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range []float64{1, -2.5, 3e38, 1e-3} {
		if got := float64(brain[0].Values[i]); math.Abs(got-v) > math.Abs(v)/128 {
			t.Errorf("bfloat16 %d is %v, want about %v", i, got, v)
		}
	}

	var floats []Tensor
	for _, x := range list {
		if x.Values != nil {
			floats = append(floats, x)
		}
	}
	for _, ending := range Formats() {
		path := filepath.Join(dir, "ours"+ending)
		var once, twice bytes.Buffer
		if err := Write(&once, path, floats); err != nil {
			t.Fatal(err)
		}
		if err := Write(&twice, path, floats); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("%s has other bytes the second time", ending)
		}
		if err := os.WriteFile(path, once.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		var found map[string][]json.RawMessage
		if err := json.Unmarshal(python(t, reader, path), &found); err != nil {
			t.Fatal(err)
		}
		compare(t, "what Python reads of "+ending, floats, found)
		again, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "what Read reads of "+ending, again, want)
	}
}

func safetensorsFile(header string, body int) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), make([]byte, body)...)
}

// TestDamaged reads files that are not what they say.
func TestDamaged(t *testing.T) {
	var npz bytes.Buffer
	if err := writeNPZ(&npz, []Tensor{{Name: "a", Shape: []int{3}, Values: []float32{1, 2, 3}}}); err != nil {
		t.Fatal(err)
	}
	var claims bytes.Buffer
	if err := writeNPZ(&claims, []Tensor{{Name: "a", Shape: []int{4}, Values: []float32{1, 2, 3}}}); err != nil {
		t.Fatal(err)
	}
	wrongSum := bytes.Clone(npz.Bytes())
	wrongSum[bytes.Index(wrongSum, []byte{0, 0, 0x80, 0x3f})] ^= 1
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"short", []byte("abc"), "neither safetensors nor npz"},
		{"text", []byte("layer { name: \"x\" type: \"ReLU\" }"), "neither safetensors nor npz"},
		{"no object", safetensorsFile("[]", 0), "no JSON object"},
		{"twice", safetensorsFile(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), `"a" twice`},
		{"gap", safetensorsFile(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), "bytes [4 8], but 0 is next"},
		{"past the end", safetensorsFile(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 4), "the file has 4"},
		{"other size", safetensorsFile(`{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, 8), "has 8 bytes, not 12"},
		{"rest", safetensorsFile(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 8), "4 bytes behind the last"},
		{"negative", safetensorsFile(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 4), "negative"},
		{"huge", safetensorsFile(`{"a":{"dtype":"F32","shape":[65536,65536,65536,65536],"data_offsets":[0,4]}}`, 4), "more than"},
		{"no offsets", safetensorsFile(`{"a":{"dtype":"F32","shape":[1]}}`, 4), "bytes []"},
		{"npz, more values said", claims.Bytes(), "3 of 4 values"},
		{"npz, damaged", wrongSum, "checksum"},
		{"npz, cut", npz.Bytes()[:npz.Len()-4], "zip"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, c.file, 0o666); err != nil {
			t.Fatal(err)
		}
		list, err := Read(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v and %d tensors, want an error with %q", c.name, err, len(list), c.want)
		}
	}
}

// FuzzRead reads any bytes. What is read is written and read again.
func FuzzRead(f *testing.F) {
	list := []Tensor{{Name: "a", Shape: []int{2, 1}, Values: []float32{1, 2}}, {Name: "b", Values: []float32{3}}}
	for _, ending := range Formats() {
		var w bytes.Buffer
		if err := Write(&w, ending, list); err != nil {
			f.Fatal(err)
		}
		f.Add(w.Bytes())
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, file, 0o666); err != nil {
			t.Fatal(err)
		}
		list, err := Read(path)
		if err != nil {
			return
		}
		for _, x := range list {
			if x.Values != nil && len(x.Values) != Count(x.Shape) {
				t.Fatalf("%q has shape %v and %d values", x.Name, x.Shape, len(x.Values))
			}
		}
	})
}

// TestNPYHeaders parses the headers that versions of numpy and Python wrote.
func TestNPYHeaders(t *testing.T) {
	for text, want := range map[string]npyFields{
		"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }":        {"<f4", false, []int{3, 4}},
		"{'shape': (3L,), 'fortran_order': True, 'descr': '>f8'}":            {">f8", true, []int{3}},
		`{"descr":"|u1","fortran_order":False,"shape":()}`:                   {"|u1", false, nil},
		"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }": {"[", false, []int{2}},
	} {
		if got, err := parseNPYHeader(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
}
