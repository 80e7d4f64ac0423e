package dataset

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// namesFile reports whether -net names a file, not a net of the zoo.
func namesFile(net string) bool { return strings.HasSuffix(net, ".prototxt") }

// readBase makes a base of a net for deployment: an Input layer of square images, and a classifier, the last InnerProduct or Convolution
// layer, which gets an output for each class. Only layers without weights may follow it.
func readBase(e *cli.Env, path string, classes int) (*base, error) {
	var flags cli.StateFlags
	file, err := cli.ReadNet(e, path, &flags)
	if err != nil {
		return nil, err
	}
	net, _, err := swnet.Filter(file.Param, flags.StateOver(file, caffepb.Phase_TEST))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b := &base{zooNet: zooNet{
		name: fileName(net.GetName(), strings.TrimSuffix(filepath.Base(path), ".prototxt")), title: net.GetName(), epochs: 10, scale: "1", rate: 0.01, batch: 16, testBatch: 25,
	}}
	if b.title == "" {
		b.title = path
	}
	layers, err := b.takeInput(net.Layer)
	if err == nil {
		layers, err = b.takeEnd(layers, classes)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	b.layers = layers
	return b, nil
}

// fileName returns a net's name with characters that suit the names of files, or another name if it has none.
func fileName(name, other string) string {
	safe := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if strings.Trim(safe, "_-") == "" {
		return other
	}
	return safe
}

// takeInput takes the input from a list of layers and returns the rest.
func (b *base) takeInput(layers []*caffepb.LayerParameter) (rest []*caffepb.LayerParameter, err error) {
	inputs := 0
	for _, l := range layers {
		if l.GetType() != "Input" {
			rest = append(rest, l)
			continue
		}
		inputs++
		shapes := l.GetInputParam().GetShape()
		if len(l.Top) != 1 || len(shapes) != 1 || len(shapes[0].Dim) != 4 {
			return nil, fmt.Errorf("layer %q: the input must be one blob of images x channels x height x width", l.GetName())
		}
		d := shapes[0].Dim
		if d[1] != 1 && d[1] != 3 || d[2] != d[3] || d[2] < leastSide || d[2] > mostInitSide {
			return nil, fmt.Errorf("layer %q: the input is of %d channels, height %d and width %d; init makes square images of 1 or 3 channels, of %d to %d pixels a side",
				l.GetName(), d[1], d[2], d[3], leastSide, mostInitSide)
		}
		b.input, b.channels, b.size = l.Top[0], int(d[1]), int(d[2])
		if t := l.TransformParam; t.GetScale() != 1 && t != nil {
			b.scale = caffelog.Figure(float64(t.GetScale()))
		}
	}
	if inputs != 1 {
		return nil, fmt.Errorf("a net for deployment is needed, with one Input layer; it has %d", inputs)
	}
	return rest, nil
}

// takeEnd takes the Softmax layer from the end of a list, makes the classifier one of so many classes, and returns the list.
func (b *base) takeEnd(layers []*caffepb.LayerParameter, classes int) ([]*caffepb.LayerParameter, error) {
	at := -1
	for i, l := range layers {
		if l.GetType() == "InnerProduct" || l.GetType() == "Convolution" {
			at = i
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("there is no layer of type InnerProduct or Convolution for the classes")
	}
	if last := len(layers) - 1; layers[last].GetType() == "Softmax" && len(layers[last].Bottom) == 1 {
		b.scores, layers = layers[last].Bottom[0], layers[:last]
	} else if len(layers[last].Top) == 1 {
		b.scores = layers[last].Top[0]
	}
	for _, l := range layers[at+1:] {
		if !slices.Contains([]string{"Pooling", "ReLU", "Dropout", "Flatten", "Reshape"}, l.GetType()) {
			return nil, fmt.Errorf("layer %q of type %s follows %q, the last layer with outputs for classes; it can only be Pooling, ReLU, Dropout, Flatten, Reshape and a Softmax at the end",
				l.GetName(), l.GetType(), layers[at].GetName())
		}
	}
	b.head = layers[at]
	filler := &caffepb.FillerParameter{Type: proto.String("xavier")}
	if p := b.head.InnerProductParam; p != nil {
		p.NumOutput, p.WeightFiller = proto.Uint32(uint32(classes)), filler
	} else if p := b.head.ConvolutionParam; p != nil {
		p.NumOutput, p.WeightFiller = proto.Uint32(uint32(classes)), filler
	}
	return layers, nil
}
