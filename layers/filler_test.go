package layers_test

import (
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func filler(t *testing.T, text string) *caffepb.FillerParameter {
	t.Helper()
	f := &caffepb.FillerParameter{}
	if _, err := swproto.UnmarshalText("filler", []byte(text), f); err != nil {
		t.Fatal(err)
	}
	return f
}

// moments returns the mean, the standard deviation and the bounds of a blob's values.
func moments(b *blob.Blob) (mean, std, lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range b.Data() {
		mean += float64(v)
		lo, hi = min(lo, float64(v)), max(hi, float64(v))
	}
	n := float64(b.Count())
	mean /= n
	for _, v := range b.Data() {
		std += (float64(v) - mean) * (float64(v) - mean)
	}
	return mean, math.Sqrt(std / n), lo, hi
}

// TestFillerMoments: the mean and the deviation of 50 x 20 x 10 x 10 values are within four standard errors of the fillers' rules for fan
// in 2000 and fan out 5000.
func TestFillerMoments(t *testing.T) {
	const fanIn, fanOut = 2000.0, 5000.0
	tests := []struct {
		filler    string
		mean, std float64
		bound     float64 // of the values; 0 means none
	}{
		{`type: "uniform" min: -1 max: 3`, 1, 4 / math.Sqrt(12), 3},
		{`type: "gaussian" mean: 2 std: 0.5`, 2, 0.5, 0},
		{`type: "xavier"`, 0, math.Sqrt(1 / fanIn), math.Sqrt(3 / fanIn)},
		{`type: "xavier" variance_norm: FAN_OUT`, 0, math.Sqrt(1 / fanOut), math.Sqrt(3 / fanOut)},
		{`type: "xavier" variance_norm: AVERAGE`, 0, math.Sqrt(2 / (fanIn + fanOut)), math.Sqrt(6 / (fanIn + fanOut))},
		{`type: "msra"`, 0, math.Sqrt(2 / fanIn), 0},
		{`type: "msra" variance_norm: FAN_OUT`, 0, math.Sqrt(2 / fanOut), 0},
		{`type: "gaussian" std: 1 sparse: 10`, 0, math.Sqrt(10.0 / 50), 0},
	}
	for _, tt := range tests {
		b := blob.New(50, 20, 10, 10)
		if err := layers.Fill(b, filler(t, tt.filler), layers.NewRandom(1)); err != nil {
			t.Fatal(err)
		}
		mean, std, lo, hi := moments(b)
		slack := 4 * tt.std / math.Sqrt(float64(b.Count()))
		if math.Abs(mean-tt.mean) > slack || math.Abs(std-tt.std) > 4*slack {
			t.Errorf("%s: mean %g, deviation %g, want %g, %g", tt.filler, mean, std, tt.mean, tt.std)
		}
		if tt.bound > 0 && (hi > tt.bound || lo < -tt.bound) {
			t.Errorf("%s: values from %g to %g, bound %g", tt.filler, lo, hi, tt.bound)
		}
	}
}

func TestFillerExactValues(t *testing.T) {
	b := blob.New(2, 3)
	if err := layers.Fill(b, filler(t, `value: 1.5`), nil); err != nil || b.Data()[5] != 1.5 {
		t.Errorf("constant: %v, %v", b.Data(), err)
	}
	if err := layers.Fill(b, filler(t, `type: "positive_unitball"`), layers.NewRandom(1)); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		var sum float64
		for _, v := range b.Data()[3*i : 3*i+3] {
			if v < 0 {
				t.Errorf("positive_unitball: %g", v)
			}
			sum += float64(v)
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Errorf("positive_unitball: row %d sums to %g", i, sum)
		}
	}
	b = blob.New(1, 1, 4, 4)
	if err := layers.Fill(b, filler(t, `type: "bilinear"`), nil); err != nil {
		t.Fatal(err)
	}
	line := []float32{0.25, 0.75, 0.75, 0.25}
	for i, v := range b.Data() {
		if want := line[i/4] * line[i%4]; math.Abs(float64(v-want)) > 1e-6 {
			t.Errorf("bilinear: value %d is %g, want %g", i, v, want)
		}
	}
}

func TestFillerErrors(t *testing.T) {
	for text, want := range map[string]string{
		`type: "xaver"`:                 `did you mean "xavier"?`,
		`type: "uniform" min: 2 max: 1`: "min 2 is above max 1",
		`type: "gaussian" std: -1`:      "std must be positive, it is -1",
		`type: "gaussian" std: 0`:       "std must be positive, it is 0",
		`type: "gaussian" sparse: 3`:    "sparse 3 is more than the first extent of the shape [2 3]",
		`type: "xavier" sparse: 3`:      "sparse",
		`type: "bilinear"`:              "4 axes",
	} {
		err := layers.Fill(blob.New(2, 3), filler(t, text), layers.NewRandom(1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestRandomStateContinues(t *testing.T) {
	a := layers.NewRandom(7)
	a.Uint64()
	state := a.State()
	want := [3]uint64{a.Uint64(), a.Uint64(), a.Uint64()}
	b := layers.NewRandom(0)
	if err := b.SetState(state); err != nil {
		t.Fatal(err)
	}
	if got := [3]uint64{b.Uint64(), b.Uint64(), b.Uint64()}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if err := b.SetState([]byte("short")); err == nil || !strings.Contains(err.Error(), "5 bytes") {
		t.Errorf("error %v", err)
	}
}
