package net

import "testing"

// proposing is a small net like Faster R-CNN's: the number of regions, and so the shapes after them, depends on values.
const proposing = `
layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 1 dim: 3 dim: 48 dim: 64 } data_filler { type: "uniform" min: -1 max: 1 } } }
layer { name: "h" type: "DummyData" top: "h" dummy_data_param { shape { dim: 1 dim: 1 } data_filler { value: 48 } } }
layer { name: "w" type: "DummyData" top: "w" dummy_data_param { shape { dim: 1 dim: 1 } data_filler { value: 64 } } }
layer { name: "one" type: "DummyData" top: "one" dummy_data_param { shape { dim: 1 dim: 1 } data_filler { value: 1 } } }
layer { name: "info" type: "Concat" bottom: "h" bottom: "w" bottom: "one" top: "info" }
layer { name: "body" type: "Convolution" bottom: "x" top: "body" convolution_param { num_output: 8 kernel_size: 7 pad: 3 stride: 8 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "body" top: "body" }
layer { name: "scores" type: "Convolution" bottom: "body" top: "scores" convolution_param { num_output: 4 kernel_size: 1 weight_filler { type: "xavier" } } }
layer { name: "steps" type: "Convolution" bottom: "body" top: "steps" convolution_param { num_output: 8 kernel_size: 1 weight_filler { type: "gaussian" std: 0.1 } } }
layer { name: "regions" type: "Proposal" bottom: "scores" bottom: "steps" bottom: "info" top: "regions"
  proposal_param { feat_stride: 8 base_size: 8 min_size: 6 ratio: 0.5 ratio: 2 scale: 2 nms_thresh: 0.3 post_nms_topn: 30 } }
layer { name: "pool" type: "ROIPooling" bottom: "body" bottom: "regions" top: "pool" roi_pooling_param { pooled_h: 3 pooled_w: 3 spatial_scale: 0.125 } }
layer { name: "fc" type: "InnerProduct" bottom: "pool" top: "fc" inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
layer { name: "relu2" type: "ReLU" bottom: "fc" top: "fc" }
layer { name: "out" type: "InnerProduct" bottom: "fc" top: "out" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "Reduction" bottom: "out" top: "loss" loss_weight: 1 reduction_param { operation: SUMSQ } }
`

// TestRegionsThatDependOnValues: a net whose shapes change in every Forward gives the same bits with and without sharing memory.
func TestRegionsThatDependOnValues(t *testing.T) {
	build := func(economise bool) *Net {
		return buildWith(t, proposing, func(o *Options) { o.Economise = economise })
	}
	n := build(true)
	counts := map[int]bool{}
	for range 6 {
		if _, err := n.ForwardBackward(); err != nil {
			t.Fatal(err)
		}
		counts[n.Blob("regions").Dim(0)] = true
	}
	if len(counts) < 2 || counts[0] || counts[30] {
		t.Errorf("numbers of regions %v: they should differ, and lie between 0 and 30", counts)
	}
	sameRuns(t, build(true), build(false))
}
