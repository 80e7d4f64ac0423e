package events

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// Number is a figure. In JSON it is a number with the digits that a float32 needs, or one of the strings "NaN", "Infinity" and
// "-Infinity", as in protobuf's JSON.
type Number float64

// MarshalJSON formats the number.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	switch {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Infinity"`), nil
	}
	bits := 32
	if narrow := float32(v); math.IsInf(float64(narrow), 0) || narrow == 0 && v != 0 {
		bits = 64
	}
	return strconv.AppendFloat(nil, v, 'g', -1, bits), nil
}

// UnmarshalJSON reads MarshalJSON's text.
func (n *Number) UnmarshalJSON(text []byte) error {
	if inner, ok := bytes.CutPrefix(text, []byte(`"`)); ok {
		switch name := string(bytes.TrimSuffix(inner, []byte(`"`))); name {
		case "NaN", "Infinity", "-Infinity":
			text = []byte(name)
		default:
			return fmt.Errorf("events: %s is no number", text)
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return fmt.Errorf("events: %w", err)
	}
	*n = Number(v)
	return nil
}
