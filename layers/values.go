package layers

import "fmt"

// ValueError is an error of Forward that values of the bottoms cause, as an index out of range. With other values the same net runs.
type ValueError struct{ Err error }

func (e *ValueError) Error() string { return e.Err.Error() }
func (e *ValueError) Unwrap() error { return e.Err }

// WrongValue returns a ValueError with a formatted text.
func WrongValue(format string, args ...any) error {
	return &ValueError{fmt.Errorf(format, args...)}
}
