package solver

import (
	"errors"

	swproto "github.com/swcaffe/swcaffe/proto"
)

// faults collects the errors in a solver's files, so that a user sees all of them at once. An error that two nets of one file have counts
// once.
type faults struct{ list []error }

// add adds an error; nil is none.
func (f *faults) add(err error) {
	if err == nil {
		return
	}
	for _, known := range f.list {
		if known.Error() == err.Error() {
			return
		}
	}
	f.list = append(f.list, err)
}

// field adds an error in a field of the solver's file, with the field's place.
func (f *faults) field(file *swproto.Solver, err error) {
	if err != nil {
		f.add(inFile(file, err))
	}
}

// err returns the errors as one, nil if there are none.
func (f *faults) err() error {
	if len(f.list) == 1 {
		return f.list[0]
	}
	return errors.Join(f.list...)
}
