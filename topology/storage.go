package topology

import "math"

// Storage is a parallel file system: the blocks of a file lie on disk arrays in turn. One array and one block are a file
// that is not striped.
type Storage struct {
	Arrays         int
	BytesPerSecond float64 // of one array
	StripeBytes    float64 // length of a block
}

// Touched is the most arrays that have a part of a contiguous piece of a file: it begins anywhere in a block.
func (s Storage) Touched(bytes float64) int {
	if s.Arrays == 1 {
		return 1
	}
	return min(s.Arrays, int(math.Ceil(bytes/s.StripeBytes))+1)
}

// ReadTime is what it takes when every one of nodes reads a contiguous piece of that many bytes from a random place ([SWC] V-B: with 32
// arrays and blocks of 256 MB a batch of 192 MB lies on two at most, so that an array has 2N/32 readers). Pieces are spread
// evenly over the arrays, so that a node waits for the slowest of: its piece from as few arrays as may hold it, the array's part of all
// pieces, and its link of linkBytesPerSecond.
//
//	max(n / (t b), N n / (A b), n / link)    b of an array, A arrays, t = min(A, n/stripe + 1) touched, rounded down
func (s Storage) ReadTime(nodes int, bytes, linkBytesPerSecond float64) VTime {
	if bytes == 0 {
		return 0
	}
	fewest := math.Max(1, math.Min(float64(s.Arrays), math.Ceil(bytes/s.StripeBytes)))
	alone := bytes / (fewest * s.BytesPerSecond)
	together := float64(nodes) * bytes / (float64(s.Arrays) * s.BytesPerSecond)
	return VTime(max(alone, together, bytes/linkBytesPerSecond))
}
