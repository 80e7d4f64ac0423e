package modeltime

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// BenchmarkAlexNet computes an iteration of AlexNet, forward and backward, at batch 4: natively, and functionally on the SW26010,
// where values pass LDM-sized tiles. The two in turn (-count) are what docs/machines.md compares.
func BenchmarkAlexNet(b *testing.B) {
	file, err := swproto.ReadNet("../models/alexnet/train_val.prototxt")
	if err != nil {
		b.Fatal(err)
	}
	p := proto.CloneOf(file.Param)
	if err := SetBatch(p, 4); err != nil {
		b.Fatal(err)
	}
	standIn(p)
	for _, name := range []string{"host", "sw26010"} {
		b.Run(name, func(b *testing.B) { benchmarkIteration(b, p, name) })
	}
}

// BenchmarkVGG16 models an iteration of VGG-16 at batch 128, charging costs alone.
func BenchmarkVGG16(b *testing.B) {
	file, err := swproto.ReadNet("../models/vgg16/train_val.prototxt")
	if err != nil {
		b.Fatal(err)
	}
	spec, err := cpe.Load("sw26010")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		o := Options{Spec: spec, Mode: cpe.CostOnly, Batch: 128, State: swnet.MergeState(caffepb.Phase_TRAIN)}
		if _, err := Run(file, o); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkIteration(b *testing.B, p *caffepb.NetParameter, machine string) {
	spec, err := cpe.Load(machine)
	if err != nil {
		b.Fatal(err)
	}
	m, err := cpe.New(spec, cpe.DefaultMode(spec))
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	d := &layers.Device{Machine: m, Random: layers.NewRandom(1)}
	n, err := swnet.New(p, swnet.Options{State: swnet.MergeState(caffepb.Phase_TRAIN), Device: d})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	iterate := func() {
		if _, err := n.Forward(); err != nil {
			b.Fatal(err)
		}
		n.Backward(nil)
	}
	iterate()
	for b.Loop() {
		iterate()
	}
}
