package scaling

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/topology"
)

// testCluster has round figures: 10 GB/s, 2 us, 4 GB/s of additions; supernodes of 4 with uplinks at half of their links.
func testCluster() topology.Spec {
	return topology.Spec{
		Name: "test", Nodes: 8, NodesPerSupernode: 4, BytesPerSecond: 10e9, Latency: 2e-6, Oversubscription: 2, UplinkLatency: 3e-6,
		ReduceBytesPerSecond: 4e9,
	}
}

// testCompute takes 10 ms forward, 20 ms backward in three layers of 8, 0 and 4 MB, and 1 ms to update, at batch 8; passes are
// proportional to the batch.
func testCompute(batch int) (Compute, error) {
	by := topology.VTime(batch) / 8
	return Compute{
		Forward: 10e-3 * by, Update: 1e-3,
		Layers: []Layer{{5e-3 * by, 8_000_000}, {5e-3 * by, 0}, {10e-3 * by, 4_000_000}},
	}, nil
}

func testConfig(s Strategy) Config {
	return Config{
		Job: Job{Compute: testCompute, ImageBytes: 1e6}, Cluster: testCluster(), Strategy: s, Batch: 8, Tau: 1,
		Collective: Simulated{Cluster: testCluster(), Mapping: topology.Block, Algorithm: s.Collective()},
	}
}

func point(t *testing.T, c Config, nodes int) Point {
	t.Helper()
	points, err := Run(c, []int{nodes})
	if err != nil {
		t.Fatal(err)
	}
	return points[0]
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

// TestStrategies holds the communication of every strategy on four nodes of one supernode against its formula, worked out by hand: n is 12 MB,
// beta 1e-10 s, alpha 2 us, gamma 0.25e-9 s, the iteration alone 31 ms.
func TestStrategies(t *testing.T) {
	const alone, n, alpha, beta, gamma = 31e-3, 12e6, 2e-6, 1e-10, 0.25e-9
	const message = alpha + n*beta       // 1.202 ms
	const exchange = 2*message + n*gamma // 5.404 ms
	halving := 4*alpha + 2*0.75*n*beta + 0.75*n*gamma
	for _, c := range []struct {
		strategy Strategy
		tau      int
		want     float64
	}{
		{Sync, 1, halving},
		{"decentralised_easgd", 1, 0}, // hidden behind the passes, as that of sync_easgd3
		{"easgd", 1, exchange},        // 4 exchanges of 5.4 ms keep the server busy for less than 36 ms
		{"async_sgd", 1, exchange},
		{"async_msgd", 1, exchange},
		{"async_easgd", 2, exchange / 2},
		{"async_measgd", 2, exchange / 2},
		{"hogwild_sgd", 1, exchange},
		{"hogwild_easgd", 8, exchange / 8},
		{"sync_easgd1", 1, 6*message + 3*n*gamma}, // three levels with the master's node
		{"sync_easgd2", 1, 4*message + 2*n*gamma},
		{"sync_easgd2", 5, (4*message + 2*n*gamma) / 5},
		{"sync_easgd3", 1, 0}, // 10.8 ms hide behind the passes' 30 ms
	} {
		cfg := testConfig(c.strategy)
		cfg.Tau, cfg.Cluster.NodesPerSupernode, cfg.Cluster.Nodes = c.tau, 8, 8
		cfg.Collective = Simulated{Cluster: cfg.Cluster, Mapping: topology.Block, Algorithm: c.strategy.Collective()}
		p := point(t, cfg, 4)
		name := fmt.Sprintf("%s, tau %d", c.strategy, c.tau)
		near(t, name, float64(p.Communication), c.want)
		near(t, name+" share", p.CommunicationShare, c.want/(alone+c.want))
		near(t, name+" speed-up", p.Speedup, 4*alone/(alone+c.want))
		near(t, name+" efficiency", p.Efficiency, alone/(alone+c.want))
	}
}

// TestServerBehindUplink: with its master a supernode of four has room for three workers; a fourth one's messages pay the uplink's latency.
func TestServerBehindUplink(t *testing.T) {
	const n, alpha, beta, gamma = 12e6, 2e-6, 1e-10, 0.25e-9
	c := testConfig("easgd")
	near(t, "inside", float64(point(t, c, 3).Communication), 2*(alpha+n*beta)+n*gamma)
	near(t, "across", float64(point(t, c, 4).Communication), 2*(alpha+3e-6+n*beta)+n*gamma)
}

// TestServerSaturates: when exchanges keep the server busy for longer than a worker computes, the server sets the pace; without a lock
// only the longest of receiving, adding and sending counts.
func TestServerSaturates(t *testing.T) {
	const n, message, add = 12e6, 1.202e-3, 3e-3
	c := testConfig("async_easgd")
	c.Cluster.NodesPerSupernode, c.Cluster.Nodes = 64, 64
	near(t, "locked", float64(point(t, c, 16).Iteration), 16*(2*message+add))
	c.Strategy = "hogwild_easgd"
	near(t, "hogwild", float64(point(t, c, 16).Iteration), 16*add)
	near(t, "hogwild, few", float64(point(t, c, 2).Iteration), 31e-3+2*message+add)
	c.Cluster.ReduceBytesPerSecond = 0
	near(t, "hogwild, additions for nothing", float64(point(t, c, 32).Iteration), 32*message)
}

// TestOverlap: buckets of 8 MB are summed when the first layer's gradients are complete, and the rest after the last layer.
func TestOverlap(t *testing.T) {
	c := testConfig(Sync)
	c.Cluster.NodesPerSupernode = 8
	c.Collective = perByte(1e-9) // 8 ms for the first bucket, beside 15 ms of the backward pass; 4 ms for the second
	c.Bucket = 8_000_000
	near(t, "hidden", float64(point(t, c, 2).Communication), 4e-3)
	c.Collective = perByte(4e-9) // 32 ms and 16 ms: the second waits for the first, 5 + 32 + 16 - 20
	near(t, "queued", float64(point(t, c, 2).Communication), 33e-3)
	c.Bucket = 1
	near(t, "layer by layer", float64(point(t, c, 2).Communication), 33e-3)
	c.Bucket = 0
	near(t, "one", float64(point(t, c, 2).Communication), 48e-3)
	c.Strategy = SyncEASGD3
	near(t, "beside both passes", float64(point(t, c, 2).Communication), 18e-3)
	c.Tau = 3
	near(t, "beside the passes of one iteration of three", float64(point(t, c, 2).Communication), 6e-3)
}

// perByte is a collective of so many seconds a byte.
type perByte float64

func (p perByte) Time(_ int, bytes int64) (topology.VTime, error) {
	return topology.VTime(float64(p) * float64(bytes)), nil
}

// TestStrongScaling: nodes share the batch; where they cannot evenly, the fullest sets the pace.
func TestStrongScaling(t *testing.T) {
	c := testConfig(Sync)
	c.Strong, c.Batch, c.Collective = true, 24, perByte(0)
	for _, n := range []struct{ nodes, batch int }{{1, 24}, {3, 8}, {5, 5}, {8, 3}} {
		p := point(t, c, n.nodes)
		iteration := 30e-3*float64(n.batch)/8 + 1e-3
		near(t, fmt.Sprint(n.nodes, " nodes"), float64(p.Iteration), iteration)
		near(t, fmt.Sprint(n.nodes, " nodes: speed-up"), p.Speedup, 91e-3/iteration)
		if p.NodeBatch != n.batch {
			t.Errorf("%d nodes: %d images a node, want %d", n.nodes, p.NodeBatch, n.batch)
		}
	}
}

// TestReading: the next batch is read beside everything else, and only what takes longer is seen.
func TestReading(t *testing.T) {
	c := testConfig(Sync)
	c.Collective = perByte(1e-9) // 12 ms
	c.Cluster.Storage = &topology.Storage{Arrays: 2, BytesPerSecond: 0.5e9, StripeBytes: 64e6}
	for _, n := range []struct {
		nodes int
		io    float64
	}{{1, 0}, {2, 0}, {5, 0}, {6, 5e-3}, {8, 21e-3}} { // 8 MB a node at 1 GB/s: 8 ms each, beside 43 ms
		p := point(t, c, n.nodes)
		if n.io == 0 && p.IO != 0 || n.io > 0 && math.Abs(float64(p.IO)-n.io) > 1e-12 {
			t.Errorf("%d nodes wait %g s for images, want %g", n.nodes, p.IO, n.io)
		}
		near(t, "sum", float64(p.Compute+p.Communication+p.IO), float64(p.Iteration))
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		nodes  int
		want   string
	}{
		{func(*Config) {}, 9, `cluster "test" has 8 nodes; 9 were asked for`},
		{func(c *Config) { c.Strategy = "sync_easgd1" }, 8, `8 workers of strategy sync_easgd1 and its master need 9`},
		{func(*Config) {}, 0, `0 nodes: at least one`},
		{func(c *Config) { c.Strong, c.Batch = true, 3 }, 4, `4 nodes cannot share a batch of 3 images`},
		{func(c *Config) { c.Tau = 2 }, 2, `tau 2: strategy sync communicates in every iteration`},
		{func(c *Config) { c.Tau = 0 }, 2, `tau 0`},
		{func(c *Config) { c.Batch = 0 }, 2, `batch 0`},
		{func(c *Config) { c.Strategy, c.Bucket = "easgd", 8 }, 2, `buckets of 8 bytes: they are for strategy sync, not easgd`},
		{func(c *Config) { c.Bucket = -8 }, 2, `buckets of -8 bytes`},
	} {
		cfg := testConfig(Sync)
		c.change(&cfg)
		if _, err := Run(cfg, []int{c.nodes}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
