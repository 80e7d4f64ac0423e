package layers

import (
	"fmt"
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

// IneffectiveFillers says which fields of the fillers of a layer have no effect: a filler reads those of its type, and a bias is filled if there is
// one. Caffe passes over them, so that a weight_filler with a std alone, whose type is constant, leaves all weights 0.
func (t Type) IneffectiveFillers(p *caffepb.LayerParameter) (said []string) {
	reads, _ := t.Reads()
	for _, name := range reads {
		fd := p.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
		if fd == nil || !p.ProtoReflect().Has(fd) {
			continue
		}
		m := p.ProtoReflect().Get(fd).Message()
		m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			switch f, single := v.Interface().(protoreflect.Message); {
			case fd.Message() == nil || fd.Message().Name() != "FillerParameter":
			case single:
				said = append(said, ineffectiveInFiller(fd, f)...)
			default:
				for i := range v.List().Len() {
					said = append(said, ineffectiveInFiller(fd, v.List().Get(i).Message())...)
				}
			}
			return true
		})
		term := m.Descriptor().Fields().ByName("bias_term")
		if filler := m.Descriptor().Fields().ByName("bias_filler"); term != nil && filler != nil && m.Has(filler) && !m.Has(term) && !m.Get(term).Bool() {
			said = append(said, "bias_filler has no effect without bias_term: true")
		}
	}
	slices.Sort(said)
	return slices.Compact(said)
}

func ineffectiveInFiller(name protoreflect.FieldDescriptor, m protoreflect.Message) (said []string) {
	f := m.Interface().(*caffepb.FillerParameter)
	kind, known := fillers[f.GetType()]
	if !known {
		return nil
	}
	what, byDefault := "none", ""
	if kind.reads != nil {
		what = strings.Join(kind.reads, ", ")
	}
	if f.Type == nil {
		byDefault = ", the default"
	}
	m.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if fd.Name() != "type" && fd.Name() != "sparse" && !slices.Contains(kind.reads, string(fd.Name())) { // Fill refuses sparse
			said = append(said, fmt.Sprintf("%s has no effect in a %s of type %s%s, which reads %s", fd.Name(), name.Name(), f.GetType(), byDefault, what))
		}
		return true
	})
	return said
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
