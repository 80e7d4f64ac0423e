package solver

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
)

// sumsNet has weights whose gradients are summed in different ways: over two layers, transposed, and small. Another layer leads to no loss,
// so that only weight decay changes its weights.
const sumsNet = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 9 dim: 5 } shape { dim: 9 } data_filler { type: "gaussian" } data_filler { type: "uniform" max: 0.999 } } }
  layer { name: "first" type: "InnerProduct" bottom: "x" top: "a" param { name: "w" } param { name: "b" } inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
  layer { name: "second" type: "InnerProduct" bottom: "a" top: "b" param { name: "w" } param { name: "b" } inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
  layer { name: "wide" type: "InnerProduct" bottom: "b" top: "c" inner_product_param { num_output: 40 transpose: true weight_filler { type: "xavier" } } }
  layer { name: "idle" type: "InnerProduct" bottom: "c" top: "idle" inner_product_param { num_output: 30 weight_filler { type: "xavier" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "c" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "loss" }
}
base_lr: 0.05 momentum: 0.9 weight_decay: 0.01 lr_policy: "fixed" random_seed: 5 snapshot_after_train: false
`

// TestSumsOfGradients: sums started by StartDiff give the weights of plain loops that clear memory, for any number of passes, workers and
// core groups.
func TestSumsOfGradients(t *testing.T) {
	for _, fields := range []string{"", "iter_size: 3", "clip_gradients: 0.1"} {
		text := sumsNet + fields
		plain := func(_ int, o *Options) { o.Engine = layers.MPE }
		want := crew{text: text, options: plain}.trained(t, 12)[0]
		for _, c := range []crew{
			{}, {coreGroups: 3}, {workers: 3}, {workers: 3, team: Team{BucketBytes: 1}}, {workers: 3, coreGroups: 3, team: Team{BucketBytes: 100}},
		} {
			c.text = text
			near(t, fmt.Sprintf("%d workers of %d core groups, buckets of %d bytes, %s", c.workers, c.coreGroups, c.team.BucketBytes, fields),
				c.trained(t, 12)[0], want, 1e-6)
		}
	}
}
