package tensorboard

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// settings lists the fields of a message that are set and are no messages themselves, and those of its messages as "message.field". Lists are
// joined by commas. Names, tops and bottoms are left out.
func settings(m proto.Message) [][2]string {
	var list [][2]string
	add(&list, "", m.ProtoReflect())
	slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

// own are the fields that a node shows in other ways.
var own = []protoreflect.Name{"name", "type", "bottom", "top"}

func add(list *[][2]string, prefix string, m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := prefix + string(f.Name())
		switch {
		case prefix == "" && slices.Contains(own, f.Name()) || f.IsMap():
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				add(list, fmt.Sprintf("%s.%d.", name, i), v.List().Get(i).Message())
			}
		case f.IsList():
			var texts []string
			for i := range v.List().Len() {
				texts = append(texts, text(f, v.List().Get(i)))
			}
			*list = append(*list, [2]string{name, strings.Join(texts, ", ")})
		case f.Message() != nil:
			add(list, name+".", v.Message())
		default:
			*list = append(*list, [2]string{name, text(f, v)})
		}
		return true
	})
}

// text returns a scalar as text.
func text(f protoreflect.FieldDescriptor, v protoreflect.Value) string {
	if f.Enum() != nil {
		if e := f.Enum().Values().ByNumber(v.Enum()); e != nil {
			return string(e.Name())
		}
	}
	if f.Kind() == protoreflect.FloatKind {
		return fmt.Sprint(float32(v.Float()))
	}
	return v.String()
}
