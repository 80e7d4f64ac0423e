package net

import (
	"errors"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/net/schedule"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// refuser copies its bottom. Its traits offer channels in blocks, but it refuses them.
type refuser struct{ layers.Base }

func init() {
	layers.Register(layers.Type{
		Name: "Refuser", Doc: "y = x, by planes",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &refuser{layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

func (l *refuser) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *refuser) Reshape(bottom, top []*blob.Blob) error {
	top[0].ReshapeLike(bottom[0])
	return nil
}

func (l *refuser) Traits() layers.Traits { return layers.Traits{Layout: layers.Alike} }

func (l *refuser) Arrange(a layers.Arranged) error {
	if a.In.Blocks {
		return errors.New("no blocks after all")
	}
	return nil
}

func (l *refuser) Forward(bottom, top []*blob.Blob) error {
	copy(top[0].Data(), bottom[0].Data())
	return nil
}

func (l *refuser) Backward(top []*blob.Blob, _ []bool, bottom []*blob.Blob) error {
	copy(bottom[0].Diff(), top[0].Diff())
	return nil
}

// TestARefusedLayout: if a layer refuses blocks, all images are in planes, and the other passes still run.
func TestARefusedLayout(t *testing.T) {
	text := images + conv3x3("x", "a", "32", "") + reluA + `
	layer { name: "refuser" type: "Refuser" bottom: "a" top: "b" }` + conv3x3("b", "s", "32", "") + classifier
	build := func(economise bool, without ...string) *Net {
		return buildWith(t, text, func(o *Options) { o.Device.Force.Family, o.Economise, o.Without = shape.Winograd4, economise, without })
	}
	n := build(true)
	refused := func(note schedule.Note) bool {
		return note.String() == "layout: all images lie by planes: layer \"refuser\": no blocks after all"
	}
	if got := n.Layouts().Blocked; got != nil || !slices.ContainsFunc(n.Passes(), refused) {
		t.Errorf("%v lie in blocks; %v", got, n.Passes())
	}
	if got, want := n.joined(), build(true, "layout").joined(); got != want {
		t.Errorf("%d directions of ReLU layers are computed with others, %d without layouts", got, want)
	}
	compareRuns(t, n, build(false))
}
