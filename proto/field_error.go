package proto

import "fmt"

// FieldError is an error in a field of a file's message. Who knows the file finds the field's place with Source.Pos.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

// WrongField returns a FieldError with a formatted text.
func WrongField(field, format string, args ...any) error {
	return &FieldError{field, fmt.Errorf(format, args...)}
}
