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

// figure is a field of a cluster's file with what is wrong with it, if anything.
type figure struct {
	field string
	err   error
}

// validate returns the name of the first invalid figure, and an error.
func validate(m *clusterpb.Cluster) (field string, err error) {
	for _, f := range figures(m) {
		if f.err != nil {
			return f.field, f.err
		}
	}
	return "", nil
}

// figures lists the figures that are checked, in the order of the messages.
func figures(m *clusterpb.Cluster) []figure {
	link, up := m.GetNodeLink(), m.GetUplink()
	list := []figure{
		{"nodes", positive(float64(m.GetNodes()))},
		{"nodes", atMost(m.GetNodes(), maxNodes)},
		{"nodes_per_supernode", positive(float64(m.GetNodesPerSupernode()))},
		{"node_link.bandwidth_gbytes_per_s", rate(link.GetBandwidthGbytesPerS())},
		{"node_link.latency_us", latency(link.GetLatencyUs())},
	}
	list = append(list, bySize(link.GetBySize())...)
	switch {
	case up != nil:
		list = append(list, figure{"uplink.oversubscription", oversubscription(up.GetOversubscription())},
			figure{"uplink.latency_us", latency(up.GetLatencyUs())})
	case m.GetNodes() > m.GetNodesPerSupernode():
		list = append(list, figure{"uplink", fmt.Errorf("is missing: %d nodes do not fit one supernode of %d", m.GetNodes(), m.GetNodesPerSupernode())})
	}
	if m.ReduceGbytesPerS != nil {
		list = append(list, figure{"reduce_gbytes_per_s", rate(m.GetReduceGbytesPerS())})
	}
	if d := m.GetStorage(); d != nil {
		list = append(list, figure{"storage.arrays", positive(float64(d.GetArrays()))},
			figure{"storage.bandwidth_gbytes_per_s", rate(d.GetBandwidthGbytesPerS())},
			figure{"storage.stripe_mbytes", rate(d.GetStripeMbytes())})
	}
	return list
}

// bySize lists the figures of a link's measured points, which ascend in message size.
func bySize(points []*clusterpb.MessageBandwidth) (list []figure) {
	before := 0.0
	for i, p := range points {
		name := fmt.Sprintf("node_link.by_size[%d].", i)
		size := float64(p.GetMessageBytes())
		order := error(nil)
		if size <= before {
			order = fmt.Errorf("must grow from entry to entry, it is %g after %g", size, before)
		}
		before = size
		list = append(list, figure{name + "message_bytes", order},
			figure{name + "bandwidth_gbytes_per_s", rate(p.GetBandwidthGbytesPerS())})
	}
	return list
}

func positive(v float64) error {
	if v > 0 && !math.IsInf(v, 1) {
		return nil
	}
	return fmt.Errorf("must be positive, it is %g", v)
}

func rate(v float64) error {
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

func latency(v float64) error {
	switch {
	case v >= 0 && v <= longestUs:
		return nil
	case v > longestUs:
		return fmt.Errorf("must be at most %g, it is %g", float64(longestUs), v)
	}
	return fmt.Errorf("must not be negative, it is %g", v)
}

func oversubscription(v float64) error {
	if err := positive(v); err != nil || v >= 1/mostOversubscription && v <= mostOversubscription {
		return err
	}
	return fmt.Errorf("must be %g to %g, it is %g", 1/mostOversubscription, float64(mostOversubscription), v)
}

func atMost(v, most uint32) error {
	if v <= most {
		return nil
	}
	return fmt.Errorf("must be at most %d, it is %d", most, v)
}
