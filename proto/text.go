package proto

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// UnmarshalText parses a message in protobuf's text format. The error, if any, is of type Errors: all faults, each with
// file:line:col. The Source holds the positions of the fields; it is returned with errors too.
//
// The parser accepts what Caffe's own parser accepts, with two exceptions. A missing required field of the schema is an error.
// Strings may contain any bytes.
func UnmarshalText(file string, text []byte, m proto.Message) (*Source, error) {
	p := &parser{
		lex:    lexer{text: string(text), pos: Pos{1, 1}},
		source: &Source{File: file, at: map[string]Pos{}},
	}
	p.read()
	root := &frame{msg: m.ProtoReflect(), open: token{pos: Pos{1, 1}}}
	p.message(root)
	if len(p.found) == 0 {
		return p.source, nil
	}
	errs := make(Errors, len(p.found))
	for i, f := range p.found {
		errs[i] = &Error{File: file, Pos: f.pos, In: f.in.describe(), Msg: f.msg + f.again()}
	}
	errs.sort()
	return p.source, errs
}

// frame is a message being parsed.
type frame struct {
	parent *frame
	field  protoreflect.FieldDescriptor // the field that holds it; nil for the file
	path   string
	msg    protoreflect.Message
	open   token  // its opening brace
	close  string // "}" or ">"; "" for the file
	// meant lists the fields for which unknown fields seem to be misspellings.
	meant []string
	// stray is a message inside this one whose closing brace is not indented like its opening line. If this frame's own closing
	// brace turns out to be missing, stray's brace has probably closed the wrong message.
	stray *frame
}

// describe names a frame: the nearest enclosing message with a name, and the fields below it.
func (f *frame) describe() string {
	var parts []string
	for ; f.field != nil; f = f.parent {
		part := string(f.field.Name())
		name := f.msg.Descriptor().Fields().ByName("name")
		named := name != nil && name.Kind() == protoreflect.StringKind && f.msg.Has(name)
		if named {
			part = fmt.Sprintf("%s %q%s", part, f.msg.Get(name).String(), f.typeName())
		}
		parts = append([]string{part}, parts...)
		if named {
			break
		}
	}
	return strings.Join(parts, ", ")
}

// typeName returns the type of a layer in brackets, "" if it has none.
func (f *frame) typeName() string {
	fd := f.lookup("type")
	switch {
	case fd == nil || !f.msg.Has(fd):
		return ""
	case fd.Kind() == protoreflect.EnumKind:
		return fmt.Sprintf(" (%s)", fd.Enum().Values().ByNumber(f.msg.Get(fd).Enum()).Name())
	}
	return " (" + f.msg.Get(fd).String() + ")"
}

// lookup returns the descriptor of a field of the message, nil if there is none of this name.
func (f *frame) lookup(name string) protoreflect.FieldDescriptor {
	return f.msg.Descriptor().Fields().ByName(protoreflect.Name(name))
}

// pathOf returns the path of a field of the message.
func (f *frame) pathOf(fd protoreflect.FieldDescriptor) string {
	if f.path == "" {
		return string(fd.Name())
	}
	return f.path + "." + string(fd.Name())
}

// finding is an error whose frame is described at the end of the file, because the frame's name may follow the error.
type finding struct {
	pos Pos
	in  *frame
	msg string
	// more counts further occurrences of the same fault; last is the line of the last one.
	more, last int
}

// again describes the further occurrences.
func (f *finding) again() string {
	if f.more == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d more, the last at line %d)", f.more, f.last)
}

// parser parses a file in one pass, one token ahead. After an error it continues where the next field seems to start.
type parser struct {
	lex    lexer
	tok    token
	source *Source
	found  []finding
}

func (p *parser) read() { p.tok = p.lex.next() }

func (p *parser) fail(at Pos, in *frame, format string, args ...any) {
	p.found = append(p.found, finding{pos: at, in: in, msg: fmt.Sprintf(format, args...)})
}

// failOnce is fail for frequent faults. It reports the first occurrence, and counts the others.
func (p *parser) failOnce(at Pos, in *frame, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	for i := range p.found {
		if f := &p.found[i]; f.msg == msg {
			f.more++
			f.last = at.Line
			return
		}
	}
	p.fail(at, in, "%s", msg)
}

// message parses the fields of a frame and its closing brace.
func (p *parser) message(f *frame) {
	defer p.checkRequired(f)
	for {
		switch {
		case p.tok.kind == tokEOF:
			if f.close != "" {
				p.unclosed(f, "the end of the file")
			}
			return
		case f.close != "" && p.tok.is(f.close):
			if p.tok.first && p.tok.indent != f.open.indent && f.parent.stray == nil {
				f.parent.stray = f
			}
			p.read()
			return
		case p.tok.is("}") || p.tok.is(">"):
			if f.close != "" {
				p.fail(p.tok.pos, f, "found %s, expected %q for the brace opened at line %d", p.tok, f.close, f.open.pos.Line)
				p.read()
				return
			}
			p.fail(p.tok.pos, f, "unexpected %s: no brace is open for it", p.tok)
			p.read()
		case p.tok.kind != tokWord:
			p.notField(f)
		default:
			if !p.field(f) {
				return
			}
			p.separator(f)
		}
	}
}

// field parses one field. If the field seems to belong outside the frame, it leaves it unread and returns false.
func (p *parser) field(f *frame) bool {
	name := p.tok
	fd := f.lookup(name.text)
	if fd == nil {
		return p.unknownField(f)
	}
	p.read()
	if fd.Message() == nil {
		p.scalarField(f, fd, name)
		return true
	}
	if p.tok.is(":") {
		p.read()
	}
	if fd.IsList() && p.tok.is("[") {
		p.list(f, name, func() { p.oneMessage(f, fd, name) })
	} else {
		p.oneMessage(f, fd, name)
	}
	return true
}

// oneMessage parses a message in braces. If only the opening brace is missing, it reports that and reads on as if the brace were there.
func (p *parser) oneMessage(f *frame, fd protoreflect.FieldDescriptor, name token) {
	braced := p.tok.is("{") || p.tok.is("<")
	if !braced {
		p.fail(name.pos, f, "%q needs a message in braces; found %s", name.text, p.tok)
		if p.tok.kind != tokWord || fd.Message().Fields().ByName(protoreflect.Name(p.tok.text)) == nil {
			p.skipValue(name)
			return
		}
	}
	child := &frame{parent: f, field: fd, open: p.tok, close: "}", path: f.pathOf(fd)}
	if p.tok.is("<") {
		child.close = ">"
	}
	switch {
	case p.taken(f, fd, name.pos):
		child.msg = f.msg.NewField(fd).Message()
	case fd.IsList():
		list := f.msg.Mutable(fd).List()
		child.path += fmt.Sprintf("[%d]", list.Len())
		child.msg = list.AppendMutable().Message()
	default:
		child.msg = f.msg.Mutable(fd).Message()
	}
	if _, seen := p.source.at[child.path]; !seen {
		p.source.at[child.path] = name.pos
	}
	if braced {
		p.read()
	}
	p.message(child)
}

// taken reports a singular field that occurs a second time, as an error and as its result.
func (p *parser) taken(f *frame, fd protoreflect.FieldDescriptor, at Pos) bool {
	if fd.IsList() || !f.msg.Has(fd) {
		return false
	}
	p.fail(at, f, "field %q is given twice, first at line %d; it is not a repeated field", fd.Name(), p.source.at[f.pathOf(fd)].Line)
	return true
}

// checkRequired reports missing required fields, except for those that seem to be misspelt.
func (p *parser) checkRequired(f *frame) {
	fields := f.msg.Descriptor().Fields()
	for i := range fields.Len() {
		if fd := fields.Get(i); fd.Cardinality() == protoreflect.Required && !f.msg.Has(fd) && !slices.Contains(f.meant, string(fd.Name())) {
			p.fail(f.open.pos, f, "missing required field %q of %s", fd.Name(), f.msg.Descriptor().Name())
		}
	}
}
