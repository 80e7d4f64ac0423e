package layertest

import (
	"testing"

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

func checkAll(t *testing.T, b *Bench, c *Case) {
	with := *c
	with.Param += c.files(t)
	if !with.skipsGradient() {
		for _, engine := range Engines() {
			if err := CheckGradient(b.Device(engine), &with); err != nil {
				t.Errorf("%v: %v", engine, err)
			}
		}
	}
	for _, check := range []func(*Bench, *Case) error{CheckPaths, CheckTiled, CheckCores, CheckStart, CheckReads} {
		if err := check(b, &with); err != nil {
			t.Error(err)
		}
	}
	if with.Again != nil {
		for _, engine := range Engines() {
			if err := CheckReshape(func() *layers.Device { return b.Device(engine) }, &with); err != nil {
				t.Errorf("%v: %v", engine, err)
			}
		}
	}
	if with.Allocates == "" {
		if err := CheckAllocations(b, &with); err != nil {
			t.Error(err)
		}
	}
}

func (c *Case) skipsGradient() bool {
	typ, err := layers.Find(c.Type)
	return c.NoGradient != "" || err == nil && typ.NoGradient
}
