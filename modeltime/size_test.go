package modeltime

import (
	"reflect"
	"strings"
	"testing"

	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func measureText(t *testing.T, text string, batch int) *Size {
	t.Helper()
	s, err := Measure(readNet(t, text), SizeOptions{State: swnet.MergeState(caffepb.Phase_TRAIN), Batch: batch})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMeasure counts by hand: groups, strides, transposed convolutions, statistics apart from weights, shared weights once, rows
// of inner products along any axis, the static input of an LSTM once a stream.
func TestMeasure(t *testing.T) {
	type want struct{ parameters, statistics, multiplyAdds int64 }
	for name, c := range map[string]struct {
		text string
		want map[string]want
	}{
		"images": {`
layer { name: "data" type: "Data" top: "data" top: "label" transform_param { crop_size: 11 }
  data_param { source: "nowhere" batch_size: 4 backend: LMDB } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 6 kernel_h: 3 kernel_w: 5 stride: 2 pad: 1 group: 3 } }
layer { name: "bn" type: "BatchNorm" bottom: "conv" top: "conv" }
layer { name: "scale" type: "Scale" bottom: "conv" top: "conv" scale_param { bias_term: true } }
layer { name: "up" type: "Deconvolution" bottom: "conv" top: "up" convolution_param { num_output: 4 kernel_size: 4 stride: 2 group: 2 bias_term: false } }
layer { name: "ip" type: "InnerProduct" bottom: "up" top: "ip" inner_product_param { num_output: 5 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
`, map[string]want{
			"conv":  {6*15 + 6, 0, 6 * 6 * 5 * 15}, // 6 x 5 positions
			"bn":    {0, 6 + 6 + 1, 0},
			"scale": {12, 0, 0},
			"up":    {6 * 2 * 16, 0, 6 * 6 * 5 * 2 * 16},
			"ip":    {5*4*14*12 + 5, 0, 5 * 4 * 14 * 12},
		}},
		"sharing": {`
layer { name: "data" type: "DummyData" top: "a" top: "b" dummy_data_param { shape { dim: 3 dim: 2 dim: 7 } } }
layer { name: "one" type: "InnerProduct" bottom: "a" top: "one" param { name: "w" } param { name: "b" } inner_product_param { num_output: 5 axis: 2 } }
layer { name: "two" type: "InnerProduct" bottom: "b" top: "two" param { name: "w" } param { name: "b" } inner_product_param { num_output: 5 axis: 2 } }
`, map[string]want{
			"one": {5*7 + 5, 0, 2 * 35},
			"two": {0, 0, 2 * 35},
		}},
		"sequences": {`
layer { name: "data" type: "DummyData" top: "x" top: "cont" top: "fixed"
  dummy_data_param { shape { dim: 6 dim: 3 dim: 7 } shape { dim: 6 dim: 3 } shape { dim: 3 dim: 2 } } }
layer { name: "lstm" type: "LSTM" bottom: "x" bottom: "cont" bottom: "fixed" top: "lstm" recurrent_param { num_output: 5 } }
layer { name: "rnn" type: "RNN" bottom: "lstm" bottom: "cont" top: "rnn" recurrent_param { num_output: 4 } }
`, map[string]want{
			// For each of 6 steps 3 streams; the static input once for all steps.
			"lstm": {20*7 + 20 + 20*2 + 20*5, 0, (18*(20*7+20*5) + 3*20*2) / 6},
			"rnn":  {4*5 + 4 + 4*4 + 4*4 + 4, 0, 3 * (4*5 + 4*4 + 4*4)},
		}},
		"packed sequences": {`
layer { name: "data" type: "DummyData" top: "x" dummy_data_param { shape { dim: 6 dim: 7 } } }
layer { name: "lstm" type: "Lstm" bottom: "x" top: "lstm" lstm_param { num_output: 5 batch_size: 3 } }
`, map[string]want{"lstm": {20*7 + 20*5 + 20, 0, 20*7 + 20*5}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := measureText(t, c.text, 0)
			var sum want
			for _, l := range s.Layers {
				got := want{l.Parameters, l.Statistics, int64(l.Flops / 2)}
				if w := c.want[l.Name]; got != w {
					t.Errorf("%s: %+v, want %+v", l.Name, got, w)
				}
				sum = want{sum.parameters + got.parameters, sum.statistics + got.statistics, sum.multiplyAdds + got.multiplyAdds}
			}
			if total := (want{s.Parameters, s.Statistics, int64(s.Flops / 2)}); total != sum {
				t.Errorf("totals %+v, sums %+v", total, sum)
			}
		})
	}
}

// TestMeasureBatch: figures are an image's, whatever the batch; shapes are the batch's.
func TestMeasureBatch(t *testing.T) {
	one, seven := measureText(t, small, 1), measureText(t, small, 7)
	if one.Batch != 1 || seven.Batch != 7 || one.Flops != seven.Flops || one.Parameters != seven.Parameters {
		t.Errorf("batch %d: %g FLOPs, %d parameters; batch %d: %g, %d", one.Batch, one.Flops, one.Parameters, seven.Batch, seven.Flops, seven.Parameters)
	}
	if got, want := seven.Layers[1].Tops, [][]int{{7, 16, 11, 11}}; !reflect.DeepEqual(got, want) {
		t.Errorf("tops %v, want %v", got, want)
	}
}

// TestStandIn: images that are not there are counted where the net says how large they are, cropped or resized.
func TestStandIn(t *testing.T) {
	for name, c := range map[string]struct {
		text        string
		want, label []int
	}{
		"cropped":          {`type: "ImageData" image_data_param { source: "nowhere" batch_size: 2 new_height: 9 new_width: 9 } transform_param { crop_size: 8 }`, []int{2, 3, 8, 8}, []int{2}},
		"resized":          {`type: "ImageData" image_data_param { source: "nowhere" batch_size: 2 new_height: 9 new_width: 7 }`, []int{2, 3, 9, 7}, []int{2}},
		"grey":             {`type: "ImageData" image_data_param { source: "nowhere" batch_size: 2 new_height: 9 new_width: 7 is_color: false }`, []int{2, 1, 9, 7}, []int{2}},
		"SWCaffe's reader": {`type: "IMAGENETData" data_param { source: "nowhere" batch_size: 2 } transform_param { crop_size: 8 }`, []int{2, 3, 8, 8}, []int{2}},
		"pixels' labels":   {`type: "DenseImageData" dense_image_data_param { source: "nowhere" batch_size: 2 new_height: 9 new_width: 7 is_color: false }`, []int{2, 1, 9, 7}, []int{2, 1, 9, 7}},
		"objects":          {`type: "AnnotatedData" data_param { source: "nowhere" batch_size: 2 } transform_param { crop_size: 8 }`, []int{2, 3, 8, 8}, []int{1, 1, 2, 8}},
		"objects of YOLO":  {`type: "AnnotatedData" data_param { source: "nowhere" batch_size: 2 } annotated_data_param { yolo_data_type: 1 } transform_param { crop_size: 8 }`, []int{2, 3, 8, 8}, []int{2, 300, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			s := measureText(t, `layer { name: "d" top: "x" top: "y" `+c.text+" }", 0)
			if got := s.Layers[0].Tops; !reflect.DeepEqual(got, [][]int{c.want, c.label}) {
				t.Errorf("tops %v, want %v and %v", got, c.want, c.label)
			}
		})
	}
	masked := measureText(t, `layer { name: "d" top: "x" top: "y" type: "DenseImageData" dense_image_data_param { source: "nowhere" batch_size: 2 new_height: 9 new_width: 7 } }`, 0)
	if got, want := masked.Layers[0].Tops, [][]int{{2, 3, 9, 7}, {2, 1, 9, 7}}; !reflect.DeepEqual(got, want) {
		t.Errorf("images and masks: tops %v, want %v", got, want)
	}
	masked = measureText(t, `layer { name: "d" top: "x" top: "y" top: "z" type: "ImageSegData" image_data_param { source: "nowhere" batch_size: 2 label_type: PIXEL } transform_param { crop_size: 8 } }`, 0)
	if got, want := masked.Layers[0].Tops, [][]int{{2, 3, 8, 8}, {2, 1, 8, 8}, {2, 1, 1, 2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("images, masks and sizes: tops %v, want %v", got, want)
	}
	none := readNet(t, `layer { name: "d" type: "Data" data_param { source: "nowhere" batch_size: 2 } transform_param { crop_size: 8 } }`)
	if _, err := Measure(none, SizeOptions{State: swnet.MergeState(caffepb.Phase_TRAIN)}); err == nil || !strings.Contains(err.Error(), `layer "d" (Data): top blobs: 0 given`) {
		t.Errorf("a layer without tops: %v", err)
	}
}
