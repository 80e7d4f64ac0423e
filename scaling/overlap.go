package scaling

import "github.com/swcaffe/swcaffe/topology"

// exposed is the time that all-reduces of gradients add to an iteration. With bucketBytes 0 there is one all-reduce, after the backward pass.
// Otherwise an all-reduce runs concurrently with the backward pass for each bucket of that many bytes: it starts when the bucket is complete
// and the previous all-reduce has ended. The last bucket may be smaller.
func exposed(c Compute, bucketBytes int64, reduce func(bytes int64) (topology.VTime, error)) (topology.VTime, error) {
	left := c.WeightBytes()
	if bucketBytes == 0 {
		return reduce(left)
	}
	var now, free topology.VTime // time of the backward pass; time at which the network is free
	var bucket int64
	for _, l := range c.Layers {
		now += l.Backward
		bucket += l.GradientBytes
		left -= l.GradientBytes
		if bucket == 0 || bucket < bucketBytes && left > 0 {
			continue
		}
		t, err := reduce(bucket)
		if err != nil {
			return 0, err
		}
		free, bucket = max(free, now)+t, 0
	}
	return max(0, free-now), nil
}
