package topology

import "math"

// Storage is a parallel file system that stores the blocks of a file on its disk arrays in turn (striping). A file that is not striped is one
// array and one block.
type Storage struct {
	Arrays         int
	BytesPerSecond float64 // bandwidth of one array
	StripeBytes    float64 // length of a block in bytes
}

// ReadTime is the time for each of N nodes to read n contiguous bytes from a random place of a file ([SWC] V-B: with 32 arrays and blocks of
// 256 MB, a batch of 192 MB is on at most two arrays, so that an array has at most 2N/32 readers, not N). Reads are spread evenly over the A
// arrays of bandwidth b. The time is the longest of three: the node's read from the smallest possible number of arrays, all reads from all
// arrays, and the node's link:
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
