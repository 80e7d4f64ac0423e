package neuron

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
)

func init() {
	registerNeuron(layers.Type{Name: "Power", Doc: "y = (shift + scale*x)^power", InPlace: true}, power)
	registerNeuron(layers.Type{Name: "Exp", Doc: "y = base^(shift + scale*x)", InPlace: true}, exponential)
	registerNeuron(layers.Type{Name: "Log", Doc: "y = log_base(shift + scale*x)", InPlace: true}, logarithm)
}

// power is Caffe's Power layer; y' = power * scale * (shift + scale*x)^(power-1).
func power(n *neuronLayer) (neuronRule, error) {
	p := n.Param.GetPowerParam()
	exponent, scale, shift := p.GetPower(), p.GetScale(), p.GetShift()
	if exponent*scale == 0 {
		return constantPower(math.Pow(float64(shift), float64(exponent))), nil
	}
	slope := func(x, _ float64) float64 {
		k := float64(exponent) * float64(scale)
		if exponent == 1 {
			return k
		}
		return k * math.Pow(float64(shift)+float64(scale)*x, float64(exponent)-1)
	}
	needs := needsX
	if exponent == 1 {
		needs = needsNeither
	}
	return neuronRule{
		needs:        needs,
		inPlaceSlope: powerInPlace(exponent, scale, shift),
		f: func(x float64) float64 {
			if x *= float64(scale); shift != 0 { // Caffe adds no shift of 0, so that -0 stays
				x += float64(shift)
			}
			return math.Pow(x, float64(exponent))
		},
		slope: slope,
		tile: func(y, x []float32, _ scratch) {
			if shift == 0 {
				vec.Scale(y, x, scale)
			} else {
				vec.Affine(y, x, scale, shift)
			}
			switch exponent {
			case 1:
			case 2:
				vec.Square(y, y)
			default:
				vec.Pow(y, y, exponent)
			}
		},
		scratch: exponent != 1 && exponent != 2,
		tileGrad: func(dx, dy, x, _ []float32, tmp scratch) {
			switch {
			case exponent == 1:
				vec.Scale(dx, dy, exponent*scale)
			case exponent == 2:
				for i, v := range x[:len(dx)] {
					dx[i] = dy[i] * 2 * scale * (shift + scale*v)
				}
			default:
				power := tmp[0][:len(dx)]
				vec.Affine(power, x[:len(dx)], scale, shift)
				vec.Pow(power, power, exponent-1)
				vec.Scale(power, power, exponent*scale)
				vec.Mul(dx, dy, power)
			}
		},
		cost:   stream.Work{Flops: 2, Specials: 1},
		affine: true,
	}, nil
}

// constantPower is a Power layer with power or scale 0: y does not depend on x, not even on infinities or NaN.
func constantPower(y float64) neuronRule {
	return neuronRule{
		f:        func(float64) float64 { return y },
		slope:    func(_, _ float64) float64 { return 0 },
		tile:     func(d, _ []float32, _ scratch) { vec.Fill(d, float32(y)) },
		needs:    needsNeither,
		tileGrad: func(dx, dy, _, _ []float32, _ scratch) { vec.Scale(dx, dy, 0) },
		cost:     stream.Work{Flops: 1},

		inPlaceSlope: func(float64) float64 { return 0 },
	}
}

// powerInPlace returns the derivative that Caffe's Power layer computes from y alone when it runs in place.
func powerInPlace(exponent, scale, shift float32) func(y float64) float64 {
	p, a, b := float64(exponent), float64(scale), float64(shift)
	return func(y float64) float64 {
		switch {
		case p == 1:
			return p * a
		case p == 2:
			return 2 * a * (a*y + b)
		case b == 0:
			return p
		}
		return p * a * y / (a*y + b)
	}
}

// lnBase returns the natural logarithm of an Exp or Log layer's base; -1 stands for e.
func lnBase(base float32) (float64, error) {
	if base == -1 {
		return 1, nil
	}
	if base <= 0 {
		return 0, fmt.Errorf("base must be positive (or -1, for e), it is %g", base)
	}
	return math.Log(float64(base)), nil
}

// exponential is Caffe's Exp layer; y' = ln(base) * scale * y.
func exponential(n *neuronLayer) (neuronRule, error) {
	p := n.Param.GetExpParam()
	ln, err := lnBase(p.GetBase())
	if err != nil {
		return neuronRule{}, err
	}
	scale, shift := ln*float64(p.GetScale()), ln*float64(p.GetShift())
	return neuronRule{
		needs: needsY,
		f:     func(x float64) float64 { return math.Exp(scale*x + shift) },
		slope: func(_, y float64) float64 { return scale * y },
		tile: func(y, x []float32, _ scratch) {
			vec.Affine(y, x, float32(scale), float32(shift))
			vec.Exp(y, y)
		},
		tileGrad: func(dx, dy, _, y []float32, _ scratch) {
			vec.Mul(dx, dy, y)
			vec.Scale(dx, dx, float32(scale))
		},
		cost:   stream.Work{Flops: 2, Specials: 1},
		affine: true,
	}, nil
}

// logarithm is Caffe's Log layer; y' = scale / (ln(base) * (shift + scale*x)).
func logarithm(n *neuronLayer) (neuronRule, error) {
	p := n.Param.GetLogParam()
	ln, err := lnBase(p.GetBase())
	if err == nil && ln == 0 {
		err = errors.New("base must not be 1")
	}
	if err != nil {
		return neuronRule{}, err
	}
	scale, shift := p.GetScale(), p.GetShift()
	return neuronRule{
		inPlaceSlope: func(y float64) float64 { return float64(scale) / (ln * (float64(shift) + float64(scale)*y)) },
		f:            func(x float64) float64 { return math.Log(float64(shift)+float64(scale)*x) / ln },
		slope:        func(x, _ float64) float64 { return float64(scale) / (ln * (float64(shift) + float64(scale)*x)) },
		tile: func(y, x []float32, _ scratch) {
			vec.Affine(y, x, scale, shift)
			vec.Log(y, y)
			vec.Scale(y, y, float32(1/ln))
		},
		tileGrad: func(dx, dy, x, _ []float32, _ scratch) {
			k := float32(float64(scale) / ln)
			for i, v := range x[:len(dx)] {
				dx[i] = dy[i] * k / (shift + scale*v)
			}
		},
		cost:   stream.Work{Flops: 3, Specials: 1},
		affine: true,
	}, nil
}
