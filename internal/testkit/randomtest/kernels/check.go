package kernels

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
)

// job holds the arrays of a problem, the kernel to run and the expected results.
type job struct {
	arrays []*array
	// invalid: making the kernel must return an error.
	invalid bool
	// build makes the kernel on a machine, and returns its run. It returns nil if the machine has no such kernel.
	build func(m *cpe.Machine) (*run, error)
	// judge, if not nil, makes further comparisons with the reference after the first run, beside those of the arrays.
	judge func() error
}

// run runs a kernel on the job's arrays.
type run struct {
	do      func() error
	scratch int // number of scratch values, if scratch is lent
}

// check runs a job on all machines and compares.
func (j *job) check(c *common) error {
	if !c.native() {
		return j.checkModel(c)
	}
	kept.Lock()
	defer kept.Unlock()
	var first [][]float32
	for i, t := range append([]randomtest.Threads{{1}}, c.Threads...) {
		m, err := native(t, c.Cache, c.rounds(), i == 0 || c.Seed%4 == 0)
		if err != nil {
			return err
		}
		got, err := j.runOn(m, c, i == 0, i == 0 || i == len(c.Threads))
		if err != nil {
			return fmt.Errorf("threads %v: %w", t, err)
		}
		if i == 0 {
			first = got
		} else if err := j.sameAs(first, got); err != nil {
			return fmt.Errorf("threads %v: %w", t, err)
		}
	}
	return nil
}

// errNoError is the failure of an invalid problem whose kernel was made without an error.
var errNoError = errors.New("the shape is invalid, and no error says so")

// make builds the kernel. It returns nil if there is none.
func (j *job) make(m *cpe.Machine) (*run, error) {
	k, err := j.build(m)
	switch {
	case j.invalid && err == nil:
		return nil, errNoError
	case j.invalid:
		return nil, nil
	}
	return k, err
}

// runOn runs a job on a native machine, twice if again is set, and returns the contents of the arrays. judged: compare with the
// reference.
func (j *job) runOn(m *cpe.Machine, c *common, judged, again bool) ([][]float32, error) {
	k, err := j.make(m)
	if err != nil || k == nil {
		return nil, err
	}
	got, err := j.runOnce(m, k, c)
	if err == nil && judged {
		err = j.compare()
	}
	if err != nil || !again {
		return got, err
	}
	second, err := j.runOnce(m, k, c)
	if err == nil {
		err = j.sameAs(got, second)
	}
	if err != nil {
		return nil, fmt.Errorf("the second run: %w", err)
	}
	return got, nil
}

// runOnce sets up the arrays and the scratch, and runs a kernel once.
func (j *job) runOnce(m *cpe.Machine, k *run, c *common) ([][]float32, error) {
	j.reset(c.Shift)
	scratch := &array{name: "scratch that was lent", n: k.scratch, written: true}
	if c.Lend && k.scratch > 0 {
		scratch.reset(0)
		m.Lend(scratch.data)
		defer m.Lend(nil)
	}
	if err := k.do(); err != nil {
		return nil, err
	}
	for _, a := range j.arrays {
		if err := a.intact(c.Shift); err != nil {
			return nil, err
		}
	}
	if scratch.data != nil {
		if err := scratch.intact(0); err != nil {
			return nil, err
		}
	}
	var got [][]float32
	for _, a := range j.arrays {
		got = append(got, slices.Clone(a.data))
	}
	return got, nil
}

func (j *job) reset(shift int) {
	for _, a := range j.arrays {
		a.reset(shift)
	}
}

// compare compares the results with the reference.
func (j *job) compare() error {
	for _, a := range j.arrays {
		if err := a.compare(); err != nil {
			return err
		}
	}
	if j.judge != nil {
		return j.judge()
	}
	return nil
}

// sameAs compares two sets of results bit by bit.
func (j *job) sameAs(want, got [][]float32) error {
	if (want == nil) != (got == nil) {
		return errors.New("there is a kernel for some threads and none for others")
	}
	for i := range got {
		a := j.arrays[i]
		if !a.written || a.open {
			continue
		}
		for k, v := range got[i] {
			if !same(v, want[i][k]) {
				return fmt.Errorf("%s[%d] of %d, as it lies, is %g, and was %g in the first run", a.name, k, a.n, v, want[i][k])
			}
		}
	}
	return nil
}

// checkModel runs a job on a modelled machine that computes values and on one that only counts costs, and compares the ledgers.
func (j *job) checkModel(c *common) error {
	var ledgers [2]cpe.Ledger
	var errs [2]error
	for i, mode := range []cpe.Mode{cpe.Functional, cpe.CostOnly} {
		m, err := modelled(c, mode)
		if err != nil {
			return err
		}
		defer m.Close()
		if ledgers[i], errs[i] = j.runModel(m, c); errs[i] != nil && !isLDM(errs[i]) {
			return fmt.Errorf("%v: %w", mode, errs[i])
		}
	}
	if isLDM(errs[0]) != isLDM(errs[1]) {
		return fmt.Errorf("with values the error is %v, for costs alone %v", errs[0], errs[1])
	}
	if ledgers[0] != ledgers[1] {
		return fmt.Errorf("the ledger with values is\n%+v, for costs alone\n%+v", ledgers[0], ledgers[1])
	}
	return nil
}

// isLDM reports whether an error means that a tile does not fit into a CPE's LDM. Kernels without tiling return it for large
// shapes.
func isLDM(err error) bool {
	var ldm *cpe.LDMError
	return errors.As(err, &ldm)
}

// untouched reports arrays that were written by a machine that only counts costs.
func (j *job) untouched() error {
	for _, a := range j.arrays {
		for i, v := range a.data {
			if !same(v, a.before[i]) {
				return fmt.Errorf("%s: value %d was %g and is %g", a.name, i, a.before[i], v)
			}
		}
	}
	return nil
}

// runModel runs a job on a modelled machine, twice if the machine computes values.
func (j *job) runModel(m *cpe.Machine, c *common) (cpe.Ledger, error) {
	k, err := j.make(m)
	if err != nil || k == nil {
		return cpe.Ledger{}, err
	}
	m.ResetLedger()
	if !m.Values() {
		j.reset(0)
		if err := k.do(); err != nil {
			return cpe.Ledger{}, err
		}
		return m.Ledger(), j.untouched()
	}
	first, err := j.runOnce(m, k, &common{})
	if err == nil {
		err = j.compare()
	}
	if err != nil {
		return cpe.Ledger{}, err
	}
	ledger := m.Ledger()
	m.ResetLedger()
	second, err := j.runOnce(m, k, &common{})
	if err == nil {
		err = j.sameAs(first, second)
	}
	if err == nil && m.Ledger() != ledger {
		err = fmt.Errorf("the ledger is\n%+v, and was\n%+v", m.Ledger(), ledger)
	}
	if err != nil {
		return cpe.Ledger{}, fmt.Errorf("the second run: %w", err)
	}
	return ledger, nil
}
