// Package points draws labelled points for logistic regression, in the manner of scikit-learn's make_classification. Draw makes a
// Point. Each of two classes has two clusters in a plane. A point has four coordinates, two of them linear combinations of the
// others. A line separates the classes for about five points in six; a net with a hidden layer does better.
//
// Point i of a seed is a pure function of both.
package points

import (
	"math/rand/v2"
)

// Coordinates is the number of values in a point, Classes the number of labels.
const (
	Coordinates = 4
	Classes     = 2
)

// Point is one labelled point.
type Point struct {
	Label       int
	Coordinates [Coordinates]float32
}

// cluster is a Gaussian in the plane: a centre, and a matrix that stretches the unit circle.
type cluster struct {
	x, y           float64
	xx, xy, yx, yy float64
}

// clusters of each class. The second cluster of class 0 lies on the wrong side of the best separating line.
var clusters = [Classes][2]cluster{
	{{x: -1.5, y: -0.8, xx: 0.8, xy: 0.3, yy: 0.6}, {x: 2.3, y: -0.2, xx: 0.5, yx: -0.3, yy: 0.6}},
	{{x: 0.4, y: 0.6, xx: 0.7, yx: 0.3, yy: 0.6}, {x: -0.9, y: 1.9, xx: 0.9, xy: -0.4, yy: 0.5}},
}

// flipped: one label in this many is wrong.
const flipped = 100

// Draw writes point index of a seed to out.
func Draw(seed, index uint64, out *Point) {
	rng := rand.New(rand.NewPCG(seed, index))
	out.Label = rng.IntN(Classes)
	c := &clusters[out.Label][rng.IntN(2)]
	a, b := rng.NormFloat64(), rng.NormFloat64()
	x, y := c.x+c.xx*a+c.xy*b, c.y+c.yx*a+c.yy*b
	out.Coordinates = [Coordinates]float32{float32(x), float32(0.7*x - 0.4*y), float32(y), float32(-0.3*x - 0.9*y)}
	if rng.IntN(flipped) == 0 {
		out.Label = 1 - out.Label
	}
}
