package layers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Arity bounds the number of bottoms or tops. Max < 0 means no upper bound.
type Arity struct{ Min, Max int }

// Exactly returns the arity of exactly n blobs.
func Exactly(n int) Arity { return Arity{n, n} }

// AtLeast returns the arity of n or more blobs.
func AtLeast(n int) Arity { return Arity{n, -1} }

// Between returns the arity of lo to hi blobs.
func Between(lo, hi int) Arity { return Arity{lo, hi} }

func (a Arity) check(n int) error {
	switch {
	case a.Min == a.Max && n != a.Min:
		return fmt.Errorf("%d given, exactly %d needed", n, a.Min)
	case n < a.Min:
		return fmt.Errorf("%d given, at least %d needed", n, a.Min)
	case a.Max >= 0 && n > a.Max:
		return fmt.Errorf("%d given, at most %d allowed", n, a.Max)
	}
	return nil
}

// Type is a registry entry: the constructor of a layer, and facts that the net needs before it builds one.
type Type struct {
	Name string // the prototxt's type
	Doc  string // one line: what it computes
	// Params names the parameter messages of LayerParameter that the layer reads, such as convolution_param. nil: the one with the type's name, as
	// relu_param of ReLU. Of a user's type, without such a message, nothing is known.
	Params []string
	// Prepares names messages that the layer does not read, but by which programs prepare its input: classify and detect.
	Prepares []string

	New func(*caffepb.LayerParameter, *Device) Layer
	// Couples says what the layer does with the items of a batch; nil: it keeps them apart.
	Couples CouplingRule
	// NamedRows lists bottoms with rows that name their item by its number in the batch, as regions do.
	NamedRows []int
	// Effects says what Forward and Backward read or change besides bottoms, weights and tops; nil: nothing, and they do not change weights.
	Effects EffectRule

	// Precisions lists the precisions beside FP32 that the layer's products may have.
	Precisions []string

	// Foreign: the code is a user's. Backward may take no notice of the tops' gradients where these are loss weights, and a top has items of the batch only if it is as long
	// as a bottom that has.
	Foreign bool

	Bottoms, Tops Arity
	EqualBlobs    bool // as many tops as bottoms
	InPlace       bool // a top may have the name of its bottom
	Detections    bool // the top has a row for each detection: image, class, score and the corners of the box
	// Classes returns one more than the highest class of these rows; nil: it is not known.
	Classes func(*caffepb.LayerParameter) int
	// Loss: the first top has loss weight 1 by default, and the net creates tops that the prototxt omits.
	Loss bool
	// AutoTop: the net creates tops that the prototxt omits, although the layer is no loss.
	AutoTop bool
	// NoForceBackward lists bottoms that force_backward does not apply to (labels). -1 is the last one.
	NoForceBackward []int
	// NoGradient: the layer has no gradient for any bottom (data sources, Accuracy, ArgMax).
	NoGradient bool
	// Cancels: the gradients of bottoms are differences of terms as large as the tops' gradients, which may cancel out but for rounding.
	Cancels bool
	// ZeroGradient: Backward writes zeros to the gradients of bottoms in NoForceBackward, or of all bottoms with NoGradient. Without it, Backward
	// returns an error if it needs such a gradient.
	ZeroGradient bool
}

var registry = map[string]Type{}

// Register adds a layer type. The file of a layer calls it from init; a user's program calls it before it builds a net. It panics on a
// duplicate name.
func Register(t Type) {
	if _, taken := registry[t.Name]; taken {
		panic("layers: type " + t.Name + " registered twice")
	}
	registry[t.Name] = t
}

// Types returns all registered types, sorted by name.
func Types() []Type {
	var ts []Type
	for _, name := range names() {
		ts = append(ts, registry[name])
	}
	return ts
}

// Find returns the entry of a type. For an unknown name the error lists the known types and suggests the nearest one. For a type of a known
// fork of Caffe it says so.
func Find(name string) (Type, error) {
	if t, ok := registry[name]; ok {
		return t, nil
	}
	if name == "" {
		return Type{}, fmt.Errorf("type is missing (known types: %s)", strings.Join(names(), ", "))
	}
	if name == "Python" {
		return Type{}, errors.New("this program cannot run Python layers: run the same command with python -m caffe in place of swcaffe (python -m caffe train ...), or write the layer in Go and register it with layers.Register, as example_test.go shows")
	}
	if fork := swproto.FromFork(name); fork != "" {
		return Type{}, fmt.Errorf("unknown layer type %q%s", name, fork)
	}
	for ours, others := range otherNames {
		if slices.Contains(strings.Fields(others), strings.ToLower(strings.ReplaceAll(name, "_", ""))) {
			return Type{}, fmt.Errorf("unknown layer type %q; in Caffe its name is %q", name, ours)
		}
	}
	return Type{}, suggest.Unknown("layer type", name, "known types", names())
}

// otherNames lists names that other programs, and Caffe's old layers { }, have for Caffe's layer types, in lower case and without _.
var otherNames = map[string]string{
	"BatchNorm":       "batchnormalization batchnorm2d",
	"Convolution":     "conv conv2d",
	"Deconvolution":   "deconv convtranspose conv2dtranspose convtranspose2d",
	"Eltwise":         "add sum",
	"EuclideanLoss":   "l2loss mseloss",
	"InnerProduct":    "dense fc fullyconnected gemm linear",
	"LRN":             "localresponsenorm",
	"Pooling":         "maxpool maxpool2d maxpooling avgpool avgpool2d averagepool averagepooling",
	"ReLU":            "leakyrelu",
	"SoftmaxWithLoss": "softmaxloss crossentropy crossentropyloss",
}

func names() []string { return slices.Sorted(maps.Keys(registry)) }

// Computes reports whether a layer of this type can compute in a precision.
func (t Type) Computes(precision string) bool {
	return precision == cpe.FP32 || slices.Contains(t.Precisions, precision)
}

// Forced reports whether force_backward applies to bottom i of n.
func (t Type) Forced(i, n int) bool {
	return !slices.Contains(t.NoForceBackward, i) && !slices.Contains(t.NoForceBackward, i-n)
}

// CheckBlobs returns an error if a layer of this type cannot have the given numbers of bottoms and tops.
func (t Type) CheckBlobs(bottoms, tops int) error {
	if err := t.Bottoms.check(bottoms); err != nil {
		return fmt.Errorf("bottom blobs: %w", err)
	}
	if err := t.Tops.check(tops); err != nil {
		return fmt.Errorf("top blobs: %w", err)
	}
	if t.EqualBlobs && bottoms != tops {
		return fmt.Errorf("%d bottom blobs but %d top blobs: a %s layer needs equal numbers", bottoms, tops, t.Name)
	}
	return nil
}
