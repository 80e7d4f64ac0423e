package export

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxtest"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// oracle is another program that runs models. A job and its answer are lines of JSON; scripts/onnx/runtime.js describes them.
type oracle struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

type job struct {
	Model   string              `json:"model"`
	Inputs  map[string]jobInput `json:"inputs"`
	Outputs []string            `json:"outputs"`
	Out     string              `json:"out"`
}

type jobInput struct {
	Dims []int  `json:"dims"`
	File string `json:"file"`
}

type answer struct {
	Error   string
	Outputs []struct {
		Name string
		Dims []int
	}
}

// startOracle starts the command in an environment variable. scripts/onnx_oracles.sh installs the programs and sets the variables.
func startOracle(t *testing.T, variable string) *oracle {
	command := strings.Fields(os.Getenv(variable))
	if len(command) == 0 {
		t.Skipf("%s is not set: scripts/onnx_oracles.sh runs this test", variable)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	o := &oracle{in, bufio.NewScanner(out)}
	o.out.Buffer(nil, 1<<20)
	return o
}

// run computes a model's outputs.
func (o *oracle) run(t *testing.T, m *onnxpb.ModelProto, inputs map[string]*onnxtest.Tensor) (map[string]*onnxtest.Tensor, error) {
	t.Helper()
	dir := t.TempDir()
	data, err := onnx.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	j := job{Model: filepath.Join(dir, "net.onnx"), Inputs: map[string]jobInput{}, Out: filepath.Join(dir, "out")}
	write(t, j.Model, data)
	for _, in := range m.GetGraph().GetInput() {
		v := inputs[in.GetName()]
		var raw []byte
		for _, x := range v.Data {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(x)))
		}
		name := filepath.Join(dir, fmt.Sprintf("in%d", len(j.Inputs)))
		write(t, name, raw)
		j.Inputs[in.GetName()] = jobInput{v.Dims, name}
	}
	for _, out := range m.GetGraph().GetOutput() {
		j.Outputs = append(j.Outputs, out.GetName())
	}
	line, _ := json.Marshal(j)
	fmt.Fprintf(o.in, "%s\n", line)
	if !o.out.Scan() {
		t.Fatalf("the oracle has ended: %v", o.out.Err())
	}
	var a answer
	if err := json.Unmarshal(o.out.Bytes(), &a); err != nil {
		t.Fatalf("%v: %s", err, o.out.Text())
	}
	if a.Error != "" {
		return nil, fmt.Errorf("%s", a.Error)
	}
	values := map[string]*onnxtest.Tensor{}
	for k, out := range a.Outputs {
		raw, err := os.ReadFile(fmt.Sprintf("%s.%d", j.Out, k))
		if err != nil {
			t.Fatal(err)
		}
		v := onnxtest.New(out.Dims...)
		for i := range v.Data {
			v.Data[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		}
		values[out.Name] = v
	}
	return values, os.RemoveAll(dir)
}

func write(t *testing.T, name string, data []byte) {
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// checkOutputs compares the outputs of an oracle with the net's.
func checkOutputs(t *testing.T, n *swnet.Net, got map[string]*onnxtest.Tensor) {
	t.Helper()
	for _, out := range n.Outputs() {
		v := got[out.Name]
		if v == nil {
			v = got[out.Name+"_2"] // an input that is also an output
		}
		if v == nil {
			t.Errorf("no output %q", out.Name)
		} else if !slices.Equal(v.Dims, out.Blob.Shape()) {
			t.Errorf("output %q has shape %v, the blob %v", out.Name, v.Dims, out.Blob.Shape())
		} else if at := worst(v.Data, out.Blob.Data()); at >= 0 {
			t.Errorf("value %d of %q is %g, the blob's %g", at, out.Name, v.Data[at], out.Blob.Data()[at])
		}
	}
}

// modelsOf returns the deploy nets of the zoo, for batches of two.
func modelsOf(t *testing.T) map[string]*caffepb.NetParameter {
	files, err := filepath.Glob("../../../models/*/deploy.prototxt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no models: %v", err)
	}
	nets := map[string]*caffepb.NetParameter{}
	for _, file := range files {
		n, err := swproto.ReadNet(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(file))
		for _, l := range n.Param.GetLayer() {
			for _, s := range l.GetInputParam().GetShape() {
				if s.Dim[0] > 2 {
					s.Dim[0] = 2
				}
				if name == "fcn" {
					s.Dim[2], s.Dim[3] = 64, 80
				}
			}
		}
		nets[name] = n.Param
	}
	return nets
}

// againstOracle exports every model and, with cases, every case.
func againstOracle(t *testing.T, variable string, maxOpset int, cases bool, refused func(name, why string) bool) {
	o := startOracle(t, variable)
	check := func(name string, c *onnxtest.Case, net *caffepb.NetParameter, opt Options) {
		t.Run(fmt.Sprintf("%s/opset%d", name, opt.Opset), func(t *testing.T) {
			n := onnxtest.Build(t, net) // a net of its own, since recurrent layers keep states
			if c.Net != "" {
				onnxtest.FillWeights(n, 1)
			}
			opt.Net = recorded(n.ToProto(false))
			r, err := Net(n, opt)
			if err != nil {
				t.Fatal(err)
			}
			inputs := onnxtest.FillInputs(n, c, 4)
			if _, err := n.Forward(); err != nil {
				t.Fatal(err)
			}
			got, err := o.run(t, r.Model, inputs)
			switch {
			case err != nil && refused(name, err.Error()):
				t.Logf("refused: %v", err)
			case err != nil:
				t.Error(err)
			case len(got) > 0:
				checkOutputs(t, n, got)
			}
		})
	}
	for name, net := range modelsOf(t) {
		c := onnxtest.Case{Indices: map[string]int{"cont": 2}}
		if name == "char_rnn" {
			c.Indices["input"] = 90
		}
		for _, fold := range []bool{false, true} {
			check(fmt.Sprintf("%s/fold=%v", name, fold), &c, net, Options{Opset: MinOpset, Fold: fold})
		}
	}
	if !cases {
		return
	}
	for _, c := range onnxtest.Cases(7) {
		for _, opt := range []Options{{Opset: MinOpset}, {Opset: 17, Fold: true}, {Opset: 18}, {Opset: MaxOpset}} {
			if opt.Opset <= maxOpset {
				check(c.Name, &c, onnxtest.Parse(t, c.Net), opt)
			}
		}
	}
}

func never(string, string) bool { return false }

// TestRuntime compares with ONNX Runtime.
func TestRuntime(t *testing.T) { againstOracle(t, "SWCAFFE_ONNX_RUNTIME", MaxOpset, true, never) }

// TestChecker runs ONNX's own checker, which computes nothing. The release in Debian, 1.12, knows opsets up to 17.
func TestChecker(t *testing.T) { againstOracle(t, "SWCAFFE_ONNX_CHECKER", 17, true, never) }

// TestOpenCV compares the models with OpenCV, which has no Scan and so cannot run char_rnn.
func TestOpenCV(t *testing.T) {
	againstOracle(t, "SWCAFFE_ONNX_OPENCV", MinOpset, false, func(name, _ string) bool { return strings.HasPrefix(name, "char_rnn") })
}
