// Package all registers every layer type of Caffe, by importing the rooms of package layers. Package net imports it. A new room is
// entered here.
package all

import (
	_ "github.com/swcaffe/swcaffe/layers/common"
	_ "github.com/swcaffe/swcaffe/layers/data"
	_ "github.com/swcaffe/swcaffe/layers/loss"
	_ "github.com/swcaffe/swcaffe/layers/neuron"
	_ "github.com/swcaffe/swcaffe/layers/norm"
	_ "github.com/swcaffe/swcaffe/layers/recurrent"
	_ "github.com/swcaffe/swcaffe/layers/utility"
	_ "github.com/swcaffe/swcaffe/layers/vision"
)
