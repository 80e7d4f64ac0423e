package models_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/relay"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestSurvey: all nets of the zoo that train, also in bfloat16, run on a surveyed machine of 64 cores, which computes nothing: every program says how it divides
// its work.
func TestSurvey(t *testing.T) {
	racing.SkipSequential(t)
	list, err := settings()
	if err != nil {
		t.Fatal(err)
	}
	spec, err := thisComputer(64)
	if err != nil {
		t.Fatal(err)
	}
	programs := 0
	undivided := map[string]bool{}
	for i := range list {
		s := &list[i]
		if s.batch > 0 || s.phase != caffepb.Phase_TRAIN || s.strategy != shape.Auto && s.table() != "convolutions" {
			continue
		}
		spec := spec
		if s.bf16 {
			spec = spec.RoundingFactors()
		}
		m, err := cpe.New(spec, cpe.Surveyed)
		if err != nil {
			t.Fatal(err)
		}
		m.Survey(func(w *cpe.Work) {
			if programs++; w.Groups > 1 && len(w.Units) == 0 {
				undivided[w.Program] = true
			}
		})
		n, err := planNet(s, m)
		if err != nil {
			t.Fatal(err)
		}
		if err := surveyNet(n, s.phase == caffepb.Phase_TRAIN); err != nil {
			t.Errorf("%s, %v: %v", s.path, s, err)
		}
		n.Close()
		m.Close()
	}
	if programs < 3000 {
		t.Errorf("%d programs", programs)
	}
	for name := range undivided {
		t.Errorf("program %s runs on all core groups and divides nothing", name)
	}
}

// surveyNet runs all layers of a net.
func surveyNet(n *swnet.Net, backward bool) error {
	var errs []error
	for i := range n.NumLayers() {
		errs = append(errs, surveyed(n, i, "forward", func() error { _, err := n.ForwardLayer(i); return err }))
	}
	for i := n.NumLayers() - 1; i >= 0 && backward; i-- {
		errs = append(errs, surveyed(n, i, "backward", func() error { return n.BackwardLayer(i) }))
	}
	return errors.Join(errs...)
}

// surveyed runs one layer and returns a panic as an error.
func surveyed(n *swnet.Net, i int, pass string, run func() error) (err error) {
	var p *relay.Panic
	func() {
		defer relay.Catch(&p)
		err = run()
	}()
	if p != nil {
		err = p
	}
	if err != nil {
		err = fmt.Errorf("%s %s (%s): %w", n.LayerName(i), pass, n.LayerType(i), err)
	}
	return err
}
