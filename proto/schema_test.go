package proto

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// TestSchema compares every message, field and enum with testdata/schema.txt, which was checked against BVLC's and
// SWCaffe's schemas: files written by one must mean the same to the other. A difference here is an incompatible change,
// unless it only adds.
func TestSchema(t *testing.T) {
	const file = "testdata/schema.txt"
	var b strings.Builder
	describeEnums(&b, caffepb.File_swcaffe_caffe_proto.Enums())
	messages := caffepb.File_swcaffe_caffe_proto.Messages()
	for i := range messages.Len() {
		m := messages.Get(i)
		fmt.Fprintf(&b, "%s\n", m.FullName())
		describeEnums(&b, m.Enums())
		for k := range m.Fields().Len() {
			fmt.Fprintf(&b, "  %s\n", describeField(m.Fields().Get(k)))
		}
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Split(string(readFile(t, file)), "\n")
	for i, line := range strings.Split(b.String(), "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("line %d is %q, differing from %s", i+1, line, file)
		}
	}
}

func describeEnums(b *strings.Builder, enums protoreflect.EnumDescriptors) {
	for i := range enums.Len() {
		e := enums.Get(i)
		fmt.Fprintf(b, "%s:", e.FullName())
		for k := range e.Values().Len() {
			v := e.Values().Get(k)
			fmt.Fprintf(b, " %s=%d", v.Name(), v.Number())
		}
		b.WriteString("\n")
	}
}

func describeField(f protoreflect.FieldDescriptor) string {
	kind := f.Kind().String()
	switch {
	case f.Message() != nil:
		kind = string(f.Message().FullName())
	case f.Enum() != nil:
		kind = string(f.Enum().FullName())
	}
	line := fmt.Sprintf("%d %s %s %s", f.Number(), f.Cardinality(), kind, f.Name())
	if f.IsPacked() {
		line += " packed"
	}
	switch {
	case f.HasDefault() && f.Enum() != nil:
		line += fmt.Sprintf(" = %s", f.DefaultEnumValue().Name())
	case f.HasDefault():
		line += fmt.Sprintf(" = %v", f.Default())
	}
	return line
}
