package validation_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/validation"
	"github.com/swcaffe/swcaffe/modeltime"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/scaling"
	"github.com/swcaffe/swcaffe/topology"
)

func read(t *testing.T, file string) []validation.Row {
	t.Helper()
	rows, err := validation.ReadFS(os.DirFS("."), file)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func cluster(t *testing.T, nameOrFile string) topology.Spec {
	t.Helper()
	spec, err := topology.LoadSpec(nameOrFile)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// machines are kept by net, core groups and software, because modelling a net takes a while.
var machines = map[string]*scaling.Machine{}

// machine models one of the repository's nets on core groups of the SW26010 with the kernels of a publication.
func machine(t *testing.T, net string, coreGroups int, software string) *scaling.Machine {
	t.Helper()
	key := fmt.Sprint(net, coreGroups, software)
	if m := machines[key]; m != nil {
		return m
	}
	file, err := swproto.ReadNet(filepath.Join("../../models", net, "train_val.prototxt"))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := cpe.Load("sw26010")
	if err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups = coreGroups
	if spec, err = spec.WithSoftware(software); err != nil {
		t.Fatal(err)
	}
	m, err := scaling.NewMachine(file, modeltime.Options{Spec: spec, Mode: cpe.CostOnly, State: swnet.MergeState(caffepb.Phase_TRAIN)})
	if err != nil {
		t.Fatal(err)
	}
	machines[key] = m
	return m
}

func run(t *testing.T, c scaling.Config, nodes int) scaling.Point {
	t.Helper()
	points, err := scaling.Run(c, []int{nodes})
	if err != nil {
		t.Fatal(err)
	}
	return points[0]
}

// long skips a test under the race detector, where it would take minutes and has nothing to find: nothing here is concurrent.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long")
	}
}

// holdAll fails for each point whose error is above a limit.
func holdAll(t *testing.T, points validation.Points, limit float64) {
	t.Helper()
	for _, p := range points {
		if math.Abs(p.Error()) > limit {
			t.Errorf("%s: %.4g, published %.4g: off by %+.1f%%, want %.0f%% at most", p.Name, p.Modelled, p.Published, 100*p.Error(), 100*limit)
		}
	}
}
