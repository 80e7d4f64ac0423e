package intake

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// rule adds the layers for a node and sets its outputs.
type rule func(n *node) error

var rules map[string]rule

func init() {
	rules = map[string]rule{
		"Conv": conv, "ConvTranspose": convTranspose, "MaxPool": maxPool, "AveragePool": averagePool,
		"GlobalAveragePool": globalPool(caffepb.PoolingParameter_AVE), "GlobalMaxPool": globalPool(caffepb.PoolingParameter_MAX),
		"Gemm": gemm, "MatMul": matMul, "BatchNormalization": batchNormalization, "LRN": lrn, "Softmax": softmax, "LogSoftmax": composed(logSoftmax),
		"Relu": positive("ReLU"), "Sigmoid": positive("Sigmoid"), "Tanh": simple("TanH"), "Abs": positive("AbsVal"), "Softplus": positive("BNLL"),
		"LeakyRelu": leakyRelu, "PRelu": prelu, "Elu": elu, "Clip": clip, "Exp": simple("Exp"), "Log": simple("Log"), "HardSigmoid": hardSigmoid,
		"Sqrt": powerOf(0.5, 1, 0), "Neg": powerOf(1, -1, 0), "Reciprocal": powerOf(-1, 1, 0), "Pow": pow,
		"Add": add, "Sub": sub, "Mul": mul, "Div": div, "Max": extreme(1), "Min": extreme(-1),
		"Sum": several(caffepb.EltwiseParameter_SUM, 1, false), "Mean": several(caffepb.EltwiseParameter_SUM, 1, true),
		"Softsign": softsign, "Selu": selu, "Celu": celu, "ThresholdedRelu": thresholdedRelu, "Shrink": shrink, "Sign": giveWhole(sign), "Cosh": cosh, "Sinh": sinh,
		"LayerNormalization": layerNormalization, "InstanceNormalization": instanceNormalization, "GroupNormalization": groupNormalization,
		"LSTM": recurrence(4, 2, []string{"Sigmoid", "Tanh", "Tanh"}, lstmPass), "GRU": recurrence(3, 1, []string{"Sigmoid", "Tanh"}, gruPass),
		"RNN":                       recurrence(1, 1, []string{"Tanh"}, rnnPass),
		"MeanVarianceNormalization": meanVarianceNormalization, "Expand": expand, "DepthToSpace": depthToSpace, "SpaceToDepth": spaceToDepth,
		"Identity": alias, "Dropout": dropout, "Cast": cast, "Greater": giveWhole(greater), "ArgMax": giveWhole(argMax),
		"Flatten": flatten, "Reshape": reshape, "Squeeze": squeeze, "Unsqueeze": squeeze, "Transpose": transpose, "Pad": pad,
		"Concat": concat, "Split": split, "Slice": slice, "Tile": tile, "Gather": gather,
		"Resize": resize, "Upsample": resize, "MaxRoiPool": maxRoiPool, "HardSwish": simple("HardSwish"), "Mish": simple("Mish"),
		"ReduceMean": reduce(caffepb.ReductionParameter_MEAN), "ReduceSum": reduce(caffepb.ReductionParameter_SUM),
		"ReduceMax": reduceBy(largest), "ReduceMin": reduceBy(smallest), "ReduceL2": reduceBy(length), "ReduceLogSum": reduceBy(logSum),
		"ReduceLogSumExp": reduceBy(logSumExp), "ReduceProd": reduceBy(productOf),
		"ReduceL1": reduce(caffepb.ReductionParameter_ASUM), "ReduceSumSquare": reduce(caffepb.ReductionParameter_SUMSQ),
	}
}

// refusals has operators that exporters often write and that no layer of Caffe computes, and why.
var refusals = map[string]string{
	"Scan": "Caffe's nets have no loops", "Loop": "Caffe's nets have no loops", "If": "Caffe's nets have no branches",
}

func alias(n *node) error {
	v, err := n.input(0)
	n.set(0, v)
	return err
}

// indexInputs has the inputs of operators that are indices. Layers drop their fractions as a cast does.
var indexInputs = map[string]int{"Gather": 1, "RoiAlign": 2}

// onlyIndices reports whether all nodes from a place in the graph on that read a value take it for indices, also in another shape.
func (t *translator) onlyIndices(name string, from int) bool {
	for _, out := range t.model.GetGraph().GetOutput() {
		if out.GetName() == name {
			return false
		}
	}
	nodes := t.model.GetGraph().GetNode()
	for i := from; i < len(nodes); i++ {
		reader := nodes[i]
		for k, in := range reader.GetInput() {
			if in != name {
				continue
			}
			switch op := reader.GetOpType(); op {
			case "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity":
				if k > 0 || !t.onlyIndices(reader.GetOutput()[0], i+1) {
					return false
				}
			default:
				if at, ok := indexInputs[op]; !ok || at != k {
					return false
				}
			}
		}
	}
	return true
}

// giveWhole is a rule whose outputs are whole numbers.
func giveWhole(r rule) rule {
	return func(n *node) error {
		if err := r(n); err != nil {
			return err
		}
		for _, name := range n.GetOutput() {
			if v := n.values[name]; v != nil {
				v.whole = true
			}
		}
		return nil
	}
}

// cast is nothing between float types, and to integers for whole numbers: Caffe has both as floats. No layer drops fractions.
func cast(n *node) error {
	switch to := n.int("to", 0); to {
	case 1, 6, 7, 10, 11, 16:
		v, err := n.input(0)
		if err == nil && (to == 6 || to == 7) && v.constant == nil && !v.whole && !n.onlyIndices(n.GetOutput()[0], 0) {
			return errors.New("a cast to integers drops the fractions of its input, which no layer of Caffe does; indices, truth values and signs need none")
		}
		n.set(0, v)
		return err
	default:
		return fmt.Errorf("a cast to type %d", to)
	}
}
