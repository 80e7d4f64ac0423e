package onnxtest

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
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
)

// Oracle is another program that runs models. A job and its answer are lines of JSON; scripts/onnx/runtime.js describes them.
type Oracle struct {
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

// StartOracle starts the command in an environment variable, and skips the test if it is not set. scripts/onnx_oracles.sh installs the programs and sets the variables.
func StartOracle(t *testing.T, variable string) *Oracle {
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
	o := &Oracle{in, bufio.NewScanner(out)}
	o.out.Buffer(nil, 1<<20)
	return o
}

// Run computes a model's outputs.
func (o *Oracle) Run(t *testing.T, m *onnxpb.ModelProto, inputs map[string]*Tensor) (map[string]*Tensor, error) {
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
	values := map[string]*Tensor{}
	for k, out := range a.Outputs {
		raw, err := os.ReadFile(fmt.Sprintf("%s.%d", j.Out, k))
		if err != nil {
			t.Fatal(err)
		}
		v := New(out.Dims...)
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
