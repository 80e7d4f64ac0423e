package topology

const ringName = "ring"

// newRing plans the ring all-reduce. In P-1 rounds segments [i*n/P, (i+1)*n/P) travel round the ring and are summed, so that rank r has the
// sum of segment r+1. In P-1 more rounds the sums travel to all ranks.
//
// With P = 3 and segments A, B, C (each letter is followed by the ranks whose values are summed):
//
//	           rank 0        rank 1        rank 2
//	round 0    sends A0      sends B1      sends C2       each to the next rank, which adds
//	round 1    sends C20     sends A01     sends B12
//	           has B120      has C201      has A012
//	round 2,3  the sums travel round the ring and replace the present values
func newRing(l Layout, n int) *Schedule {
	p := l.Ranks()
	all := Range{0, n}
	return &Schedule{Ranks: p, Elements: n, Rounds: 2 * (p - 1), Segments: p, step: func(rank, round int) Step {
		segment := rank - round // the segment sent in the first half
		if round >= p-1 {
			segment = rank + 1 - (round - (p - 1))
		}
		return Step{
			To: (rank + 1) % p, From: (rank + p - 1) % p,
			Send: all.split(mod(segment, p), p), Recv: all.split(mod(segment-1, p), p),
			Reduce: round < p-1,
		}
	}}
}

func mod(a, p int) int { return ((a % p) + p) % p }
