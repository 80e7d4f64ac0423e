package intake

import (
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
		"LpNormalization": composed(lpNormalization), "LSTM": recurrence(4, 2, []string{"Sigmoid", "Tanh", "Tanh"}, lstmPass), "GRU": recurrence(3, 1, []string{"Sigmoid", "Tanh"}, gruPass),
		"RNN":                       recurrence(1, 1, []string{"Tanh"}, rnnPass),
		"MeanVarianceNormalization": meanVarianceNormalization, "Expand": expand, "DepthToSpace": depthToSpace, "SpaceToDepth": spaceToDepth,
		"QuantizeLinear": quantizeLinear, "DequantizeLinear": dequantizeLinear,
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
