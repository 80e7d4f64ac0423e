package simd

// TakenLanes is how many values TakenSums adds up side by side.
const TakenLanes = 8

// TakenSums is the weight gradient of a convolution whose results were pooled by maximum: of the results, output i took one, and dy[i] is that
// one's gradient. For each run r of kernel offsets
//
//	sums[r*TakenLanes+j] += Σ dy[i] * x[runs[r]+places[1+index[i]]+j]
//
// where an index is -1 or more, and x holds all that is met. To each of the first TakenLanes values of all it adds Σ dy[i].
func TakenSums(sums, all, x []float32, runs []int, dy []float32, index, places []int32) {
	if len(dy) == 0 {
		return
	}
	index, sums, all = index[:len(dy)], sums[:len(runs)*TakenLanes], all[:TakenLanes]
	if l := active; l.width > 0 {
		l.takenSums(sums, all, x, runs, dy, index, places)
		return
	}
	for i, v := range dy {
		at := int(places[1+index[i]])
		for r, run := range runs {
			for j, w := range x[run+at:][:TakenLanes] {
				sums[r*TakenLanes+j] += v * w
			}
		}
		for j := range all {
			all[j] += v
		}
	}
}
