package layertest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/internal/testkit/racing"
	"github.com/swcaffe/swcaffe/layers"
)

// Walk runs every check on every case. It fails for a registered type without documentation, without a case, without a CPE path, or with a
// gradient that no case checks.
func Walk(t *testing.T, cases []Case) {
	b := NewBench(t)
	byType := map[string][]*Case{}
	for i := range cases {
		byType[cases[i].Type] = append(byType[cases[i].Type], &cases[i])
	}
	for _, typ := range layers.Types() {
		t.Run(typ.Name, func(t *testing.T) {
			if typ.Doc == "" {
				t.Error("the registry entry has no Doc")
			}
			if err := covered(typ, byType[typ.Name]); err != "" {
				t.Error(err)
			}
			for _, c := range byType[typ.Name] {
				t.Run(c.Name, func(t *testing.T) { checkAll(t, b, c) })
			}
		})
		delete(byType, typ.Name)
	}
	for name := range byType {
		t.Errorf("there are cases for %q, which is not registered", name)
	}
}

// covered returns what a type's cases lack, or "".
func covered(typ layers.Type, cases []*Case) string {
	if len(cases) == 0 {
		return "the type has no test case, so neither a gradient check nor a comparison of its two paths"
	}
	if typ.NoGradient {
		return ""
	}
	for _, c := range cases {
		if c.NoGradient == "" || c.CheckedBy != "" {
			return ""
		}
	}
	return "none of the type's cases checks the gradient"
}

// checkAll runs the checks. Under the race detector it runs two: in CheckFirstUse core groups use new storage, in CheckCores storage that is
// there. The other checks run the same goroutines again.
func checkAll(t *testing.T, b *Bench, c *Case) {
	with := *c
	with.Param += c.files(t)
	checks := []func(*Bench, *Case) error{CheckFirstUse, CheckCores}
	if !racing.Detector {
		checks = append(checks, checkGradients, CheckPaths, CheckTiled, CheckStart, CheckReads, CheckPieces, checkReshapes, checkAllocations)
	}
	for _, check := range checks {
		if err := check(b, &with); err != nil {
			t.Error(err)
		}
	}
}

func checkGradients(b *Bench, c *Case) error {
	if c.skipsGradient() {
		return nil
	}
	return onEngines(func(engine layers.Engine) error { return CheckGradient(b.Device(engine), c) })
}

func checkReshapes(b *Bench, c *Case) error {
	if c.Again == nil {
		return nil
	}
	return onEngines(func(engine layers.Engine) error {
		return CheckReshape(func() *layers.Device { return b.Device(engine) }, c)
	})
}

func checkAllocations(b *Bench, c *Case) error {
	if c.Allocates != "" {
		return nil
	}
	return CheckAllocations(b, c)
}

// onEngines runs a check on both engines.
func onEngines(check func(layers.Engine) error) (err error) {
	for _, engine := range Engines() {
		if failed := check(engine); failed != nil {
			err = errors.Join(err, fmt.Errorf("%v: %w", engine, failed))
		}
	}
	return err
}

func (c *Case) skipsGradient() bool {
	typ, err := layers.Find(c.Type)
	return c.NoGradient != "" || err == nil && typ.NoGradient
}
