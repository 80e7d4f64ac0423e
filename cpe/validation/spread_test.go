package validation_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/validation"
	"github.com/swcaffe/swcaffe/modeltime/trust"
)

// spreadComment is the head of trust's machines.csv.
const spreadComment = `Factors by which published times of a machine lie outside the times that are modelled with the published curves of its bandwidth; see the
package. A low factor times a band's lower end has at most a tenth of the published times below it, a high factor alike.
sw26010: kinds of passes from swCaffe (arXiv 1903.06934v1), table II on one core group and figures 8 and 9 on a node, and the ReLUs of
logs of 2017-10 and 2017-12, all with the kernels of 2018; iterations from its table III of 2018 and from J. Fang's thesis, table 7.2, of
2019, with the kernels of their year. k40m, e5_2680v3: iterations of the same table III, with our own plans, which nobody has built.
Written by: go test ./cpe/validation -run TestSpread -rewrite`

// samples join the points of one list that were modelled with several curves.
func samples(curves []validation.Points, kind trust.Kind) []trust.Sample {
	bands := (&source{curves: curves}).ranges()
	var all []trust.Sample
	for _, p := range curves[0] {
		if kind == trust.Any || p.Kind == string(kind) {
			all = append(all, trust.Sample{Least: bands[p.Name][0], Most: bands[p.Name][1], Published: p.Published})
		}
	}
	return all
}

// TestSpread holds the factors by which package trust widens modelled times against the published times: it makes them anew, and counts how
// many published times lie outside the ranges of their kind.
func TestSpread(t *testing.T) {
	const file = "../../modeltime/trust/machines.csv"
	passes, whole := sw26010Points(t)
	sw := trust.Spread{}
	for _, kind := range []trust.Kind{trust.Implicit, trust.Explicit, trust.Product, trust.Pooling, trust.Stream, trust.MPE} {
		sw[kind] = trust.Fit(samples(passes, kind))
	}
	sw[trust.Any] = sw.Widest()
	sw[trust.Iteration] = trust.Fit(samples(whole, trust.Any))
	spreads := map[string]trust.Spread{"sw26010": sw}
	for name, column := range map[string]string{"k40m": "k40m", "e5_2680v3": "cpu"} {
		spec, err := cpe.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		f := trust.Fit(samples([]validation.Points{netTimes(t, "batch_2018", column, spec)}, trust.Any))
		spreads[name] = trust.Spread{trust.Iteration: f, trust.Any: f}
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
	page, err := os.ReadFile("../../docs/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	for kind, f := range sw {
		if row := fmt.Sprintf("| %d | %.3f | %.3f |\n", f.Points, f.Low, f.High); !strings.Contains(string(page), row) {
			t.Errorf("docs/machines.md lacks the row of %s: %s", kind, row)
		}
	}
	for _, kind := range []trust.Kind{trust.Implicit, trust.Explicit, trust.Product, trust.Pooling, trust.Stream, trust.MPE} {
		list := samples(passes, kind)
		below, above := 0, 0
		for _, s := range list {
			r := trust.Of("sw26010").Range(kind, s.Least, s.Most)
			if s.Published < 0.999*r.Low {
				below++
			}
			if s.Published > 1.001*r.High {
				above++
			}
		}
		if most := len(list) / 10; below > most || above > most || len(list) == 0 {
			t.Errorf("%s: of %d published times %d lie below their ranges and %d above: at most %d each", kind, len(list), below, above, most)
		}
	}
}

// sw26010Points models all published passes, and whole iterations, with each curve.
func sw26010Points(t *testing.T) (passes, whole []validation.Points) {
	t.Helper()
	for _, curve := range curves(t) {
		on := func(groups int, software string) cpe.Spec { return withCurve(t, sw26010(t, groups, software), curve) }
		points, _, _, _ := tableII(t, on(1, in2018))
		for net, batch := range map[string]int{"vgg16": 64, "alexnet_bn": 256} {
			layers, _ := layerPoints(t, net, batch, on(4, in2018))
			points = append(points, layers...)
		}
		for _, p := range append(logPoints(t, on(1, in2018))["ReLU"], resnetPoints(t, on(1, in2018))["ReLU"]...) {
			points.AddKind(string(trust.Stream), "log "+p.Name, p.Modelled, p.Published)
		}
		passes = append(passes, points)
		var nets validation.Points
		for year, software := range map[string]string{"2018": in2018, "2019": in2019} {
			for _, p := range iterations(t, year, on(4, software)) {
				nets.Add(p.Name+" "+year, p.Modelled, p.Published)
			}
		}
		whole = append(whole, nets)
	}
	return passes, whole
}
