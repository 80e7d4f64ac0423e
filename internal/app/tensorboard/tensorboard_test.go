package tensorboard

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/solver/events"
)

// crc is CRC-32C bit by bit, from its definition: polynomial 0x1edc6f41, reflected.
func crc(data []byte) uint32 {
	sum := ^uint32(0)
	for _, b := range data {
		sum ^= uint32(b)
		for range 8 {
			bit := sum & 1
			sum >>= 1
			if bit == 1 {
				sum ^= 0x82f63b78
			}
		}
	}
	return ^sum
}

// TestCRC: the check value of CRC-32C's definition, and the example of RFC 3720, B.4 (32 bytes of zeros).
func TestCRC(t *testing.T) {
	if crc([]byte("123456789")) != 0xe3069283 || crc(make([]byte, 32)) != 0x8a9136aa {
		t.Fatal("the test's own CRC is wrong")
	}
	for _, text := range []string{"", "a", "123456789", strings.Repeat("xyz", 1000)} {
		want := crc([]byte(text))
		want = (want>>15 | want<<17) + 0xa282ead8
		if got := masked([]byte(text)); got != want {
			t.Errorf("masked(%.10q) is %#x, want %#x", text, got, want)
		}
	}
}

// unframe reads the records of a file.
func unframe(t *testing.T, path string) (list [][]byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unmask := func(b []byte) uint32 {
		v := binary.LittleEndian.Uint32(b) - 0xa282ead8
		return v>>17 | v<<15
	}
	for len(data) > 0 {
		n := binary.LittleEndian.Uint64(data)
		if crc(data[:8]) != unmask(data[8:]) {
			t.Fatalf("%s: the CRC of length %d is wrong", path, n)
		}
		body := data[12 : 12+n]
		if crc(body) != unmask(data[12+n:]) {
			t.Fatalf("%s: the CRC of record %d is wrong", path, len(list))
		}
		list = append(list, body)
		data = data[16+n:]
	}
	return list
}

// message is a decoded protobuf message: the values of each field, integers, floats by width, or bytes.
type message map[int][]any

// decode reads protobuf's encoding: a key (field<<3 | type) and a value each.
func decode(t *testing.T, b []byte) message {
	t.Helper()
	m := message{}
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		b = b[n:]
		var v any
		switch key & 7 {
		case 0:
			x, n := binary.Uvarint(b)
			v, b = int(x), b[n:]
		case 1:
			v, b = math.Float64frombits(binary.LittleEndian.Uint64(b)), b[8:]
		case 2:
			length, n := binary.Uvarint(b)
			v, b = b[n:n+int(length)], b[n+int(length):]
		case 5:
			v, b = math.Float32frombits(binary.LittleEndian.Uint32(b)), b[4:]
		default:
			t.Fatalf("type %d", key&7)
		}
		m[int(key>>3)] = append(m[int(key>>3)], v)
	}
	return m
}

// read reads an event file and lists its events as lines: step, tag and value.
func read(t *testing.T, path string) (lines []string) {
	t.Helper()
	for i, body := range unframe(t, path) {
		e := decode(t, body)
		if at := e[1][0].(float64); at != 1e9+0.25 {
			t.Errorf("time %f", at)
		}
		if i == 0 {
			if string(e[3][0].([]byte)) != "brain.Event:2" {
				t.Errorf("version %q", e[3])
			}
			continue
		}
		step := e[2][0].(int)
		if e[4] != nil {
			lines = append(lines, graphLines(t, e[4][0].([]byte))...)
			continue
		}
		if e[7] != nil {
			lines = append(lines, fmt.Sprintf("%d start %d", step, decode(t, e[7][0].([]byte))[1][0]))
			continue
		}
		for _, s := range decode(t, e[5][0].([]byte))[1] {
			v := decode(t, s.([]byte))
			line := fmt.Sprintf("%d %s", step, v[1][0])
			switch {
			case v[9] != nil:
				line += pluginLine(t, decode(t, v[9][0].([]byte)), decode(t, v[8][0].([]byte)))
			case v[2] != nil:
				line += fmt.Sprintf(" %g", v[2][0])
			case v[4] != nil:
				m := decode(t, v[4][0].([]byte))
				line += fmt.Sprintf(" image %d %d %d %s", m[1][0], m[2][0], m[3][0], m[4][0])
			case v[5] != nil:
				m := decode(t, v[5][0].([]byte))
				line += fmt.Sprint(" histogram ", m[1], m[2], m[3], m[4], m[5], hex.EncodeToString(m[6][0].([]byte)), " ", hex.EncodeToString(m[7][0].([]byte)))
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// entry reads an entry of a map.
func entry(t *testing.T, b any) (key string, value message) {
	t.Helper()
	m := decode(t, b.([]byte))
	return string(m[1][0].([]byte)), decode(t, m[2][0].([]byte))
}

// graphLines lists the nodes of a GraphDef: name, op, inputs and attributes.
func graphLines(t *testing.T, b []byte) (lines []string) {
	t.Helper()
	g := decode(t, b)
	for _, n := range g[1] {
		m := decode(t, n.([]byte))
		line := fmt.Sprintf("node %s %s", m[1][0], m[2][0])
		for _, in := range m[3] {
			line += fmt.Sprintf(" <%s", in)
		}
		for _, a := range m[5] {
			key, value := entry(t, a)
			line += fmt.Sprintf(" %s=%s", key, value[2][0])
		}
		lines = append(lines, line)
	}
	return append(lines, fmt.Sprint("versions ", decode(t, g[4][0].([]byte))[1]))
}

// pluginLine reads a value of the plugin hparams: its metadata and its tensor of one float.
func pluginLine(t *testing.T, metadata, tensor message) string {
	t.Helper()
	if dim := decode(t, decode(t, tensor[2][0].([]byte))[2][0].([]byte)); tensor[1][0] != 1 || dim[1][0] != 1 || metadata[4][0] != 2 {
		t.Errorf("tensor %v, metadata %v", tensor, metadata)
	}
	plugin := decode(t, metadata[1][0].([]byte))
	data, line := decode(t, plugin[2][0].([]byte)), fmt.Sprintf(" %s", plugin[1][0])
	switch {
	case data[2] != nil: // Experiment
		m := decode(t, data[2][0].([]byte))
		for _, p := range m[4] {
			info := decode(t, p.([]byte))
			line += fmt.Sprintf(" %s:%d", info[1][0], info[4][0])
		}
		for _, p := range m[5] {
			name := decode(t, decode(t, p.([]byte))[1][0].([]byte))
			line += fmt.Sprintf(" %s|%s", name[1][0], name[2][0])
		}
	case data[3] != nil: // SessionStartInfo
		m := decode(t, data[3][0].([]byte))
		for _, p := range m[1] {
			key, value := entry(t, p)
			if value[2] != nil {
				line += fmt.Sprintf(" %s=%g", key, value[2][0])
			} else {
				line += fmt.Sprintf(" %s=%q", key, value[3][0])
			}
		}
		line += fmt.Sprintf(" at %.2f", m[5][0])
	case data[4] != nil: // SessionEndInfo
		m := decode(t, data[4][0].([]byte))
		line += fmt.Sprintf(" status %d at %.2f", m[1][0], m[2][0])
	}
	return line
}

// TestDescription: the graph has the training net's layers with their inputs, also through layers in place; hyperparameters and metrics are those
// of the solver and of both nets.
func TestDescription(t *testing.T) {
	folder := t.TempDir()
	r := NewRun(folder, func(err error) { t.Error(err) })
	r.Take(events.Event{Time: at, Body: &events.Started{Net: "n", Items: 64, Workers: 2, Seed: 7,
		SolverText: `net: "n.prototxt" base_lr: 0.1 lr_policy: "multistep" stepvalue: 10 stepvalue: 20 type: "Adam" test_iter: 3 test_interval: 5 display: 1 solver_mode: CPU`,
		NetText: `name: "n"
			layer { name: "d:1" type: "Input" top: "x" top: "t" input_param { shape { dim: 4 dim: 2 } } }
			layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 3 bias_term: false weight_filler { type: "xavier" } } }
			layer { name: "relu" type: "ReLU" bottom: "y" top: "y" }
			layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "l" }
			layer { name: "a" type: "Accuracy" bottom: "y" bottom: "t" top: "accuracy" include { phase: TEST } }`}})
	r.Take(events.Event{Time: at, Body: &events.Crashed{}})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	want := []string{
		"node d_1 Input top=x, t input_param.shape.0.dim=4, 2",
		"node ip InnerProduct <d_1 top=y inner_product_param.bias_term=false inner_product_param.num_output=3 inner_product_param.weight_filler.type=xavier",
		"node relu ReLU <ip top=y", "node loss SoftmaxWithLoss <relu <d_1 top=l", "versions [22]",
	}
	if got := read(t, fileIn(t, filepath.Join(folder, "train"))); !reflect.DeepEqual(got, want) {
		t.Errorf("the graph is\n%q\nwant\n%q", got, want)
	}
	want = []string{
		"0 _hparams_/experiment hparams net_name:1 items:3 workers:3 seed:3 base_lr:3 lr_policy:1 stepvalue:1 type:1 train|loss train|output/l test_0|loss test_0|output/l test_0|output/accuracy",
		`0 _hparams_/session_start_info hparams net_name="n" items=64 workers=2 seed=7 base_lr=0.1 lr_policy="multistep" stepvalue="10, 20" type="Adam" at 1000000000.25`,
		"0 _hparams_/session_end_info hparams status 2 at 1000000000.25",
	}
	if got := read(t, fileIn(t, folder)); !reflect.DeepEqual(got, want) {
		t.Errorf("the hyperparameters are\n%q\nwant\n%q", got, want)
	}
}

var at = time.Unix(1e9, 250e6)

// fileIn returns the only file of a folder.
func fileIn(t *testing.T, folder string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(folder, "events.out.tfevents.*"))
	if err != nil || len(list) != 1 {
		t.Fatalf("%s has %q, %v", folder, list, err)
	}
	return list[0]
}

// TestRun: a run's events read back as curves of the training net and of each test net.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	r := NewRun(folder, func(err error) { t.Error(err) })
	for _, b := range []events.Body{
		&events.Iteration{Iteration: 1}, // before the start
		&events.Started{Iteration: 5},
		&events.Iteration{Iteration: 5, Loss: 0.1, Rate: 0.5, Speed: 300, Wait: 0.25, Outputs: []events.Value{{Name: "l[1]", Value: events.Number(math.NaN())}}},
		&events.Test{Iteration: 6, Net: 1, Loss: 3, Outputs: []events.Value{{Name: "accuracy", Value: 0.75}}},
		&events.Snapshot{},
		&events.Stopped{},
	} {
		r.Take(events.Event{Time: at, Body: b})
	}
	r.Train().Add(at, 300, Histogram{"h", -1, 2, 3, 1, 5, []float64{0, 2}, []float64{1, 2}}, Image{"i", 4, 2, []byte("png")})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	want := []string{
		"5 start 1", "5 loss 0.1", "5 output/l[1] NaN", "5 learning rate 0.5", "5 items per second 300", "5 wait for data 0.25",
		"300 h histogram [-1] [2] [3] [1] [5]00000000000000000000000000000040 000000000000f03f0000000000000040", "300 i image 2 4 3 png",
	}
	if got := read(t, fileIn(t, filepath.Join(folder, "train"))); !reflect.DeepEqual(got, want) {
		t.Errorf("train has\n%q\nwant\n%q", got, want)
	}
	if got, want := read(t, fileIn(t, filepath.Join(folder, "test_1"))), []string{"5 start 1", "6 loss 3", "6 output/accuracy 0.75"}; !reflect.DeepEqual(got, want) {
		t.Errorf("test_1 has %q, want %q", got, want)
	}
	if left, _ := os.ReadDir(folder); len(left) != 3 {
		t.Errorf("%d folders and files, want 3", len(left))
	}
}

// TestBroken: a folder that cannot be made, and a file that cannot be written, warn once and end nothing.
func TestBroken(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "train"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	warned := 0
	r := NewRun(folder, func(error) { warned++ })
	for range 3 {
		r.Take(events.Event{Time: at, Body: &events.Started{}})
		r.Take(events.Event{Time: at, Body: &events.Iteration{}})
		r.Take(events.Event{Time: at, Body: &events.Test{}})
	}
	if warned != 1 || r.Train() != nil {
		t.Errorf("%d warnings, want 1", warned)
	}
	var text bytes.Buffer
	w, err := Create(folder, at, 0, func(err error) { fmt.Fprintln(&text, err) })
	if err != nil {
		t.Fatal(err)
	}
	whole := w.size
	w.Close()
	w.Add(at, 1, Scalar{"x", 1})
	w.Add(at, 2, Scalar{"x", 1})
	if n := strings.Count(text.String(), "an event is lost"); n != 1 || w.size != whole {
		t.Errorf("%d warnings, size %d, want 1 and %d", n, w.size, whole)
	}
}
