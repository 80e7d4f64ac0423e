package proto

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// TestUpgrade compares what ReadNet and ReadSolver make of each file, warnings first, with testdata/upgrade.txt.
func TestUpgrade(t *testing.T) {
	golden, err := filepath.Abs("testdata/upgrade.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "snap"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	checkSections(t, golden, func(t *testing.T, c section) string {
		file := c.kind + ".prototxt"
		if err := os.WriteFile(file, []byte(c.input), 0o644); err != nil {
			t.Fatal(err)
		}
		if c.kind == "solver" {
			s, err := ReadSolver(file)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return comments(s.Warnings) + string(MarshalText(s.Param))
		}
		n, err := ReadNet(file)
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		return comments(n.Warnings) + string(MarshalText(n.Param))
	})
}

func comments(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	return b.String()
}

func TestLayerPositionsAfterUpgrade(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"current", "layer {}\nlayer {}", []string{":1", ":2"}},
		{"input", "input: 'a' input_dim: [1, 1, 1, 1]\nlayer {}", []string{"", ":2"}},
		{"V1", "layers {}\n\nlayers {}", []string{":1", ":3"}},
		{"V0 with padding", "input: 'a' input_dim: [1, 1, 1, 1]\nlayers { layer { type: 'padding' } bottom: 'a' top: 'p' }\n" +
			"layers { layer { type: 'conv' } bottom: 'p' top: 'c' }\nlayers { layer { type: 'relu' } bottom: 'c' }", []string{"", ":3", ":4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "n.prototxt")
			if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			n, err := ReadNet(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(n.Param.Layer) != len(c.want) {
				t.Fatalf("%d layers, want %d", len(n.Param.Layer), len(c.want))
			}
			for i, want := range c.want {
				if got := n.LayerPos(i); got != file+want {
					t.Errorf("LayerPos(%d) = %q, want %q", i, got, file+want)
				}
			}
			if got := n.LayerPos(-1); got != file {
				t.Errorf("the net is in %q, want %q", got, file)
			}
		})
	}
}

// Every type and field of the old forms that still has a meaning has a place in the current form.
func TestOldFormsAreCovered(t *testing.T) {
	for v0, v1 := range v0Types {
		if v1Types[v1] == "" {
			t.Errorf("V0 type %q becomes V1 type %v, which has no name", v0, v1)
		}
	}
	for number, name := range caffepb.V1LayerParameter_LayerType_name {
		if _, ok := v1Types[caffepb.V1LayerParameter_LayerType(number)]; !ok {
			t.Errorf("V1 type %s has no name", name)
		}
	}
	const unused = "new_num new_channels type" // the sizes are of a reshaping layer that V1 does not have
	fields := (&caffepb.V0LayerParameter{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if name := string(fields.Get(i).Name()); v0Fields[name] == nil && !strings.Contains(unused, name) {
			t.Errorf("V0 field %s goes nowhere", name)
		}
	}
}

func TestUpgradeIsDoneOnce(t *testing.T) {
	p := &caffepb.NetParameter{}
	text := "input: 'a' input_dim: [1, 1, 1, 1] layers { layer { type: 'data' scale: 2 } } layers { layer { type: 'relu' } }"
	if _, err := UnmarshalText("n", []byte(text), p); err != nil {
		t.Fatal(err)
	}
	if _, err := UpgradeNet(p, "n"); err != nil {
		t.Fatal(err)
	}
	once := proto.Clone(p)
	warnings, err := UpgradeNet(p, "n")
	if err != nil || len(warnings) > 0 || !proto.Equal(once, p) {
		t.Errorf("a second upgrade: error %v, warnings %q, net %v", err, warnings, p)
	}
}

// TestOldFormsAreCaffes: layers of every type of the old forms, with every field, become the layers that Caffe's tool makes of
// them.
func TestOldFormsAreCaffes(t *testing.T) {
	const v0Fields = `num_output: 5 biasterm: true weight_filler { type: "f5" } bias_filler { type: "f6" } pad: 9 kernelsize: 10 group: 11 stride: 12 pool: STOCHASTIC
dropout_ratio: 2.5 local_size: 15 alpha: 2.75 beta: 2.875 k: 3.75 source: "s16" scale: 3.125 meanfile: "s18" batchsize: 21 cropsize: 22 mirror: true
blobs { num: 1 channels: 1 height: 1 width: 1 data: 3 } blobs_lr: 7.375 blobs_lr: 7 weight_decay: 7.5 weight_decay: 7 rand_skip: 55 det_fg_threshold:
7.75 det_bg_threshold: 7.875 det_fg_fraction: 8.0 det_context_pad: 60 det_crop_mode: "s59" new_num: 62 new_channels: 63 new_height: 64 new_width: 65
shuffle_images: true concat_dim: 67 hdf5_output_param { file_name: "o" }`
	const v1Fields = `bottom: "b" top: "t" param: "p" param: "q" blobs_lr: 2 blobs_lr: 3 weight_decay: 4 weight_decay: 5 weight_decay: 6 blob_share_mode: PERMISSIVE
loss_weight: 2 include { phase: TEST } exclude { stage: "s" } blobs { data: 3 } accuracy_param { top_k: 3 axis: 3 ignore_label: 3 } argmax_param {
out_max_val: true top_k: 3 axis: 3 } concat_param { axis: 3 concat_dim: 3 } contrastive_loss_param { margin: 3 legacy_version: true }
convolution_param { num_output: 3 bias_term: true pad: 3 kernel_size: 3 stride: 3 dilation: 3 pad_h: 3 pad_w: 3 kernel_h: 3 kernel_w: 3 stride_h: 3
stride_w: 3 group: 3 axis: 3 force_nd_im2col: true } data_param { source: "x" batch_size: 3 rand_skip: 3 scale: 3 mean_file: "x" crop_size: 3 mirror:
true force_encoded_color: true prefetch: 3 } dropout_param { dropout_ratio: 3 } dummy_data_param { num: 3 channels: 3 height: 3 width: 3 }
eltwise_param { coeff: 3 stable_prod_grad: true } exp_param { base: 3 scale: 3 shift: 3 } hdf5_data_param { source: "x" batch_size: 3 shuffle: true }
hdf5_output_param { file_name: "x" } hinge_loss_param { } image_data_param { source: "x" batch_size: 3 rand_skip: 3 shuffle: true new_height: 3
new_width: 3 is_color: true scale: 3 mean_file: "x" crop_size: 3 mirror: true root_folder: "x" } infogain_loss_param { source: "x" axis: 3 }
inner_product_param { num_output: 3 bias_term: true axis: 3 transpose: true } lrn_param { local_size: 3 alpha: 3 beta: 3 k: 3 } memory_data_param {
batch_size: 3 channels: 3 height: 3 width: 3 } mvn_param { normalize_variance: true across_channels: true eps: 3 } pooling_param { pad: 3 pad_h: 3
pad_w: 3 kernel_size: 3 kernel_h: 3 kernel_w: 3 stride: 3 stride_h: 3 stride_w: 3 global_pooling: true } power_param { power: 3 scale: 3 shift: 3 }
relu_param { negative_slope: 3 } sigmoid_param { } softmax_param { axis: 3 } slice_param { axis: 3 slice_point: 3 slice_dim: 3 } tanh_param { }
threshold_param { threshold: 3 } window_data_param { source: "x" scale: 3 mean_file: "x" batch_size: 3 crop_size: 3 mirror: true fg_threshold: 3
bg_threshold: 3 fg_fraction: 3 context_pad: 3 crop_mode: "x" cache_images: true root_folder: "x" } transform_param { scale: 3 mirror: true crop_size:
3 mean_file: "x" mean_value: 3 force_color: true force_gray: true } loss_param { ignore_label: 3 normalize: true }`
	const v1Data = `data_param { source: "x" batch_size: 3 rand_skip: 3 scale: 3 mean_file: "x" crop_size: 3 mirror: true force_encoded_color: true prefetch: 3 }
image_data_param { source: "x" batch_size: 3 rand_skip: 3 shuffle: true new_height: 3 new_width: 3 is_color: true scale: 3 mean_file: "x" crop_size: 3
mirror: true root_folder: "x" } window_data_param { source: "x" scale: 3 mean_file: "x" batch_size: 3 crop_size: 3 mirror: true fg_threshold: 3
bg_threshold: 3 fg_fraction: 3 context_pad: 3 crop_mode: "x" cache_images: true root_folder: "x" }`
	for _, c := range []struct {
		file  string
		types int
		layer func(name string) string
	}{
		{"testdata/caffe_v0.prototxt", len(v0Types), func(name string) string {
			return fmt.Sprintf("layers { layer { name: %[1]q type: %[1]q %s } }\n", name, v0Fields)
		}},
		{"testdata/caffe_v1.prototxt", len(v1Types) - len([]string{"INTERP", "SEG_ACCURACY", "BN"}) + 1, func(name string) string {
			kind, fields, _ := strings.Cut(name, " ")
			switch fields {
			case "with fields":
				fields = v1Data
			case "field":
				kind, fields = "CONVOLUTION", v1Fields
			}
			return fmt.Sprintf("layers { name: %q type: %s %s }\n", name, kind, fields)
		}},
	} {
		text, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		want, got := &caffepb.NetParameter{}, &caffepb.NetParameter{}
		if _, err := UnmarshalText(c.file, text, want); err != nil {
			t.Fatal(err)
		}
		var old strings.Builder
		for _, l := range want.Layer {
			old.WriteString(c.layer(l.GetName()))
		}
		if _, err := UnmarshalText("old", []byte(old.String()), got); err != nil {
			t.Fatal(err)
		}
		if _, err := UpgradeNet(got, "old"); err != nil {
			t.Fatal(err)
		}
		if len(want.Layer) != c.types || len(got.Layer) != c.types {
			t.Fatalf("%s: %d layers become %d, want %d", c.file, len(want.Layer), len(got.Layer), c.types)
		}
		for i, l := range want.Layer {
			if !proto.Equal(got.Layer[i], l) {
				t.Errorf("%s: layer %q becomes\n%s\nCaffe's is\n%s", c.file, l.GetName(), MarshalText(got.Layer[i]), MarshalText(l))
			}
		}
	}
}
