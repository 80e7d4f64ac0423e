package validation_test

import (
	"flag"
	"os"
	"testing"

	"github.com/swcaffe/swcaffe/modeltime/trust"
	"github.com/swcaffe/swcaffe/scaling"
	"github.com/swcaffe/swcaffe/topology"
)

var rewrite = flag.Bool("rewrite", false, "write the file of modeltime/trust again")

// spreadComment is the head of trust's clusters.csv.
const spreadComment = `Factors by which published times of communication on a cluster differ from the modelled ones; see the package.
taihulight: the thesis's figure 7.7, topology-aware and ring, on 256 and 1024 nodes, on measured links. taihulight_mpi: the same under
entry 2 of topology/DEVIATIONS.md. taihulight_2018: swCaffe's communication in relation to computing, on 2 to 1024 nodes, along a binomial
tree, with a node's time modelled by the kernels of 2019 (entry 1). knl_cori: what iterations on several nodes of SC17's table 4 take
longer than on one, along a tree with nothing hidden.
Written by: go test ./topology/validation -run TestSpread -rewrite`

// TestSpread checks that the factors by which package trust widens modelled times of communication follow from the published times.
func TestSpread(t *testing.T) {
	long(t)
	const file = "../../modeltime/trust/clusters.csv"
	of := map[string][]trust.Sample{}
	add := func(name string, modelled, published float64) {
		of[name] = append(of[name], trust.Sample{Least: modelled, Most: modelled, Published: published})
	}
	for name, path := range map[string]string{"taihulight": "taihulight", "taihulight_mpi": "taihulight_mpi.prototxt"} {
		spec := cluster(t, path)
		for _, row := range read(t, "allreduce_bandwidth.csv") {
			if row["algorithm"] != "topology" && row["algorithm"] != "ring" {
				continue // the algorithm of SWMPI's own all-reduce is not published
			}
			nodes, bytes := row.Int("nodes"), int(row.Float("mbytes")*1e6)
			if published := row.Float("gbytes_per_s"); published > 0 && nodes <= 1024 {
				add(name, 1/busBandwidth(t, spec, row["algorithm"], nodes, bytes), 1/published)
			}
		}
	}
	tree := cluster(t, "taihulight_2018.prototxt")
	for _, row := range read(t, "scalability.csv") {
		m := machine(t, row["net"], 4, "swcaffe-2019")
		p := run(t, scaling.Config{
			Job: scaling.Job{Compute: m.Compute, ImageBytes: m.ImageBytes()}, Cluster: tree, Strategy: scaling.Sync, Batch: row.Int("batch"), Tau: 1,
			Collective: scaling.Simulated{Cluster: tree, Mapping: topology.Block, Algorithm: "binomial_tree"},
		}, row.Int("nodes"))
		share := row.Float("share") / 100
		add(tree.Name, p.CommunicationShare/(1-p.CommunicationShare), share/(1-share))
	}
	addWeakScaling(t, add)
	spreads := map[string]trust.Spread{}
	for name, samples := range of {
		spreads[name] = trust.Spread{trust.Communication: trust.Fit(samples)}
	}
	table := trust.Table(spreadComment, spreads)
	if *rewrite {
		if err := os.WriteFile(file, table, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := trust.Differ(spreads); d != "" {
		t.Errorf("%s is not of today's model: %s. Write it with -rewrite. It would be\n%s", file, d, table)
	}
}

// addWeakScaling adds the time by which SC17's iterations on several nodes are longer than those on one.
func addWeakScaling(t *testing.T, add func(name string, modelled, published float64)) {
	t.Helper()
	cori := cluster(t, "knl_cori")
	alone := 0.0
	for _, row := range read(t, "weak_scaling.csv") {
		seconds, nodes := row.Float("seconds")/row.Float("iterations"), row.Int("nodes")
		if nodes == 1 {
			alone = seconds
			continue
		}
		p := run(t, scaling.Config{
			Job: fixed(topology.VTime(alone), scWeights[row["net"]]), Strategy: "sync_easgd2", Batch: 1, Tau: 1, Cluster: cori,
			Collective: scaling.Simulated{Cluster: cori, Mapping: topology.Block, Algorithm: "binomial_tree"},
		}, nodes)
		add(cori.Name, float64(p.Communication), seconds-alone)
	}
}
