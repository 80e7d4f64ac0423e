package net

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
)

// economyNet has fused layers, Splits, an in-place layer and a visible blob in the middle (a loss weight).
const economyNet = `
	layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 4 dim: 3 dim: 12 dim: 12 } shape { dim: 4 }
	  data_filler { type: "gaussian" } data_filler { value: 1 } } }
	layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 32 kernel_size: 3 weight_filler { type: "msra" } } }
	layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
	layer { name: "p" type: "Pooling" bottom: "c" top: "p" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
	layer { name: "a" type: "InnerProduct" bottom: "p" top: "a" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
	layer { name: "b" type: "InnerProduct" bottom: "p" top: "b" loss_weight: 0.5 inner_product_param { num_output: 1 weight_filler { type: "xavier" } } }
	layer { name: "s" type: "Power" bottom: "b" top: "s" power_param { shift: 1 } }
	layer { name: "loss" type: "SoftmaxWithLoss" bottom: "a" bottom: "t" top: "loss" }`

// TestEconomiseLater: a net that stops economising has every blob's values and gradients after the next run, bit by bit those of a net that
// never economised; visible blobs keep their memory through all changes.
func TestEconomiseLater(t *testing.T) {
	n := buildWith(t, economyNet, func(o *Options) { o.Economise = true })
	plain := buildWith(t, economyNet, func(*Options) {})
	visible := map[int]*float32{}
	var names []string
	for id, name := range n.BlobNames() {
		if n.Visible(id) {
			names = append(names, name)
			visible[id] = &n.BlobAt(id).Data()[0]
		}
	}
	if want := []string{"x", "t", "b_b_0_split_0", "loss", "s"}; !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(want))) {
		t.Fatalf("visible are %q, want %q", names, want)
	}
	for round, on := range []bool{true, false, true, true, false, false} {
		if err := n.Economise(on); err != nil {
			t.Fatal(err)
		}
		if on {
			for k := range n.arena.memory {
				n.arena.memory[k] = nan
			}
		}
		for _, m := range []*Net{n, plain} {
			m.ClearParamDiffs()
			if _, err := m.ForwardBackward(); err != nil {
				t.Fatal(err)
			}
		}
		for k, l := range plain.Learnable() {
			sameBits(t, l.Layer, n.Learnable()[k].Blob.Diff(), l.Blob.Diff())
		}
		for id, name := range n.BlobNames() {
			got, want := n.BlobAt(id), plain.BlobAt(id)
			if at, ok := visible[id]; ok && at != &got.Data()[0] {
				t.Errorf("round %d: %s has other memory", round, name)
			}
			if n.Visible(id) {
				sameBits(t, name, got.Data(), want.Data())
			}
			if !on {
				sameBits(t, name+"'s gradient", got.Diff(), want.Diff())
			}
		}
	}
}

// TestForwardOnlyForATime: a net that is built for Forward alone runs Backward while it does not economise.
func TestForwardOnlyForATime(t *testing.T) {
	n := buildWith(t, economyNet, func(o *Options) { o.Economise, o.ForwardOnly = true, true })
	plain := buildWith(t, economyNet, func(*Options) {})
	if err := n.Economise(false); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Net{n, plain} {
		if _, err := m.ForwardBackward(); err != nil {
			t.Fatal(err)
		}
	}
	for k, l := range plain.Learnable() {
		sameBits(t, l.Layer, n.Learnable()[k].Blob.Diff(), l.Blob.Diff())
	}
	if err := n.Economise(true); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Backward of a net for Forward alone")
		}
	}()
	n.Backward(nil)
}

// TestGivenStarts: after GiveStarts, Backward starts from the loss weights until the caller sets other gradients.
func TestGivenStarts(t *testing.T) {
	n, twice := buildWith(t, economyNet, func(*Options) {}), buildWith(t, economyNet, func(*Options) {})
	n.GiveStarts()
	twice.ScaleLoss(2)
	run := func(m *Net) *blob.Blob {
		m.ClearParamDiffs()
		if _, err := m.ForwardBackward(); err != nil {
			t.Fatal(err)
		}
		return m.Params("c")[0]
	}
	run(twice) // the data are drawn anew in every run
	want := slices.Clone(run(twice).Diff())
	run(n)
	for _, out := range []string{"loss", "b_b_0_split_0"} {
		diff := n.Blob(out).Diff()
		for i := range diff {
			diff[i] *= 2
		}
	}
	near(t, "gradients from doubled starts", run(n).Diff(), want)
}
