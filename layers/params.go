package layers

import (
	"slices"
	"strings"
	"sync"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// ownParams are the parameter messages of layers by the names of their types, in lower case.
var ownParams = sync.OnceValue(func() map[string][]string {
	own := map[string][]string{}
	fields := (&caffepb.LayerParameter{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		name := string(fields.Get(i).Name())
		if typ, ok := strings.CutSuffix(name, "_param"); ok {
			typ = strings.ReplaceAll(typ, "_", "")
			own[typ] = append(own[typ], name)
		}
	}
	return own
})

// Reads returns the parameter messages that layers of this type read; known is false for a user's type that does not declare them.
func (t Type) Reads() (params []string, known bool) {
	if params = t.Params; params == nil {
		params = ownParams()[strings.ToLower(t.Name)]
		known = len(params) > 0
	} else {
		known = true
	}
	if t.Computes(cpe.INT8) {
		params = append(slices.Clip(params), quantization)
	}
	return params, known
}

// Ineffective returns the parameter messages of a layer that layers of its type do not read. A message that gives no more than an engine is left out:
// engines have no effect on any layer.
func (t Type) Ineffective(p *caffepb.LayerParameter) (params []string) {
	reads, known := t.Reads()
	if !known {
		return nil
	}
	p.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := string(fd.Name())
		if strings.HasSuffix(name, "_param") && fd.Message() != nil && !slices.Contains(reads, name) && decides(v.Message()) {
			params = append(params, name)
		}
		return true
	})
	slices.Sort(params)
	return params
}

// quantization is the message of layers in INT8, of whatever type.
const quantization = "quantization_param"

// decides reports whether a message gives more than an engine.
func decides(m protoreflect.Message) (more bool) {
	m.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		more = fd.Name() != "engine"
		return !more
	})
	return more
}
