package proto

import (
	"cmp"
	"fmt"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// How the parser continues after an error, and guesses the user's intention.

// unknownField reports an unknown field and drops its value. If a closing brace seems to be missing before it, it leaves the
// field unread and returns false: the field starts a line, and is a message field of one of the enclosing frames.
func (p *parser) unknownField(f *frame) bool {
	name := p.tok
	message := string(f.msg.Descriptor().Name())
	known := fieldNames(f.msg.Descriptor())
	hint := cmp.Or(FromFork(message+"."+name.text), FromFork(name.text), suggest.DidYouMean(name.text, known))
	for out := f.parent; out != nil; out = out.parent {
		fd := out.lookup(name.text)
		if fd == nil {
			continue
		}
		if fd.Message() != nil && name.first {
			p.unclosed(f, fmt.Sprintf("%q at line %d", name.text, name.pos.Line))
			return false
		}
		hint = "; it is a field of " + string(out.msg.Descriptor().Name()) + ": is a closing brace missing?"
		break
	}
	f.meant = append(f.meant, suggest.Nearest(name.text, known))
	p.failOnce(name.pos, f, "unknown field %q of %s%s", name.text, message, hint)
	p.read()
	if p.tok.is(":") {
		p.read()
	}
	p.skipValue(name)
	return true
}

// unclosed reports the missing closing brace of a frame.
func (p *parser) unclosed(f *frame, before string) {
	hint := ""
	if s := f.stray; s != nil {
		hint = fmt.Sprintf("; to judge by the indentation, the %q of %s, line %d, is missing", s.close, s.field.Name(), s.open.pos.Line)
	}
	p.fail(f.open.pos, f, "the brace opened here is not closed: expected %q before %s%s", f.close, before, hint)
}

func fieldNames(md protoreflect.MessageDescriptor) []string {
	var names []string
	for i := range md.Fields().Len() {
		names = append(names, string(md.Fields().Get(i).Name()))
	}
	return names
}

// notField reports a token that cannot start a field, and drops its line.
func (p *parser) notField(f *frame) {
	hint := ""
	switch p.tok.text {
	case "/":
		hint = "; comments start with #"
	case "\ufeff":
		hint = "; save the file as UTF-8 without one"
	}
	p.fail(p.tok.pos, f, "unexpected %s where a field name should stand%s", p.tok, hint)
	line := p.tok.pos.Line
	for p.tok.kind != tokEOF && p.tok.pos.Line == line && !p.tok.is("}") && !p.tok.is("{") {
		p.read()
	}
	if p.tok.is("{") {
		p.skipValue(p.tok)
	}
}

// separator drops the semicolon or comma behind a field. A number behind a comma is no field's name: it belongs to the value before the comma.
func (p *parser) separator(f *frame) {
	comma := p.tok.is(",")
	if !comma && !p.tok.is(";") {
		return
	}
	p.read()
	isNumber := func() bool { return p.tok.kind == tokWord && isDigit(p.tok.text[0], 10) }
	if comma && isNumber() {
		p.fail(p.tok.pos, f, "%s follows a comma; a number is written as 0.5 or 1000, and a list as [1, 2]", p.tok)
	}
	for comma && isNumber() {
		p.read()
		if p.tok.is(",") {
			p.read()
		}
	}
}

// startsField reports whether the token is a field's name, judging by the next token.
func (p *parser) startsField() bool {
	if p.tok.kind != tokWord || isDigit(p.tok.text[0], 10) {
		return false
	}
	ahead := p.lex
	next := ahead.next()
	return next.is(":") || next.is("{") || next.is("<")
}

// startsValue reports whether the token may belong to the value of the field called name.
func (p *parser) startsValue(name token) bool {
	switch {
	case p.tok.is("{") || p.tok.is("<") || p.tok.is("["):
		return true
	case p.tok.kind == tokString || p.tok.is("-"):
		return p.tok.pos.Line == name.pos.Line
	}
	return p.tok.kind == tokWord && p.tok.pos.Line == name.pos.Line && !p.startsField()
}

// skipValue drops the value of a field: a scalar, a list, or a message in braces.
func (p *parser) skipValue(name token) {
	if !p.startsValue(name) {
		return
	}
	depth := 0
	for p.tok.kind != tokEOF {
		switch {
		case p.tok.is("{") || p.tok.is("<") || p.tok.is("["):
			depth++
		case p.tok.is("}") || p.tok.is(">") || p.tok.is("]"):
			depth--
		}
		last := p.tok
		p.read()
		if depth <= 0 && !last.is("-") && !(last.kind == tokString && p.tok.kind == tokString) {
			return
		}
	}
}

// skipList drops the rest of a list, up to its bracket or the enclosing brace.
func (p *parser) skipList() {
	for p.tok.kind != tokEOF && !p.tok.is("}") && !p.tok.is("]") && !p.startsField() {
		p.read()
	}
	if p.tok.is("]") {
		p.read()
	}
}
