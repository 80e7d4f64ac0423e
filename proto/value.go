package proto

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// parseScalar parses the word of a value for field fd. negative: a minus precedes it.
func parseScalar(fd protoreflect.FieldDescriptor, word string, negative bool) (protoreflect.Value, error) {
	signed := word
	if negative {
		signed = "-" + word
	}
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return parseBool(signed)
	case protoreflect.EnumKind:
		return parseEnum(fd.Enum(), signed)
	case protoreflect.Int32Kind:
		v, err := parseInt(signed, 32)
		return protoreflect.ValueOfInt32(int32(v)), err
	case protoreflect.Int64Kind:
		v, err := parseInt(signed, 64)
		return protoreflect.ValueOfInt64(v), err
	case protoreflect.Uint32Kind:
		v, err := parseUint(signed, 32)
		return protoreflect.ValueOfUint32(uint32(v)), err
	case protoreflect.Uint64Kind:
		v, err := parseUint(signed, 64)
		return protoreflect.ValueOfUint64(v), err
	case protoreflect.FloatKind:
		v, err := parseFloat(signed)
		return protoreflect.ValueOfFloat32(roundFloat(v)), err
	case protoreflect.DoubleKind:
		v, err := parseFloat(signed)
		return protoreflect.ValueOfFloat64(v), err
	}
	return protoreflect.Value{}, fmt.Errorf("%q is not %s", signed, wanted(fd.Kind()))
}

// wanted describes the values of a kind of field.
func wanted(kind protoreflect.Kind) string {
	switch kind {
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return "an integer"
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		return "an integer of 0 or more"
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return "a number"
	}
	return "a string in quotes"
}

func parseBool(s string) (protoreflect.Value, error) {
	switch s {
	case "true", "True", "t":
		return protoreflect.ValueOfBool(true), nil
	case "false", "False", "f":
		return protoreflect.ValueOfBool(false), nil
	}
	if n, err := parseUint(s, 1); err == nil {
		return protoreflect.ValueOfBool(n == 1), nil
	}
	return protoreflect.Value{}, fmt.Errorf("%q is not true or false", s)
}

// isInteger reports whether a text that strconv accepts as an integer in base 0 is one of the text format, which has the bases 10, 16 and 8.
func isInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return !strings.ContainsAny(s, "_+") && !(len(digits) > 1 && digits[0] == '0' && strings.ContainsRune("bBoO", rune(digits[1])))
}

// isDecimal reports whether a text that strconv accepts as a floating-point number is one of the text format: a decimal without needless zeros
// at its front.
func isDecimal(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return strings.Trim(s, "0123456789.eE+-") == "" && digits != "" && digits[0] != '+' && !(len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9')
}

func parseInt(s string, bits int) (int64, error) {
	v, err := strconv.ParseInt(s, 0, bits)
	if err != nil || !isInteger(s) {
		return 0, fmt.Errorf("%q is not an integer of %d bits", s, bits)
	}
	return v, nil
}

func parseUint(s string, bits int) (uint64, error) {
	if strings.HasPrefix(s, "-") {
		return 0, fmt.Errorf("%s is negative, expected an integer of 0 or more", s)
	}
	v, err := strconv.ParseUint(s, 0, bits)
	if err != nil || !isInteger(s) {
		return 0, fmt.Errorf("%q is not an integer of %d bits, 0 or more", s, bits)
	}
	return v, nil
}

// parseFloat parses decimals, with or without a final f, and inf and nan in any case. Too large numbers become infinite.
func parseFloat(s string) (float64, error) {
	switch strings.ToLower(s) {
	case "nan":
		return math.NaN(), nil
	case "-nan":
		return math.Copysign(math.NaN(), -1), nil
	case "inf", "infinity":
		return math.Inf(1), nil
	case "-inf", "-infinity":
		return math.Inf(-1), nil
	}
	digits := s
	if strings.HasSuffix(s, "f") || strings.HasSuffix(s, "F") {
		digits = s[:len(s)-1]
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil && !math.IsInf(v, 0) || !isDecimal(digits) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return v, nil
}

// roundFloat rounds the double that a text was read as to the value of a float field, as protobuf's C++ does, and so Caffe. A text is thus rounded
// twice: 1.00000005960464477540 becomes the double 1+2^-24, and that 1. Numbers up to half a step above the largest float become it.
func roundFloat(v float64) float32 {
	const most = math.MaxFloat32 + 1<<103
	if math.Abs(v) <= most {
		v = max(-math.MaxFloat32, min(v, math.MaxFloat32))
	}
	return float32(v)
}

func parseEnum(ed protoreflect.EnumDescriptor, s string) (protoreflect.Value, error) {
	if v := ed.Values().ByName(protoreflect.Name(s)); v != nil {
		return protoreflect.ValueOfEnum(v.Number()), nil
	}
	if n, err := parseInt(s, 32); err == nil && ed.Values().ByNumber(protoreflect.EnumNumber(n)) != nil {
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(n)), nil
	}
	names := enumNames(ed)
	if fork := FromFork(string(ed.Name()) + "=" + s); fork != "" {
		return protoreflect.Value{}, fmt.Errorf("%q is not a value of %s%s", s, ed.Name(), fork)
	}
	return protoreflect.Value{}, fmt.Errorf("%q is not a value of %s%s (values: %s)", s, ed.Name(), suggest.DidYouMean(s, names), strings.Join(names, ", "))
}

func enumNames(ed protoreflect.EnumDescriptor) []string {
	var names []string
	for i := range ed.Values().Len() {
		names = append(names, string(ed.Values().Get(i).Name()))
	}
	return names
}
