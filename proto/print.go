package proto

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// MarshalText prints a message in the text format, in the form of Caffe's files: `layer {`, two spaces per level, one field per
// line in the order of field numbers, and floats in the shortest form that reads back exactly, also where it is read as a double
// first (Caffe does). Equal messages give equal text.
// Unknown fields are left out.
func MarshalText(m proto.Message) []byte {
	var b strings.Builder
	printMessage(&b, m.ProtoReflect(), "")
	return []byte(b.String())
}

func printMessage(b *strings.Builder, m protoreflect.Message, indent string) {
	for _, fd := range setFields(m) {
		if !fd.IsList() {
			printField(b, fd, m.Get(fd), indent)
			continue
		}
		list := m.Get(fd).List()
		for k := range list.Len() {
			printField(b, fd, list.Get(k), indent)
		}
	}
}

// setFields returns the fields set in a message, ordered by number.
func setFields(m protoreflect.Message) []protoreflect.FieldDescriptor {
	var set []protoreflect.FieldDescriptor
	m.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		set = append(set, fd)
		return true
	})
	slices.SortFunc(set, func(a, b protoreflect.FieldDescriptor) int { return cmp.Compare(a.Number(), b.Number()) })
	return set
}

func printField(b *strings.Builder, fd protoreflect.FieldDescriptor, v protoreflect.Value, indent string) {
	b.WriteString(indent)
	b.WriteString(string(fd.Name()))
	if fd.Message() != nil {
		b.WriteString(" {\n")
		printMessage(b, v.Message(), indent+"  ")
		b.WriteString(indent + "}\n")
		return
	}
	b.WriteString(": " + scalarText(fd, v) + "\n")
}

func scalarText(fd protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch fd.Kind() {
	case protoreflect.StringKind:
		return Quote(v.String())
	case protoreflect.BytesKind:
		return Quote(string(v.Bytes()))
	case protoreflect.EnumKind:
		if value := fd.Enum().Values().ByNumber(v.Enum()); value != nil {
			return string(value.Name())
		}
		return strconv.Itoa(int(v.Enum()))
	case protoreflect.FloatKind:
		return floatText(v.Float(), 32)
	case protoreflect.DoubleKind:
		return floatText(v.Float(), 64)
	}
	return v.String()
}

func floatText(v float64, bits int) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	text := strconv.FormatFloat(v, 'g', -1, bits)
	if again, _ := strconv.ParseFloat(text, 64); bits == 32 && float32(again) != float32(v) {
		const enough = 9 // digits that tell a float from its neighbours by half a step or more
		return strconv.FormatFloat(v, 'g', enough, 64)
	}
	return text
}
