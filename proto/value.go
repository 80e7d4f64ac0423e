package proto

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/suggest"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// parseScalar turns the words of a value into what field fd holds. negative says that a minus stood before it.
func parseScalar(fd protoreflect.FieldDescriptor, word string, negative bool) (protoreflect.Value, error) {
	signed := word
	if negative {
		signed = "-" + word
	}
	switch fd.Kind() {
	case protoreflect.BoolKind:
		switch signed {
		case "true", "True", "t", "1":
			return protoreflect.ValueOfBool(true), nil
		case "false", "False", "f", "0":
			return protoreflect.ValueOfBool(false), nil
		}
		return protoreflect.Value{}, fmt.Errorf("%q is not true or false", signed)
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
		v, err := parseFloat(signed, 32)
		return protoreflect.ValueOfFloat32(float32(v)), err
	case protoreflect.DoubleKind:
		v, err := parseFloat(signed, 64)
		return protoreflect.ValueOfFloat64(v), err
	}
	return protoreflect.Value{}, fmt.Errorf("%q is not %s", signed, wanted(fd.Kind()))
}

// wanted names what a field of a kind holds.
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

func parseInt(s string, bits int) (int64, error) {
	v, err := strconv.ParseInt(s, 0, bits)
	if err != nil || strings.ContainsAny(s, "_oObB") && !isHex(s) || strings.HasPrefix(s, "+") {
		return 0, notNumber(s, fmt.Sprintf("an integer of %d bits", bits))
	}
	return v, nil
}

func parseUint(s string, bits int) (uint64, error) {
	v, err := strconv.ParseUint(s, 0, bits)
	if strings.HasPrefix(s, "-") {
		return 0, fmt.Errorf("%s is negative, expected an integer of 0 or more", s)
	}
	if err != nil || strings.ContainsAny(s, "_oObB") && !isHex(s) {
		return 0, notNumber(s, fmt.Sprintf("an integer of %d bits, 0 or more", bits))
	}
	return v, nil
}

func isHex(s string) bool {
	s = strings.ToLower(strings.TrimPrefix(s, "-"))
	return strings.HasPrefix(s, "0x") && !strings.Contains(s, "_")
}

func notNumber(s, want string) error { return fmt.Errorf("%q is not %s", s, want) }

// parseFloat reads decimal numbers, with or without a final f, and inf and nan in any letter case. What is too large
// becomes infinite.
func parseFloat(s string, bits int) (float64, error) {
	unsigned := strings.TrimPrefix(s, "-")
	switch strings.ToLower(unsigned) {
	case "nan":
		return math.NaN(), nil
	case "inf", "infinity":
		return math.Inf(len(unsigned) - len(s)), nil
	}
	digits := strings.TrimSuffix(strings.TrimSuffix(s, "f"), "F")
	if len(unsigned) == 0 || unsigned[0] != '.' && !isDigit(unsigned[0], 10) || strings.ContainsAny(s, "_xXpP") || isOctal(unsigned) || len(s)-len(digits) > 1 {
		return 0, notNumber(s, "a number")
	}
	v, err := strconv.ParseFloat(digits, bits)
	if err != nil && !math.IsInf(v, 0) {
		return 0, notNumber(s, "a number")
	}
	return v, nil
}

// isOctal reports whether a number starts like one of base 8, which only integers may.
func isOctal(s string) bool { return len(s) > 1 && s[0] == '0' && isDigit(s[1], 10) }

func parseEnum(ed protoreflect.EnumDescriptor, s string) (protoreflect.Value, error) {
	if v := ed.Values().ByName(protoreflect.Name(s)); v != nil {
		return protoreflect.ValueOfEnum(v.Number()), nil
	}
	if n, err := parseInt(s, 32); err == nil && ed.Values().ByNumber(protoreflect.EnumNumber(n)) != nil {
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(n)), nil
	}
	names := enumNames(ed)
	return protoreflect.Value{}, fmt.Errorf("%q is not a value of %s%s (values: %s)", s, ed.Name(), suggest.DidYouMean(s, names), strings.Join(names, ", "))
}

func enumNames(ed protoreflect.EnumDescriptor) []string {
	var names []string
	for i := range ed.Values().Len() {
		names = append(names, string(ed.Values().Get(i).Name()))
	}
	return names
}
