package vconv

// MaximaLanes is the number of values that MaximaSums adds up side by side, on every level: its kernels are for this number alone.
const MaximaLanes = 8

// maximaRuns is the largest number of runs of one call of maximaSums.
const maximaRuns = 5

// MaximaSums is the weight gradient of a convolution before maximum pooling. Output i of the pooling is one result of the convolution, and
// dy[i] is that result's gradient. For each run r of kernel offsets
//
//	sums[r*MaximaLanes+j] += Σ dy[i] * x[runs[r]+places[1+index[i]]+j]
//
// where index[i] is at least -1, and x has all values that are read. It adds Σ dy[i] to each of the first MaximaLanes values of all.
func MaximaSums(sums, all, x []float32, runs []int, dy []float32, index, places []int32) {
	if len(dy) == 0 {
		return
	}
	index, sums, all = index[:len(dy)], sums[:len(runs)*MaximaLanes], all[:MaximaLanes]
	if have.MaximaSums[maximaRuns] != none {
		var again [MaximaLanes]float32
		for r := 0; r < len(runs); {
			n := min(maximaRuns, len(runs)-r)
			have.MaximaSums[n].run(&runs[r], &x[0], len(dy), &index[0], &places[1], &dy[0], &sums[r*MaximaLanes], &all[0])
			r, all = r+n, again[:]
		}
		return
	}
	for i, v := range dy {
		at := int(places[1+index[i]])
		for r, run := range runs {
			for j, w := range x[run+at:][:MaximaLanes] {
				sums[r*MaximaLanes+j] += v * w
			}
		}
		for j := range all {
			all[j] += v
		}
	}
}
