package model

import (
	"fmt"
	"slices"

	swproto "github.com/swcaffe/swcaffe/proto"
)

// sides bounds height and width of images.
func sides(most int) limit {
	return func(l placed) string {
		for _, shape := range slices.Concat(l.bottoms, l.tops) {
			if len(shape) == 4 && max(shape[2], shape[3]) > most {
				return fmt.Sprintf("images of %dx%d: a side may have %d at most", shape[2], shape[3], most)
			}
		}
		return ""
	}
}

// topExtents bounds all axes of tops behind the batch's.
func topExtents(most int) limit {
	return func(l placed) string {
		if l.param.GetType() == "Flatten" || l.param.GetType() == "Reshape" {
			return "" // moves nothing: the product of axes may be larger
		}
		for _, shape := range l.tops {
			for _, d := range shape[min(1, len(shape)):] {
				if d > most {
					return fmt.Sprintf("a top has shape %v: an extent may be %d at most", shape, most)
				}
			}
		}
		return ""
	}
}

func globalStatistics(l placed) string {
	if p := l.param.GetBatchNormParam(); p != nil && l.param.GetType() == "BatchNorm" && p.UseGlobalStats != nil && !p.GetUseGlobalStats() {
		return "use_global_stats: false: it must be true"
	}
	return ""
}

func mostBottoms(most int) limit {
	return func(l placed) string {
		if l.param.GetType() == "Concat" && len(l.bottoms) > most {
			return fmt.Sprintf("%d bottoms: there may be %d at most", len(l.bottoms), most)
		}
		return ""
	}
}

func wholeDepthwise(l placed) string {
	if kind := l.param.GetType(); kind != "ConvolutionDepthwise" && kind != "DepthwiseConv" || len(l.bottoms) == 0 || len(l.bottoms[0]) < 2 {
		return ""
	}
	p, channels := l.param.GetConvolutionParam(), uint32(l.bottoms[0][1])
	if p.GetNumOutput() != channels || p.GetGroup() != channels {
		return fmt.Sprintf("%d channels, num_output: %d, group: %d: all three must be equal", channels, p.GetNumOutput(), p.GetGroup())
	}
	return ""
}

// deconvolutionStride also bounds the bottom's sides times the strides.
func deconvolutionStride(l placed) string {
	if l.param.GetType() != "Deconvolution" || len(l.bottoms) == 0 || len(l.bottoms[0]) != 4 {
		return ""
	}
	h, w := pairOf(l.param.GetConvolutionParam().GetStride(), l.param.GetConvolutionParam().StrideH, l.param.GetConvolutionParam().StrideW, 1)
	if h*w >= 256 {
		return fmt.Sprintf("strides %dx%d: their product must be below 256", h, w)
	}
	for i, side := range []int{l.bottoms[0][2] * h, l.bottoms[0][3] * w} {
		if side < 2 || side > 4096 {
			return fmt.Sprintf("%s times stride is %d: it must be from 2 to 4096", []string{"height", "width"}[i], side)
		}
	}
	return ""
}

// keptBatch refuses what changes the number of items, but for regions of images.
func keptBatch(l placed) string {
	if kind := l.param.GetType(); kind == "ROIPooling" || kind == "PSROIPooling" || kind == "Proposal" || kind == "Custom" || len(l.bottoms) == 0 || len(l.bottoms[0]) == 0 {
		return ""
	}
	for _, shape := range l.tops {
		if len(shape) > 0 && shape[0] != l.bottoms[0][0] {
			return fmt.Sprintf("the bottom's axis 0 is %d, a top's %d: the axis of the batch must stay as it is", l.bottoms[0][0], shape[0])
		}
	}
	return ""
}

// smallWindows bounds kernels, strides, pads and dilations.
func smallWindows(most int) limit {
	return func(l placed) string {
		var names = []string{"kernel", "stride", "pad", "dilation"}
		var given [4][2]int
		switch l.param.GetType() {
		case "Convolution", "Deconvolution", "DepthwiseConv":
			p := l.param.GetConvolutionParam()
			given[0][0], given[0][1] = pairOf(p.GetKernelSize(), p.KernelH, p.KernelW, 1)
			given[1][0], given[1][1] = pairOf(p.GetStride(), p.StrideH, p.StrideW, 1)
			given[2][0], given[2][1] = pairOf(p.GetPad(), p.PadH, p.PadW, 0)
			given[3][0], given[3][1] = pairOf(swproto.Dilation(p), nil, nil, 1)
		case "Pooling":
			p := l.param.GetPoolingParam()
			if p.GetGlobalPooling() {
				return ""
			}
			given[0][0], given[0][1] = pairOf([]uint32{p.GetKernelSize()}, p.KernelH, p.KernelW, 1)
			given[1][0], given[1][1] = pairOf([]uint32{p.GetStride()}, p.StrideH, p.StrideW, 1)
			given[2][0], given[2][1] = pairOf([]uint32{p.GetPad()}, p.PadH, p.PadW, 0)
		}
		for i, pair := range given {
			if max(pair[0], pair[1]) > most {
				return fmt.Sprintf("%s %dx%d: it may be %d at most", names[i], pair[0], pair[1], most)
			}
		}
		return ""
	}
}

func mostGroups(most uint32) limit {
	return func(l placed) string {
		if group := l.param.GetConvolutionParam().GetGroup(); group > most {
			return fmt.Sprintf("group: %d: there may be %d at most", group, most)
		}
		return ""
	}
}

func powers(l placed) string {
	known := []float32{-3, -2, -1, -0.5, 0.5, 1, 2, 3}
	if power := l.param.GetPowerParam().GetPower(); l.param.GetType() == "Power" && !slices.Contains(known, power) {
		return fmt.Sprintf("power: %g: it must be one of %v", power, known)
	}
	return ""
}

// pairOf returns the vertical and the horizontal value of a parameter of windows: those with names of their own come first, as in Caffe.
func pairOf(list []uint32, h, w *uint32, usual int) (int, int) {
	switch {
	case h != nil || w != nil:
		return intOf(h), intOf(w)
	case len(list) == 0:
		return usual, usual
	}
	return int(list[0]), int(list[len(list)-1])
}

func intOf(v *uint32) int {
	if v == nil {
		return 0
	}
	return int(*v)
}
