package models_test

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// published holds published counts for the nets, with their sources. Multiply-adds are per image, forward, in G, and are compared
// to the published digits; 0 means that there is no source.
var published = []struct {
	model, file  string
	phase        caffepb.Phase
	parameters   int64
	multiplyAdds float64
	tolerance    float64
	source       string
}{
	{"lenet", deploy, caffepb.Phase_TEST, 431080, 0, 0, "Caffe's lenet_iter_10000.caffemodel"},
	{"alexnet", deploy, caffepb.Phase_TEST, 60965224, 0.727, 0.005, "bvlc_alexnet.caffemodel; github.com/albanie/convnet-burden"},
	{"caffenet", deploy, caffepb.Phase_TEST, 60965224, 0.724, 0.001, "bvlc_reference_caffenet.caffemodel; github.com/albanie/convnet-burden"},
	// AlexNet and two values for each of 96+256+384+384+256 channels.
	{"alexnet_bn", deploy, caffepb.Phase_TEST, 60965224 + 2*1376, 0.724, 0.001, "as AlexNet"},
	// The paper's table 1 adds up to 1.502 G. It has 34 M for the first convolution, whose 64 x 112 x 112 x 147 are 118 M.
	{"googlenet", deploy, caffepb.Phase_TEST, 6998552, 1.502 - 0.034 + 0.118, 0.003, "bvlc_googlenet.caffemodel without its heads; C. Szegedy et al. 2015"},
	{"googlenet", trainVal, caffepb.Phase_TRAIN, 13378280, 0, 0, "bvlc_googlenet.caffemodel"},
	{"vgg16", deploy, caffepb.Phase_TEST, 138357544, 15.3, 0.015, "VGG_ILSVRC_16_layers.caffemodel; K. He et al. 2016, section 4.1"},
	{"vgg19", deploy, caffepb.Phase_TEST, 143667240, 19.6, 0.003, "VGG_ILSVRC_19_layers.caffemodel; K. He et al. 2016, section 4.1"},
	{"resnet18", deploy, caffepb.Phase_TEST, 11689512, 1.8, 0.02, "torchvision's resnet18; K. He et al. 2016, table 1"},
	// The authors' Caffe net has a bias of 64 values in conv1, torchvision's (25,557,032) has none.
	{"resnet50", deploy, caffepb.Phase_TEST, 25557032 + 64, 3.8, 0.02, "torchvision's resnet50; K. He et al. 2016, table 1"},
}

// TestPublishedSizes compares parameters, exactly, and multiply-adds with what others count.
func TestPublishedSizes(t *testing.T) {
	for _, p := range published {
		t.Run(p.model+"/"+p.file, func(t *testing.T) {
			s := measure(t, p.model, p.file, p.phase)
			if s.Parameters != p.parameters {
				t.Errorf("%d parameters, want %d (%s)", s.Parameters, p.parameters, p.source)
			}
			got := float64(s.Flops) / 2e9
			if p.multiplyAdds > 0 && math.Abs(got/p.multiplyAdds-1) > p.tolerance {
				t.Errorf("%.4g G multiply-adds, want %.4g (%s)", got, p.multiplyAdds, p.source)
			}
		})
	}
}
