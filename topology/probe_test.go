package topology

import "testing"

// TestProbe holds the probe's two halves against each other and against values written out, and lets it find a wrong one.
func TestProbe(t *testing.T) {
	for _, n := range []int{0, 1, 1008, 1009, 1010, 2018, 5000} {
		sum, one := make([]float32, n), make([]float32, n)
		for rank := range 3 {
			FillProbe(one, rank)
			for i, v := range one {
				if want := float32(rank+1) + float32(i%1009)*0.25; v != want {
					t.Fatalf("%d values, rank %d: value %d is %g, want %g", n, rank, i, v, want)
				}
				sum[i] += v
			}
		}
		if i, want := CheckProbe(sum, 3); i != -1 {
			t.Fatalf("%d values: value %d is %g, want %g", n, i, sum[i], want)
		}
		if n > 0 {
			sum[n-1]++
			if i, want := CheckProbe(sum, 3); i != n-1 || want != sum[n-1]-1 {
				t.Fatalf("%d values: a wrong last value was found at %d, with %g wanted", n, i, want)
			}
		}
	}
}

// TestTraffic holds the count against what the simulation has moved.
func TestTraffic(t *testing.T) {
	spec := testSpec(12, 4, 2)
	for _, ranks := range []int{1, 3, 8, 11} {
		for _, algorithm := range Fixed() {
			l := layout(t, spec, ranks, Block)
			s := NewSchedule(algorithm, l, 1001)
			got, want := Traffic(l, s, 4), simulate(t, spec, l, s)
			want.Seconds = 0
			if got != want {
				t.Errorf("%s over %d: %+v, the simulation %+v", algorithm, ranks, got, want)
			}
		}
	}
}
