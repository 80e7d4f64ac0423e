package model

import (
	"os"
	"path/filepath"
	"testing"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// upgradeText upgrades the text of a net, and checks that the result is the same net.
func upgradeText(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "net.prototxt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	n, err := swproto.ReadNet(path)
	if err != nil {
		t.Fatal(err)
	}
	out, err := carryComments([]byte(text), swproto.MarshalText(n.Param), n.LayerOrigin)
	if err != nil {
		t.Fatal(err)
	}
	var again caffepb.NetParameter
	if _, err := swproto.UnmarshalText("new.prototxt", out, &again); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !proto.Equal(n.Param, &again) {
		t.Fatalf("the result is another net:\n%s", out)
	}
	if lost := missingComments([]byte(text), out); len(lost) > 0 {
		t.Fatalf("lost %v:\n%s", lost, out)
	}
	return string(out)
}

func TestCarryComments(t *testing.T) {
	for _, c := range []struct{ name, old, want string }{
		{"fields that stay, are renamed, move, and fall away", `# the net
name: "n"  # its name

# first layer
layers {
  # what it does
  type: CONVOLUTION  # slowly
  name: "c"
  top: "c"
  blobs_lr: 1  # weights
  blobs_lr: 2  # bias
  weight_decay: 1
  weight_decay: 0  # none
  # sizes
  convolution_param {
    num_output: 8  # few
    # behind all
  }  # that is it
}  # end of c
# between
layers { name: "d" type: DATA top: "d" data_param {
  source: "db"  # where
  mirror: true  # turned
} }
# the end
`, `# the net
name: "n"  # its name

# first layer
layer {
  name: "c"
  # what it does
  type: "Convolution"  # slowly
  top: "c"
  param {
    lr_mult: 1  # weights
    decay_mult: 1
  }
  param {
    lr_mult: 2  # bias
    decay_mult: 0  # none
  }
  # sizes
  convolution_param {
    num_output: 8  # few
    # behind all
  }  # that is it
}  # end of c
# between
layer {
  name: "d"
  type: "Data"
  top: "d"
  transform_param {
    mirror: true  # turned
  }
  data_param {
    source: "db"  # where
  }
}
# the end
`},
		{"a padding layer that is merged, in a V0 net", `layers { layer { name: "d" type: "data" source: "db" cropsize: 5 # crop
 } top: "d" }
# padding
layers { layer { name: "p" type: "padding" pad: 2 # two
 } bottom: "d" top: "p" }
layers { layer { name: "c" type: "conv" kernelsize: 3 # three
 } bottom: "p" top: "c" }
`, `layer {
  name: "d"
  type: "Data"
  top: "d"
  transform_param {
    crop_size: 5  # crop
  }
  data_param {
    source: "db"
  }
}
# padding
# two
layer {
  name: "c"
  type: "Convolution"
  bottom: "d"
  top: "c"
  convolution_param {
    pad: 2
    kernel_size: 3  # three
  }
}
`},
		{"fields of the net that become a layer", `# input
input: "x"
input_dim: 1 input_dim: 2 input_dim: 3 input_dim: 4  # shape
layer { name: "r" type: "ReLU" bottom: "x" top: "y" }
`, `# input
# shape
layer {
  name: "input"
  type: "Input"
  top: "x"
  input_param {
    shape {
      dim: 1
      dim: 2
      dim: 3
      dim: 4
    }
  }
}
layer {
  name: "r"
  type: "ReLU"
  bottom: "x"
  top: "y"
}
`},
		{"a comment that the formatter drops", "layers # dropped\n{ name: \"r\" type: RELU # kept\n}\n", `# dropped
layer {
  name: "r"
  type: "ReLU"  # kept
}
`},
		{"a file that the formatter cannot read", "layers { name: \"r\"\vtype: RELU # kept\n}\n", `# kept
layer {
  name: "r"
  type: "ReLU"
}
`},
	} {
		if got := upgradeText(t, c.old); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
