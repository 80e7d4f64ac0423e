package vgemm

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// Vector is a vector of the tile of ScatteredKernel: it lies From values into B and To values into C. Its first N lanes are stored.
type Vector struct{ From, To, N int }

// ScatteredTile returns the tile of ScatteredKernel: rows, the largest number of vectors, and their lanes.
func ScatteredTile() (rows, vectors, lanes int) {
	return have.ScatteredRows, have.ScatteredVectors, have.ScatteredLanes
}

// ScatteredKernel is a micro-kernel whose B is not packed: row p of B is a vector at b[v.From+offs[p]:] for each of the first n vectors. It sets
// the vectors at c[v.To:] of every row of C, which are ldc apart, or adds to them: C[i][j] (+)= Σp a[p*rows+i]*b[offs[p]+j] over p < len(offs).
// It reads all lanes of B, stored or not, and overwrites the vectors from v[n] on.
func ScatteredKernel(a, b []float32, offs []int, c []float32, ldc int, v *[4]Vector, n int, accumulate bool) {
	k, rows, most := len(offs), have.ScatteredRows, have.ScatteredVectors
	if n > most {
		panic("vgemm: more vectors than the tile has")
	}
	some := most
	if n <= most/2 {
		some = most / 2
	}
	scattered := have.Scattered[rows][some]
	if scattered == none || k == 0 {
		scatteredGo(a, b, offs, c, ldc, rows, v[:n], accumulate)
		return
	}
	_ = a[k*rows-1]
	for j := n; j < most; j++ {
		v[j] = Vector{From: v[0].From, To: v[0].To}
	}
	scattered.run(k, &a[0], &b[0], &offs[0], &c[0], ldc, &v[0].From, isa.Mask(0), accumulate)
}

// scatteredGo is ScatteredKernel in plain Go.
func scatteredGo(a, b []float32, offs []int, c []float32, ldc, rows int, vectors []Vector, accumulate bool) {
	for i := range rows {
		for _, v := range vectors {
			var t [16]float32
			for p, at := range offs {
				x := a[p*rows+i]
				for j, y := range b[v.From+at:][:v.N] {
					t[j] += x * y
				}
			}
			to := c[i*ldc+v.To:][:v.N]
			for j := range to {
				if accumulate {
					to[j] += t[j]
				} else {
					to[j] = t[j]
				}
			}
		}
	}
}
