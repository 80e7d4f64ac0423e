package simd

// takenRuns is how many runs a kernel of TakenSums does at most.
const takenRuns = 5

// takenSums does as many runs at once as there are kernels for, which are those of AVX2 at both levels.
func (l *level) takenSums(sums, all, x []float32, runs []int, dy []float32, index, places []int32) {
	var again [TakenLanes]float32
	for r := 0; r < len(runs); {
		n, run, to := min(takenRuns, len(runs)-r), &runs[r], &sums[r*TakenLanes]
		switch n {
		case 1:
			takenSums1AVX2(run, &x[0], len(dy), &index[0], &places[1], &dy[0], to, &all[0])
		case 2:
			takenSums2AVX2(run, &x[0], len(dy), &index[0], &places[1], &dy[0], to, &all[0])
		case 3:
			takenSums3AVX2(run, &x[0], len(dy), &index[0], &places[1], &dy[0], to, &all[0])
		case 4:
			takenSums4AVX2(run, &x[0], len(dy), &index[0], &places[1], &dy[0], to, &all[0])
		default:
			takenSums5AVX2(run, &x[0], len(dy), &index[0], &places[1], &dy[0], to, &all[0])
		}
		r, all = r+n, again[:]
	}
}
