package solver

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	swproto "github.com/swcaffe/swcaffe/proto"
)

// fieldError is an error in a field of the solver's file.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

func wrong(field, format string, args ...any) error {
	return &fieldError{field, fmt.Errorf(format, args...)}
}

// inFile prefixes an error with the position of the field it concerns, or with the solver file's name.
func inFile(file *swproto.Solver, err error) error {
	place := file.Path
	if about := (*fieldError)(nil); errors.As(err, &about) {
		place = cmp.Or(file.Source.Pos(about.field), place)
	}
	return fmt.Errorf("%s: %w", place, err)
}

// ofNamed returns the error of a file that a field names. If the file cannot be opened, the error has the field's position.
func ofNamed(file *swproto.Solver, field string, err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return inFile(file, wrong(field, "%s: %w", field, err))
	}
	return err
}
