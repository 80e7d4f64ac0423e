package netdraw

import (
	"fmt"
	"path"
	"slices"
	"strings"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// details returns the details of a layer: its type and the parameters that determine its output.
func (g *Graph) details(l *caffepb.LayerParameter) string {
	parts := []string{l.GetType()}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch l.GetType() {
	case "Convolution", "ConvolutionDepthwise", "DepthwiseConvolution", "Deconvolution", "Im2col":
		parts = append(parts, convolutionDetails(l.GetConvolutionParam())...)
	case "Pooling":
		parts = append(parts, poolingDetails(l.GetPoolingParam())...)
	case "InnerProduct":
		add("%d outputs", l.GetInnerProductParam().GetNumOutput())
	case "Embed":
		add("%d of %d words", l.GetEmbedParam().GetNumOutput(), l.GetEmbedParam().GetInputDim())
	case "LSTM", "RNN":
		add("%d outputs", l.GetRecurrentParam().GetNumOutput())
	case "Lstm":
		add("%d outputs", l.GetLstmParam().GetNumOutput())
	case "LRN":
		add("%s %d", strings.ToLower(l.GetLrnParam().GetNormRegion().String()), l.GetLrnParam().GetLocalSize())
	case "Dropout":
		add("%g", l.GetDropoutParam().GetDropoutRatio())
	case "Eltwise":
		add("%s", l.GetEltwiseParam().GetOperation())
	case "Concat":
		add("axis %d", l.GetConcatParam().GetAxis())
	case "Slice":
		add("axis %d", l.GetSliceParam().GetAxis())
	case "Accuracy":
		if k := l.GetAccuracyParam().GetTopK(); k > 1 {
			add("top %d", k)
		}
	default:
		parts = append(parts, g.sourceDetails(l)...)
	}
	if w := l.LossWeight; len(w) > 0 && w[0] != 1 {
		add("weight %g", w[0])
	}
	text := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
	if g.opt.Rates {
		text += rates(l)
	}
	return text
}

func convolutionDetails(p *caffepb.ConvolutionParameter) []string {
	parts := []string{window(p.GetKernelSize(), p.GetKernelH(), p.GetKernelW())}
	if s := steps(p.GetStride(), p.GetStrideH(), p.GetStrideW(), 1); s != "" {
		parts = append(parts, "stride "+s)
	}
	if s := steps(p.GetPad(), p.GetPadH(), p.GetPadW(), 0); s != "" {
		parts = append(parts, "pad "+s)
	}
	if s := steps(swproto.Dilation(p), 0, 0, 1); s != "" {
		parts = append(parts, "dilation "+s)
	}
	if p.GetGroup() > 1 {
		parts = append(parts, fmt.Sprintf("groups %d", p.GetGroup()))
	}
	if p.GetNumOutput() > 0 {
		parts = append(parts, fmt.Sprintf("→ %d", p.GetNumOutput()))
	}
	return parts
}

func poolingDetails(p *caffepb.PoolingParameter) []string {
	parts := []string{p.GetPool().String()}
	if p.GetGlobalPooling() {
		return append(parts, "global")
	}
	parts = append(parts, window([]uint32{p.GetKernelSize()}, p.GetKernelH(), p.GetKernelW()))
	if s := steps([]uint32{p.GetStride()}, p.GetStrideH(), p.GetStrideW(), 1); s != "" {
		parts = append(parts, "stride "+s)
	}
	if s := steps([]uint32{p.GetPad()}, p.GetPadH(), p.GetPadW(), 0); s != "" {
		parts = append(parts, "pad "+s)
	}
	return parts
}

// steps formats strides and the like: "2", or "2x1" if axes differ. It returns "" if all have the default value.
func steps(sizes []uint32, h, w, standard uint32) string {
	if h != 0 || w != 0 {
		sizes = []uint32{h, w}
	}
	if !slices.ContainsFunc(sizes, func(s uint32) bool { return s != standard }) {
		return ""
	}
	if len(slices.Compact(slices.Clone(sizes))) == 1 {
		return fmt.Sprint(sizes[0])
	}
	return window(sizes, 0, 0)
}

// window formats a kernel's extents, "3x3" or "1x7". A single extent is used for both axes. It returns "" if there are none.
func window(sizes []uint32, h, w uint32) string {
	if h != 0 || w != 0 {
		sizes = []uint32{h, w}
	}
	if !slices.ContainsFunc(sizes, func(s uint32) bool { return s != 0 }) {
		return ""
	}
	if len(sizes) == 1 {
		sizes = []uint32{sizes[0], sizes[0]}
	}
	var words []string
	for _, s := range sizes {
		words = append(words, fmt.Sprint(s))
	}
	return strings.Join(words, "x")
}

// sourceDetails returns the source of a layer's data and their number. Shapes that the prototxt gives are left out if the graph has all shapes.
func (g *Graph) sourceDetails(l *caffepb.LayerParameter) []string {
	source, batch := "", uint32(0)
	var shapes []*caffepb.BlobShape
	switch l.GetType() {
	case "Data", "AnnotatedData":
		source, batch = l.GetDataParam().GetSource(), l.GetDataParam().GetBatchSize()
	case "ImageData", "ImageSegData":
		source, batch = l.GetImageDataParam().GetSource(), l.GetImageDataParam().GetBatchSize()
	case "DenseImageData":
		source, batch = l.GetDenseImageDataParam().GetSource(), l.GetDenseImageDataParam().GetBatchSize()
	case "HDF5Data":
		source, batch = l.GetHdf5DataParam().GetSource(), l.GetHdf5DataParam().GetBatchSize()
	case "WindowData":
		source, batch = l.GetWindowDataParam().GetSource(), l.GetWindowDataParam().GetBatchSize()
	case "Input":
		shapes = l.GetInputParam().GetShape()
	case "DummyData":
		shapes = l.GetDummyDataParam().GetShape()
	}
	var parts []string
	if source != "" {
		parts = append(parts, path.Base(source), fmt.Sprintf("batch %d", batch))
	}
	if g.opt.Shapes != nil {
		return parts
	}
	for _, s := range shapes {
		parts = append(parts, strings.ReplaceAll(strings.Trim(fmt.Sprint(s.GetDim()), "[]"), " ", "x"))
	}
	return parts
}

// rates lists the learning-rate multipliers of a layer's weights.
func rates(l *caffepb.LayerParameter) string {
	var words []string
	for _, p := range l.Param {
		words = append(words, fmt.Sprintf("%g", p.GetLrMult()))
	}
	if len(words) == 0 {
		return ""
	}
	return " lr " + strings.Join(words, ", ")
}

// shapes lists the shapes of what a box's first layer makes, "64x20x24x24". If the phases differ, it lists those of TRAIN before those of TEST.
func (g *Graph) shapes(b *box) string {
	var phases []string
	for _, state := range g.opt.States {
		if !b.phases[state.GetPhase()] {
			continue
		}
		var tops []string
		for _, s := range g.opt.Shapes[state.GetPhase()][b.layers[0].GetName()] {
			extents, _, _ := strings.Cut(s, "(")
			tops = append(tops, strings.Join(strings.Fields(extents), "x"))
		}
		tops = slices.Compact(slices.DeleteFunc(tops, func(s string) bool { return s == "" }))
		if text := strings.Join(tops, ", "); text != "" && !slices.Contains(phases, text) {
			phases = append(phases, text)
		}
	}
	return strings.Join(phases, " / ")
}

// only returns the name of a box's phase if the drawing has both phases and the box only one.
func (g *Graph) only(phases map[caffepb.Phase]bool) string {
	if len(phases) == len(g.opt.States) {
		return ""
	}
	for phase := range phases {
		return phase.String() + " only"
	}
	return ""
}
