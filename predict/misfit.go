package predict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/pages"
	swnet "github.com/swcaffe/swcaffe/net"
)

// ShapeError is the error of a run for whose inputs' shapes the net cannot be planned.
type ShapeError struct {
	Inputs []Port // as they were given
	Err    error
}

func (e *ShapeError) Error() string { return e.about(e.Err) }

// WithoutFile is Error for those who must not learn where the prototxt is: it names the layer alone.
func (e *ShapeError) WithoutFile() string { return e.about(withoutFile(e.Err)) }

// withoutFile returns an error of a layer without its file, nil if err is none.
func withoutFile(err error) error {
	var in *swnet.LayerError
	if !errors.As(err, &in) {
		return nil
	}
	return &swnet.LayerError{Index: in.Index, Layer: in.Layer, Type: in.Type, Err: in.Err}
}

// about says which shapes do not fit, and why; nil: it does not say why.
func (e *ShapeError) about(why error) string {
	var list []string
	for _, p := range e.Inputs {
		list = append(list, fmt.Sprintf("%q %v", p.Name, p.Shape))
	}
	text := "the net cannot be planned for inputs " + strings.Join(list, ", ")
	if why != nil {
		text += ": " + why.Error()
	}
	return text
}

func (e *ShapeError) Unwrap() error { return e.Err }

// ValueError is the error of a run whose inputs have values that a layer does not take, as an index out of range. Err is the layer's error.
type ValueError struct{ Err error }

func (e *ValueError) Error() string { return e.Err.Error() }
func (e *ValueError) Unwrap() error { return e.Err }

// WithoutFile is as that of ShapeError.
func (e *ValueError) WithoutFile() string { return withoutFile(e.Err).Error() }

// misfit makes a ShapeError of an error in planning the given inputs, unless it is one of memory or of weights.
func (s *Session) misfit(err error) error {
	if pages.Outside(err) != nil {
		return err
	}
	e := &ShapeError{Err: err}
	for _, a := range s.given {
		e.Inputs = append(e.Inputs, Port{a.Name, slices.Clone(a.Shape)})
	}
	return e
}
