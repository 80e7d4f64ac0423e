package proto

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// scalarField parses the colon and the value or values of a field.
func (p *parser) scalarField(f *frame, fd protoreflect.FieldDescriptor, name token) {
	if p.tok.is(":") {
		p.read()
	} else {
		p.fail(name.pos, f, "%q needs a colon and a value; found %s", name.text, p.tok)
		if !p.startsValue(name) || p.tok.is("{") || p.tok.is("<") {
			p.skipValue(name)
			return
		}
	}
	if fd.IsList() && p.tok.is("[") {
		p.list(f, name, func() { p.scalar(f, fd, name) })
		return
	}
	p.scalar(f, fd, name)
}

// list parses values in brackets, separated by commas.
func (p *parser) list(f *frame, name token, element func()) {
	p.read()
	if p.tok.is("]") {
		p.read()
		return
	}
	for {
		element()
		switch {
		case p.tok.is(","):
			p.read()
		case p.tok.is("]"):
			p.read()
			return
		default:
			p.fail(name.pos, f, "the list of %q needs \",\" or \"]\"; found %s at line %d", name.text, p.tok, p.tok.pos.Line)
			if !p.tok.is("{") && !p.tok.is("<") {
				p.skipList()
				return
			}
		}
	}
}

func (p *parser) scalar(f *frame, fd protoreflect.FieldDescriptor, name token) {
	at := p.tok.pos
	if p.startsField() {
		p.fail(name.pos, f, "%q needs a value; found the next field, %s", name.text, p.tok)
		return
	}
	negative := p.tok.is("-")
	if negative {
		p.read()
	}
	var value protoreflect.Value
	var err error
	switch {
	case p.tok.kind == tokString && !negative:
		value, err = p.stringValue(fd)
	case p.tok.kind == tokWord:
		value, err = parseScalar(fd, p.tok.text, negative)
		p.read()
	case p.tok.is("[") && !fd.IsList():
		p.fail(name.pos, f, "%q is not a repeated field; it cannot have a list", name.text)
		p.skipValue(name)
		return
	default:
		p.fail(name.pos, f, "%q needs a value; found %s", name.text, p.tok)
		p.skipValue(name)
		return
	}
	if err != nil {
		p.fail(at, f, "field %q: %v", name.text, err)
		return
	}
	p.store(f, fd, value, name.pos)
}

// store sets a singular field or appends to a repeated one, and records the position of the first value.
func (p *parser) store(f *frame, fd protoreflect.FieldDescriptor, value protoreflect.Value, at Pos) {
	if p.taken(f, fd, at) {
		return
	}
	if !f.msg.Has(fd) {
		p.source.at[f.pathOf(fd)] = at
	}
	if fd.IsList() {
		f.msg.Mutable(fd).List().Append(value)
	} else {
		f.msg.Set(fd, value)
	}
}

// stringValue parses one or more quoted tokens, which are concatenated.
func (p *parser) stringValue(fd protoreflect.FieldDescriptor) (protoreflect.Value, error) {
	var all strings.Builder
	var first error
	raw := p.tok.text
	for ; p.tok.kind == tokString; p.read() {
		s, err := p.tok.unquote()
		if err != nil && first == nil {
			first = err
		}
		all.WriteString(s)
	}
	switch {
	case first != nil:
		return protoreflect.Value{}, first
	case fd.Kind() == protoreflect.StringKind:
		return protoreflect.ValueOfString(all.String()), nil
	case fd.Kind() == protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(all.String())), nil
	case fd.Kind() == protoreflect.EnumKind && fd.Enum().Name() == "LayerType":
		return protoreflect.Value{}, fmt.Errorf(`%s is a string; types in quotes belong in "layer"; the older "layers" has CONVOLUTION, POOLING and so on`, raw)
	case fd.Kind() == protoreflect.EnumKind:
		return protoreflect.Value{}, fmt.Errorf("%s is a string; a value of %s stands without quotes (values: %s)",
			raw, fd.Enum().Name(), strings.Join(enumNames(fd.Enum()), ", "))
	}
	return protoreflect.Value{}, fmt.Errorf("%s is a string, expected %s", raw, wanted(fd.Kind()))
}
