package proto_test

import (
	"fmt"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func ExampleUnmarshalText() {
	text := `
layer {
  name: "pool1"
  type: "Pooling"
  pooling_param { pool: MEAN kernel_size: 2 strid: 2 }
}`
	_, err := swproto.UnmarshalText("net.prototxt", []byte(text), &caffepb.NetParameter{})
	fmt.Println(err)
	// Output:
	// net.prototxt:5:25: in layer "pool1" (Pooling), pooling_param: field "pool": "MEAN" is not a value of PoolMethod, did you mean "MAX"? (values: MAX, AVE, STOCHASTIC)
	// net.prototxt:5:45: in layer "pool1" (Pooling), pooling_param: unknown field "strid" of PoolingParameter, did you mean "stride"?
}

func ExampleUpgradeNet() {
	net := &caffepb.NetParameter{}
	text := `layers { name: "relu1" type: RELU bottom: "x" top: "y" blobs_lr: 2 }`
	if _, err := swproto.UnmarshalText("old.prototxt", []byte(text), net); err != nil {
		fmt.Println(err)
	}
	warnings, err := swproto.UpgradeNet(net, "old.prototxt")
	fmt.Println(warnings[0], err)
	fmt.Print(string(swproto.MarshalText(net)))
	// Output:
	// Attempting to upgrade input file specified using deprecated V1LayerParameter: old.prototxt <nil>
	// layer {
	//   name: "relu1"
	//   type: "ReLU"
	//   bottom: "x"
	//   top: "y"
	//   param {
	//     lr_mult: 2
	//   }
	// }
}
