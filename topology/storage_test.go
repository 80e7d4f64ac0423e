package topology

import "testing"

// TestReadTime: with N nodes, batches of 192 MB in blocks of 256 MB over 32 arrays of 9 GB/s.
func TestReadTime(t *testing.T) {
	const batch, array, link = 192e6, 9e9, 5.91e9
	striped := Storage{Arrays: 32, BytesPerSecond: array, StripeBytes: 256 << 20}
	single := Storage{Arrays: 1, BytesPerSecond: array, StripeBytes: 1e15}
	for _, c := range []struct {
		name  string
		s     Storage
		nodes int
		bytes float64
		want  float64
	}{
		{"a node's link", striped, 1, batch, batch / link},
		{"still the links", striped, 48, batch, batch / link},
		{"the arrays", striped, 1024, batch, 1024 * batch / (32 * array)},
		{"one array", single, 1024, batch, 1024 * batch / array},
		{"nothing", striped, 1024, 0, 0},
	} {
		near(t, c.name, float64(c.s.ReadTime(c.nodes, c.bytes, link)), c.want, 1e-12)
	}
	near(t, "an array slower than the link", float64(Storage{32, 1e9, 256 << 20}.ReadTime(1, batch, link)), batch/1e9, 1e-12)
	near(t, "two arrays for a piece of two blocks", float64(Storage{32, 1e9, 256 << 20}.ReadTime(1, 400e6, link)), 400e6/2e9, 1e-12)
}
