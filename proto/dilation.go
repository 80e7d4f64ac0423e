package proto

import "github.com/swcaffe/swcaffe/proto/caffepb"

// Dilation returns the dilation of a window: one number for all axes or one for each, none where it is 1. DeepLab's fork of Caffe names it hole,
// or hole_h and hole_w.
func Dilation(p *caffepb.ConvolutionParameter) []uint32 {
	switch {
	case p == nil:
		return nil
	case p.HoleH != nil || p.HoleW != nil:
		return []uint32{p.GetHoleH(), p.GetHoleW()}
	case p.Hole != nil:
		return []uint32{p.GetHole()}
	}
	return p.GetDilation()
}
