package scaling

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/modeltime"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

const smallNet = `
layer { name: "data" type: "DummyData" top: "data" top: "label"
  dummy_data_param { shape { dim: 6 dim: 3 dim: 9 dim: 9 } shape { dim: 6 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 1000 weight_filler { type: "xavier" } } }
layer { name: "bn" type: "BatchNorm" bottom: "ip" top: "bn" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "bn" bottom: "label" top: "loss" }
`

func smallOptions(t *testing.T, machine string) (*swproto.Net, modeltime.Options) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "net.prototxt")
	if err := os.WriteFile(path, []byte(smallNet), 0o644); err != nil {
		t.Fatal(err)
	}
	net, err := swproto.ReadNet(path)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := cpe.Load(machine)
	if err != nil {
		t.Fatal(err)
	}
	return net, modeltime.Options{Spec: spec, Mode: cpe.CostOnly, State: swnet.MergeState(caffepb.Phase_TRAIN)}
}

// TestMachine: a job's gradients are the net's weights and stored statistics, where their layers are; its times those of the report.
func TestMachine(t *testing.T) {
	net, o := smallOptions(t, "sw26010")
	m, err := NewMachine(net, o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Compute(4)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Report(4)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "time", float64(c.Total()), r.Total.IterationMs/1e3)
	const weights, statistics = 243*1000 + 1000, 2*1000 + 1
	var got []int64
	for _, l := range c.Layers {
		got = append(got, l.GradientBytes)
	}
	if len(got) != 4 || got[0] != 0 || got[1] != 4*statistics || got[2] != 4*weights || got[3] != 0 || c.WeightBytes() != 4*(weights+statistics) {
		t.Errorf("gradients of %v bytes", got)
	}
	if m.Batch() != 6 || m.ImageBytes() != 4*243 {
		t.Errorf("batch %d, images of %g bytes", m.Batch(), m.ImageBytes())
	}
}

// TestPartition: a group takes its part of the batch on its part of the processor; the sum takes log2 P levels, in which all pairs share
// the memory's 475 GB/s, or have what their own cores can use: 14 GB/s each.
func TestPartition(t *testing.T) {
	net, o := smallOptions(t, "knl7250")
	for _, c := range []struct {
		groups, batch, share int
		sum                  float64 // seconds for 5 n = 1 byte
	}{
		{1, 64, 64, 0},
		{2, 64, 32, 1 / 475e9},
		{4, 62, 16, 2/475e9 + 1/(17*14e9)},
		{16, 64, 4, 4 / (4 * 14e9)},
	} {
		p, err := NewPartition(net, o, c.groups, 0)
		if err != nil {
			t.Fatal(err)
		}
		part := o
		if part.Spec, err = o.Spec.Part(c.groups); err != nil {
			t.Fatal(err)
		}
		part.Batch = c.share
		alone, err := modeltime.Run(net, part)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Compute(c.batch)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "iteration", float64(got.Total()), alone.Total.IterationMs/1e3+5*float64(got.WeightBytes())*c.sum)
	}
	_, err := NewPartition(net, o, 17, 1<<30)
	if err == nil || !strings.Contains(err.Error(), `17 groups with 0 MB of weights and 1024 MB of data each need 17423 MB; machine "knl7250" has 16384 MB`) {
		t.Errorf("got %v", err)
	}
	const weights, statistics = 4 * 244000, 4 * 2001 // bytes; the statistics are a group's own as well
	if _, err := NewPartition(net, o, 16, 1<<30-weights); err == nil {
		t.Error("statistics take no memory")
	}
	if _, err := NewPartition(net, o, 16, 1<<30-weights-statistics); err != nil {
		t.Error(err)
	}
	p, err := NewPartition(net, o, 16, 900<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Compute(15); err == nil || !strings.Contains(err.Error(), "16 groups cannot share a batch of 15 images") {
		t.Errorf("got %v", err)
	}
}
