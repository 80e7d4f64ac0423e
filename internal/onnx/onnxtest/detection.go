package onnxtest

import (
	"math"
	"slices"
	"sort"
)

// gatherND reads slices of data at places, below batch_dims axes that both have.
func gatherND(c *call) {
	x, at, batch := c.in[0], c.in[1], c.int("batch_dims", 0)
	depth := at.Dims[len(at.Dims)-1]
	inner := count(x.Dims[batch+depth:])
	dims := append(slices.Clone(at.Dims[:len(at.Dims)-1]), x.Dims[batch+depth:]...)
	y, places := New(dims...), count(at.Dims[:len(at.Dims)-1])
	for p := range places {
		from := 0
		if b := count(at.Dims[:batch]); b > 0 && places > 0 {
			from = p / (places / b)
		}
		for k := range depth {
			from = from*x.Dims[batch+k] + int(at.Data[p*depth+k])
		}
		copy(y.Data[p*inner:(p+1)*inner], x.Data[from*inner:])
	}
	c.out[0] = y
}

// scatterND replaces slices of data at places.
func scatterND(c *call) {
	x, at, by := c.in[0], c.in[1], c.in[2]
	y := &Tensor{x.Dims, slices.Clone(x.Data)}
	depth := at.Dims[len(at.Dims)-1]
	inner := count(x.Dims[depth:])
	for p := range count(at.Dims[:len(at.Dims)-1]) {
		to := 0
		for k := range depth {
			to = to*x.Dims[k] + int(at.Data[p*depth+k])
		}
		copy(y.Data[to*inner:(to+1)*inner], by.Data[p*inner:])
	}
	c.out[0] = y
}

// nonZero lists the places of values that are not 0, as axes x places.
func nonZero(c *call) {
	x := c.in[0]
	rows := make([][]float64, len(x.Dims))
	each(x.Dims, func(n int, index []int) {
		for a, i := range index {
			if x.Data[n] != 0 {
				rows[a] = append(rows[a], float64(i))
			}
		}
	})
	c.out[0] = &Tensor{[]int{len(rows), len(rows[0])}, slices.Concat(rows...)}
}

// nonMaxSuppression lists batch, class and box of the boxes that overlap no better one, from the best on. Boxes are of corners.
func nonMaxSuppression(c *call) {
	boxes, scores := c.in[0], c.in[1]
	n, classes := boxes.Dims[1], scores.Dims[1]
	least := math.Inf(-1)
	if c.input(4) != nil {
		least = c.in[4].Data[0]
	}
	var out []float64
	for b := range boxes.Dims[0] {
		for class := range classes {
			score := scores.Data[(b*classes+class)*n:][:n]
			order := make([]int, 0, n)
			for i := range n {
				if score[i] > least {
					order = append(order, i)
				}
			}
			sort.SliceStable(order, func(i, j int) bool { return score[order[i]] > score[order[j]] })
			var kept []int
		next:
			for _, i := range order {
				for _, k := range kept {
					if overlap(boxes.Data[(b*n+i)*4:], boxes.Data[(b*n+k)*4:]) > c.in[3].Data[0] {
						continue next
					}
				}
				if len(kept) < int(c.in[2].Data[0]) {
					kept = append(kept, i)
					out = append(out, float64(b), float64(class), float64(i))
				}
			}
		}
	}
	c.out[0] = &Tensor{[]int{len(out) / 3, 3}, out}
}

func overlap(a, b []float64) float64 {
	h, w := min(a[2], b[2])-max(a[0], b[0]), min(a[3], b[3])-max(a[1], b[1])
	if h <= 0 || w <= 0 {
		return 0
	}
	area := func(v []float64) float64 { return (v[2] - v[0]) * (v[3] - v[1]) }
	return h * w / (area(a) + area(b) - h*w)
}
