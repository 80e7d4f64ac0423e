package proto

import (
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A field that the schema has is no fork's.
func TestForksFieldsAreNotOurs(t *testing.T) {
	file := caffepb.File_swcaffe_caffe_proto
	for name := range forkOf() {
		message, field, nested := strings.Cut(name, ".")
		if !nested {
			message, field = "LayerParameter", name
		}
		md := file.Messages().ByName(protoreflect.Name(message))
		if md == nil {
			t.Errorf("%s: the schema has no message %s", name, message)
		} else if md.Fields().ByName(protoreflect.Name(field)) != nil {
			t.Errorf("%s is in the schema", name)
		}
	}
	if got := FromFork("Convolution") + FromFork("convolution_param"); got != "" {
		t.Errorf("convolutions are from a fork: %q", got)
	}
}
