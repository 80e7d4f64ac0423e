package solver

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	swproto "github.com/swcaffe/swcaffe/proto"
)

// wrong returns an error in a field of the solver's file.
var wrong = swproto.WrongField

// inFile prefixes an error with the position of the field it concerns, or with the solver file's name.
func inFile(file *swproto.Solver, err error) error {
	place := file.Path
	if about := (*swproto.FieldError)(nil); errors.As(err, &about) {
		place = cmp.Or(file.Source.Pos(about.Field), place)
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
