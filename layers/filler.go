package layers

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// filler is a type of FillerParameter: a function that writes every element of b.Data(), and the fields that it reads.
type filler struct {
	fill  func(b *blob.Blob, f *caffepb.FillerParameter, r *Random) error
	reads []string
}

var fillers = map[string]filler{
	"constant":          {fillConstant, []string{"value"}},
	"uniform":           {fillUniform, []string{"min", "max"}},
	"gaussian":          {fillGaussian, []string{"mean", "std", "sparse"}},
	"positive_unitball": {fillPositiveUnitball, nil},
	"xavier":            {fillXavier, []string{"variance_norm"}},
	"msra":              {fillMSRA, []string{"variance_norm"}},
	"bilinear":          {fillBilinear, nil},
}

// Fill writes initial values to b's data, as Caffe's filler f does. A nil f means constant 0.
func Fill(b *blob.Blob, f *caffepb.FillerParameter, r *Random) error {
	filler, ok := fillers[f.GetType()]
	if !ok {
		return suggest.Unknown("filler type", f.GetType(), "known types", slices.Sorted(maps.Keys(fillers)))
	}
	if f.GetSparse() != -1 && f.GetType() != "gaussian" {
		return fmt.Errorf("filler %q: sparse is for the gaussian filler only", f.GetType())
	}
	return filler.fill(b, f, r)
}

// isZero reports whether a filler writes zeros, and would not be refused.
func isZero(f *caffepb.FillerParameter) bool {
	return f.GetType() == "constant" && f.GetSparse() == -1 && math.Float32bits(f.GetValue()) == 0
}

func fillConstant(b *blob.Blob, f *caffepb.FillerParameter, _ *Random) error {
	vec.Fill(b.Data(), f.GetValue())
	return nil
}

func fillUniform(b *blob.Blob, f *caffepb.FillerParameter, r *Random) error {
	lo, hi := f.GetMin(), f.GetMax()
	if lo > hi {
		return fmt.Errorf("uniform filler: min %g is above max %g", lo, hi)
	}
	uniform(b.Data(), float64(lo), float64(hi), r)
	return nil
}

func uniform(data []float32, lo, hi float64, r *Random) {
	for i := range data {
		data[i] = float32(lo + (hi-lo)*r.Float64())
	}
}

func gaussian(data []float32, mean, std float64, r *Random) {
	for i := range data {
		data[i] = float32(mean + std*r.NormFloat64())
	}
}

// fillGaussian draws from a normal distribution. With sparse = s it keeps each value with probability s / shape(0) and writes zero
// otherwise, so that an output has s non-zero inputs on average.
func fillGaussian(b *blob.Blob, f *caffepb.FillerParameter, r *Random) error {
	if !(f.GetStd() > 0) {
		return fmt.Errorf("gaussian filler: std must be positive, it is %g", f.GetStd())
	}
	data := b.Data()
	gaussian(data, float64(f.GetMean()), float64(f.GetStd()), r)
	sparse := f.GetSparse()
	if sparse < 0 {
		return nil
	}
	if b.NumAxes() < 1 {
		return errors.New("gaussian filler: sparse needs a blob with at least one axis")
	}
	if int(sparse) > b.Dim(0) {
		return fmt.Errorf("gaussian filler: sparse %d is more than the first extent of the shape %v", sparse, b.Shape())
	}
	keep := float64(sparse) / float64(b.Dim(0))
	for i := range data {
		if r.Float64() >= keep {
			data[i] = 0
		}
	}
	return nil
}

// fillPositiveUnitball draws from [0, 1) and scales each output's values (axis 0) to sum to 1.
func fillPositiveUnitball(b *blob.Blob, _ *caffepb.FillerParameter, r *Random) error {
	data := b.Data()
	if len(data) == 0 {
		return nil
	}
	uniform(data, 0, 1, r)
	size := len(data) / b.Legacy(0)
	for from := 0; from < len(data); from += size {
		unit := data[from : from+size]
		var sum float64
		for _, v := range unit {
			sum += float64(v)
		}
		for i := range unit {
			unit[i] = float32(float64(unit[i]) / sum)
		}
	}
	return nil
}

// fan returns n of Glorot's and He's rules, as variance_norm selects: the inputs per output (fan in = count/shape(0)), the outputs per
// input (fan out = count/shape(1)), or the mean of both.
func fan(b *blob.Blob, norm caffepb.FillerParameter_VarianceNorm) (float64, error) {
	count := b.Count()
	if count == 0 {
		return 1, nil
	}
	in, out := float64(count/b.Legacy(0)), float64(count)
	if b.NumAxes() > 1 {
		out = float64(count / b.Dim(1))
	}
	switch norm {
	case caffepb.FillerParameter_AVERAGE:
		return (in + out) / 2, nil
	case caffepb.FillerParameter_FAN_OUT:
		return out, nil
	case caffepb.FillerParameter_FAN_IN:
		return in, nil
	}
	return 0, fmt.Errorf("unknown variance_norm %v", norm)
}

// fillXavier draws uniformly from [-a, a), a = sqrt(3/n) (Glorot and Bengio 2010).
func fillXavier(b *blob.Blob, f *caffepb.FillerParameter, r *Random) error {
	n, err := fan(b, f.GetVarianceNorm())
	if err != nil {
		return err
	}
	a := math.Sqrt(3 / n)
	uniform(b.Data(), -a, a, r)
	return nil
}

// fillMSRA draws from a normal distribution of standard deviation sqrt(2/n) (He et al. 2015).
func fillMSRA(b *blob.Blob, f *caffepb.FillerParameter, r *Random) error {
	n, err := fan(b, f.GetVarianceNorm())
	if err != nil {
		return err
	}
	gaussian(b.Data(), 0, math.Sqrt(2/n), r)
	return nil
}

// fillBilinear writes the kernel of bilinear interpolation into every k x k plane, for Deconvolution layers that
// scale images up.
func fillBilinear(b *blob.Blob, _ *caffepb.FillerParameter, _ *Random) error {
	if b.NumAxes() != 4 {
		return fmt.Errorf("bilinear filler: the blob must have 4 axes, its shape is %v", b.Shape())
	}
	k := b.Dim(3)
	if b.Dim(2) != k {
		return fmt.Errorf("bilinear filler: the kernel must be square, it is %d x %d", b.Dim(2), k)
	}
	data := b.Data()
	f := math.Ceil(float64(k) / 2)
	centre := float64(k-1) / (2 * f)
	for i := range data {
		x, y := float64(i%k), float64(i/k%k)
		data[i] = float32((1 - math.Abs(x/f-centre)) * (1 - math.Abs(y/f-centre)))
	}
	return nil
}
