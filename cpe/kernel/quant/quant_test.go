package quant_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
)

// TestRound compares rounding with exact arithmetic: a product rounded to float32, then the nearest integer, ties to even.
func TestRound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50000 {
		scale := float32(math.Exp(4*r.NormFloat64() - 4))
		zero := uint32(r.IntN(256))
		s, err := quant.New(scale, zero, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		x := float32(300 * r.NormFloat64() * float64(scale))
		switch r.IntN(20) {
		case 0:
			x = scale * (float32(r.IntN(600)) - 299.5)
		case 1:
			x = []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0, math.MaxFloat32}[r.IntN(5)]
		}
		if got, want := int(s.Round(x)), expected(x, scale, int(zero)); got != want {
			t.Fatalf("%g with scale %g and zero %d: %d, want %d", x, scale, zero, got, want)
		}
	}
}

// expected is the byte of an input, by exact rationals.
func expected(x, scale float32, zero int) int {
	if x != x || math.IsInf(float64(x), -1) {
		return 0
	}
	if math.IsInf(float64(x), 1) {
		return 255
	}
	inverse, _ := new(big.Rat).Inv(new(big.Rat).SetFloat64(float64(scale))).Float32()
	if math.IsInf(float64(float32(float64(x)*float64(inverse))), 0) {
		return map[bool]int{true: 255, false: 0}[x > 0]
	}
	product, _ := new(big.Rat).Mul(new(big.Rat).SetFloat64(float64(x)), new(big.Rat).SetFloat64(float64(inverse))).Float32()
	// Twice the value, so that halves are integers.
	twice := new(big.Rat).Mul(new(big.Rat).SetFloat64(float64(product)), big.NewRat(2, 1))
	floor := new(big.Int).Div(twice.Num(), twice.Denom()) // floor of 2v
	whole := new(big.Rat).SetInt(floor).Cmp(twice) == 0
	n := new(big.Int).Rsh(floor, 1) // floor of v
	if floor.Bit(0) == 1 && (!whole || n.Bit(0) == 1) {
		n.Add(n, big.NewInt(1))
	}
	if !n.IsInt64() {
		return map[bool]int{true: 255, false: 0}[n.Sign() > 0]
	}
	return int(max(0, min(255, n.Int64()+int64(zero))))
}

// TestRoundWeight: ties go to even values, and values beyond 127 to 127.
func TestRoundWeight(t *testing.T) {
	for w, want := range map[float32]int8{0.5: 0, 1.5: 2, -2.5: -2, -3.5: -4, 126.5: 126, 127.5: 127, 1e9: 127, -1e9: -127, -127.6: -127} {
		if got := quant.RoundWeight(w*0.25, 0.25); got != want {
			t.Errorf("%g: %d, want %d", w, got, want)
		}
	}
	if got := quant.RoundWeight(float32(math.NaN()), 1); got != -127 {
		t.Errorf("NaN: %d", got)
	}
}

// TestRefused: scales that are no scales, and sums that do not fit.
func TestRefused(t *testing.T) {
	nan := float32(math.NaN())
	for want, make := range map[string]func() (*quant.Scales, error){
		"input_scale 0:":           func() (*quant.Scales, error) { return quant.New(0, 0, nil, 1) },
		"input_scale NaN:":         func() (*quant.Scales, error) { return quant.New(nan, 0, nil, 1) },
		"input_zero_point 256 is":  func() (*quant.Scales, error) { return quant.New(1, 256, nil, 1) },
		"there are 2 weight_scale": func() (*quant.Scales, error) { return quant.New(1, 0, []float32{1, 1}, 3) },
		"weight_scale 1 is -1:":    func() (*quant.Scales, error) { return quant.New(1, 0, []float32{1, -1}, 2) },
		"a sum of 66312 products":  func() (*quant.Scales, error) { return nil, quant.Fits(66312) },
	} {
		if _, err := make(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := quant.Fits(66311); err != nil {
		t.Error(err)
	}
}
