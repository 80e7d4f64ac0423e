package serve

import "github.com/swcaffe/swcaffe/proto/inferencepb"

// contents are the values of a tensor in a field of their type, as gRPC has them beside raw bytes.
type contents = inferencepb.InferTensorContents

// typed says how values of a datatype are read from contents.
type typed struct {
	field  string                               // of contents; "": values of the datatype are only raw
	length func(c *contents) int                // of the field
	values func(c *contents) ([]float32, error) // of the field; the slice may be the field itself
}

var (
	bools = typed{"bool_contents", func(c *contents) int { return len(c.GetBoolContents()) }, func(c *contents) ([]float32, error) {
		values := make([]float32, len(c.BoolContents))
		for i, v := range c.BoolContents {
			if v {
				values[i] = 1
			}
		}
		return values, nil
	}}
	floats = typed{"fp32_contents", func(c *contents) int { return len(c.GetFp32Contents()) }, func(c *contents) ([]float32, error) {
		return c.Fp32Contents, nil
	}}
	doubles = typed{"fp64_contents", func(c *contents) int { return len(c.GetFp64Contents()) }, func(c *contents) ([]float32, error) {
		values := make([]float32, len(c.Fp64Contents))
		for i, v := range c.Fp64Contents {
			values[i] = float32(v)
		}
		return values, nil
	}}
)

// integers reads the integers of a field, of which those of a smaller datatype are from low to high.
func integers[T int32 | int64 | uint32 | uint64](field string, of func(*contents) []T, low, high T) typed {
	return typed{field, func(c *contents) int { return len(of(c)) }, func(c *contents) ([]float32, error) {
		list := of(c)
		values := make([]float32, len(list))
		for i, v := range list {
			if v < low || v > high {
				return nil, badf("%d is no integer from %d to %d", v, low, high)
			}
			values[i] = float32(v)
		}
		return values, nil
	}}
}

// readContents reads the values or elements of a tensor from typed contents.
func (t *tensor) readContents(d *datatype, c *contents, count int) (err error) {
	field, given := d.field, 0
	switch {
	case d.size == 0:
		field, given = "bytes_contents", len(c.GetBytesContents())
	case field == "":
		return badf("values of %s have no typed contents: they are given in raw_input_contents", d.name)
	default:
		given = d.length(c)
	}
	if given != count {
		return badf("%d values are given in %s, its shape needs %d", given, field, count)
	}
	if d.size == 0 {
		t.elements = c.GetBytesContents()
		return nil
	}
	if count > 0 {
		t.values, err = d.values(c)
	}
	return err
}

// contents returns an output's values in the field of their type.
func (o *output) contents() *contents {
	c := &contents{Fp32Contents: o.values}
	if o.texts != nil {
		c.Fp32Contents = nil
		for _, s := range o.texts {
			c.BytesContents = append(c.BytesContents, []byte(s))
		}
	}
	return c
}
