package modeltime

import (
	"math"
	"strings"
	"testing"
)

// TestLineNorm: with the software of 2019 BatchNorm takes as long as a start of threads, its requests one after the other, at the bandwidths of
// swCaffe's figure 2, and 22 cycles for two sums of a value. Half of the CPEs are idle for the last 32 of 96 channels. Global statistics need another kernel, and lines that
// do not fit LDM are left to ours.
func TestLineNorm(t *testing.T) {
	const text = `
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 8 dim: CHANNELS dim: SIZE dim: SIZE } } }
layer { name: "ip" type: "Convolution" bottom: "data" top: "x" convolution_param { num_output: CHANNELS kernel_size: 1 bias_term: false } }
layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" }
layer { name: "loss" type: "Reduction" bottom: "bn" top: "loss" loss_weight: 1 }
`
	net := func(channels, size string) string {
		return strings.NewReplacer("CHANNELS", channels, "SIZE", size).Replace(text)
	}
	ours, theirs := withSoftware(t, "swcaffe"), withSoftware(t, "swcaffe-2019")
	const (
		sums  = 22 * 1024 / 1.45e6 // ms for a line of 32x32
		start = 0.028              // ms
	)
	for _, c := range []struct {
		channels          string
		forward, backward float64 // ms for an image
	}{
		{"64", 64 * 4096 / 1e6 * (2/25.67 + 3/25.89), 64 * 4096 / 1e6 * (4/25.67 + 1/25.89)},
		{"96", 64*4096/1e6*(2/25.67+3/25.89) + 32*4096/1e6*(2/16.21+3/21.54), 64*4096/1e6*(4/25.67+1/25.89) + 32*4096/1e6*(4/16.21+1/21.54)},
	} {
		rounds := map[string]float64{"64": 1, "96": 2}[c.channels]
		bn := run(t, net(c.channels, "32"), theirs).Layers[2]
		for _, p := range []struct {
			what      string
			got, want float64
		}{
			{"forward", bn.Forward.ModelledMs, start + 2*(c.forward+rounds*sums)}, // two images of a core group
			{"backward", bn.InputGradient.ModelledMs, start + 2*(c.backward+rounds*sums)},
			{"DMA bytes forward", float64(bn.Forward.DMABytes), 8 * 1024 * 4 * 5 * (32 + 32*rounds)},
		} {
			if math.Abs(p.got/p.want-1) > 0.02 {
				t.Errorf("%s channels, %s: %g, want %g", c.channels, p.what, p.got, p.want)
			}
		}
	}
	global := strings.Replace(net("64", "32"), `top: "bn"`, `top: "bn" batch_norm_param { use_global_stats: true }`, 1)
	for what, text := range map[string]string{"global statistics": global, "lines of 100 KB": net("4", "160")} {
		if got, want := run(t, text, theirs).Layers[2].Forward.ModelledMs, run(t, text, ours).Layers[2].Forward.ModelledMs; got != want {
			t.Errorf("%s: %g ms, ours %g", what, got, want)
		}
	}
	without := theirs
	var err error
	if without.Spec, err = theirs.Spec.Without("line_norm"); err != nil {
		t.Fatal(err)
	}
	if got, want := run(t, net("64", "32"), without).Layers[2].Forward.ModelledMs, run(t, net("64", "32"), ours).Layers[2].Forward.ModelledMs; got != want {
		t.Errorf("without it %g ms, ours %g", got, want)
	}
}
