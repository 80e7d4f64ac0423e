// Package all registers every Caffe layer type by importing all layer packages. Package net imports it. A new layer package must be added
// here.
package all

import (
	_ "github.com/swcaffe/swcaffe/layers/common"
	_ "github.com/swcaffe/swcaffe/layers/data"
	_ "github.com/swcaffe/swcaffe/layers/detect"
	_ "github.com/swcaffe/swcaffe/layers/loss"
	_ "github.com/swcaffe/swcaffe/layers/neuron"
	_ "github.com/swcaffe/swcaffe/layers/norm"
	_ "github.com/swcaffe/swcaffe/layers/recurrent"
	_ "github.com/swcaffe/swcaffe/layers/utility"
	_ "github.com/swcaffe/swcaffe/layers/vision"
)
