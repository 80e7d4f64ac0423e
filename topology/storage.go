package topology

import "math"

// Storage is a parallel file system: the blocks of a file lie on disk arrays in turn. One array and one block are a file
// that is not striped.
type Storage struct {
	Arrays         int
	BytesPerSecond float64 // of one array
	StripeBytes    float64 // length of a block
}

// ReadTime is what it takes when each of N nodes reads a contiguous piece of n bytes from a random place of a file ([SWC] V-B: with 32
// arrays and blocks of 256 MB a batch of 192 MB lies on two at most, so that an array has 2N/32 readers at most, not N). Pieces
// are spread evenly over the A arrays of bandwidth b; a node waits for the slowest of its piece, from as few arrays as may hold
// it, of the arrays, which serve all pieces, and of its link:
//
//	max(n / (b ceil(n/block)), N n / (A b), n / link)
func (s Storage) ReadTime(nodes int, bytes, linkBytesPerSecond float64) VTime {
	if bytes == 0 {
		return 0
	}
	fewest := math.Max(1, math.Min(float64(s.Arrays), math.Ceil(bytes/s.StripeBytes)))
	alone := bytes / (fewest * s.BytesPerSecond)
	together := float64(nodes) * bytes / (float64(s.Arrays) * s.BytesPerSecond)
	return VTime(max(alone, together, bytes/linkBytesPerSecond))
}
