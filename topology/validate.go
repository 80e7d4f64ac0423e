package topology

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/proto/clusterpb"
)

// maxNodes bounds the number of nodes, so that the data of all nodes fit in memory.
const maxNodes = 1 << 20

// These limits keep modelled times finite: the lowest and highest bandwidth in GB/s, the longest latency in microseconds, and the largest
// ratio of the node links' bandwidth to the uplink's, in either direction.
const (
	leastRate            = 1e-6
	mostRate             = 1e9
	longestUs            = 1e9
	mostOversubscription = 1e6
)

// validate returns the name of the first invalid figure, and an error.
func validate(m *clusterpb.Cluster) (field string, err error) {
	positive := func(v float64) error {
		if v > 0 && !math.IsInf(v, 1) {
			return nil
		}
		return fmt.Errorf("must be positive, it is %g", v)
	}
	rate := func(v float64) error {
		err := positive(v)
		switch {
		case err != nil:
			return err
		case v < leastRate:
			return fmt.Errorf("must be at least %g, it is %g", leastRate, v)
		case v > mostRate:
			return fmt.Errorf("must be at most %g, it is %g", float64(mostRate), v)
		}
		return nil
	}
	latency := func(v float64) error {
		switch {
		case v >= 0 && v <= longestUs:
			return nil
		case v > longestUs:
			return fmt.Errorf("must be at most %g, it is %g", float64(longestUs), v)
		}
		return fmt.Errorf("must not be negative, it is %g", v)
	}
	oversubscription := func(v float64) error {
		if err := positive(v); err != nil || v >= 1/mostOversubscription && v <= mostOversubscription {
			return err
		}
		return fmt.Errorf("must be %g to %g, it is %g", 1/mostOversubscription, float64(mostOversubscription), v)
	}
	atMost := func(v, most uint32) error {
		if v <= most {
			return nil
		}
		return fmt.Errorf("must be at most %d, it is %d", most, v)
	}
	link, up := m.GetNodeLink(), m.GetUplink()
	type check struct {
		field string
		err   error
	}
	checks := []check{
		{"nodes", positive(float64(m.GetNodes()))},
		{"nodes", atMost(m.GetNodes(), maxNodes)},
		{"nodes_per_supernode", positive(float64(m.GetNodesPerSupernode()))},
		{"node_link.bandwidth_gbytes_per_s", rate(link.GetBandwidthGbytesPerS())},
		{"node_link.latency_us", latency(link.GetLatencyUs())},
	}
	before := 0.0
	for i, p := range link.GetBySize() {
		name := fmt.Sprintf("node_link.by_size[%d].", i)
		size := float64(p.GetMessageBytes())
		order := error(nil)
		if size <= before {
			order = fmt.Errorf("must grow from entry to entry, it is %g after %g", size, before)
		}
		before = size
		checks = append(checks, check{name + "message_bytes", order},
			check{name + "bandwidth_gbytes_per_s", rate(p.GetBandwidthGbytesPerS())})
	}
	switch {
	case up != nil:
		checks = append(checks, check{"uplink.oversubscription", oversubscription(up.GetOversubscription())},
			check{"uplink.latency_us", latency(up.GetLatencyUs())})
	case m.GetNodes() > m.GetNodesPerSupernode():
		checks = append(checks, check{"uplink", fmt.Errorf("is missing: %d nodes do not fit one supernode of %d", m.GetNodes(), m.GetNodesPerSupernode())})
	}
	if m.ReduceGbytesPerS != nil {
		checks = append(checks, check{"reduce_gbytes_per_s", rate(m.GetReduceGbytesPerS())})
	}
	if d := m.GetStorage(); d != nil {
		checks = append(checks, check{"storage.arrays", positive(float64(d.GetArrays()))},
			check{"storage.bandwidth_gbytes_per_s", rate(d.GetBandwidthGbytesPerS())},
			check{"storage.stripe_mbytes", rate(d.GetStripeMbytes())})
	}
	for _, c := range checks {
		if c.err != nil {
			return c.field, c.err
		}
	}
	return "", nil
}
