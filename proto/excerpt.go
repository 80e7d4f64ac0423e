package proto

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Excerpt is the place in a text file that an error message is about, as compilers show it.
type Excerpt struct {
	File    string
	Pos     Pos    // the first byte of the fault
	Width   int    // the number of its bytes; at least 1
	Line    string // the whole line
	Message string // the message without its position
}

// mostExcerpted limits the size of files that excerpts are taken from.
const mostExcerpted = 16 << 20

var positioned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^\s:]+: )?(.+?):(\d+)(?::(\d+))?: (?s:(.+))$`) })

// ExcerptOf finds the place of an error message that begins with file:line: or file:line:col:, as the errors of this module do. The name
// of a flag, which the excerpt leaves out, or of another file may precede that.
// Without a column, the place is the first part of that line, or of the message that begins in it, which the error names: a
// field, or a quoted value. ok is false for other messages, and if the file cannot be read as text.
func ExcerptOf(message string) (x Excerpt, ok bool) {
	m := positioned().FindStringSubmatch(message)
	if m == nil {
		return x, false
	}
	x.File, x.Message = m[2], m[5]
	if !strings.HasPrefix(m[1], "-") {
		x.Message = m[1] + m[5]
	}
	x.Pos.Line, _ = strconv.Atoi(m[3])
	x.Pos.Col, _ = strconv.Atoi(m[4])
	data, err := ReadFile(x.File)
	if err != nil || len(data) > mostExcerpted || LooksBinary(data) {
		return x, false
	}
	text := string(data)
	if x.Pos.Line < 1 || x.Pos.Line > strings.Count(text, "\n")+1 {
		return x, false
	}
	if m[4] == "" {
		x.find(text, m[5])
	}
	x.take(text)
	return x, true
}

// take sets the line and the width of the token at the excerpt's place.
func (x *Excerpt) take(text string) {
	lines := strings.SplitAfterN(text, "\n", x.Pos.Line+1)
	x.Line = strings.TrimRight(lines[x.Pos.Line-1], "\r\n")
	x.Pos.Col = max(1, min(x.Pos.Col, len(x.Line)+1))
	l := lexer{text: x.Line, at: x.Pos.Col - 1, pos: Pos{1, x.Pos.Col}}
	x.Width = 1
	if t := l.next(); t.pos.Col == x.Pos.Col {
		x.Width = max(1, len(t.text))
	}
}

// find sets the position of a message that has only a line.
func (x *Excerpt) find(text, message string) {
	tokens := tokensFrom(text, x.Pos.Line)
	x.Pos.Col = 1
	if len(tokens) == 0 || tokens[0].pos.Line != x.Pos.Line {
		return
	}
	tokens, said := inLayer(tokens, message, x.Pos.Line)
	if at, ok := named(tokens, said); ok {
		x.Pos = at
		return
	}
	x.Pos = tokens[0].pos
}

// tokensFrom returns the tokens of a text that begin in a line, and those that follow up to the last brace opened in it.
func tokensFrom(text string, line int) (all []token) {
	depth := 0
	for l := (lexer{text: text, pos: Pos{1, 1}}); ; {
		t := l.next()
		if t.kind == tokEOF || t.pos.Line > line && depth <= 0 {
			return all
		}
		if t.pos.Line < line {
			continue
		}
		switch {
		case t.is("{") || t.is("<"):
			depth++
		case t.is("}") || t.is(">"):
			depth--
		}
		all = append(all, t)
	}
}

var layerPrefix = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:in )?layer ("(?:[^"\\]|\\.)*")(?: \([^)]*\))?: `)
})

// inLayer cuts the name of the layer from the beginning of a message. Of several layers in the message's line, it keeps the tokens
// of the one with that name.
func inLayer(tokens []token, message string, line int) (own []token, said string) {
	m := layerPrefix().FindStringSubmatch(message)
	if m == nil {
		return tokens, message
	}
	depth, start := 0, 0
	for i, t := range tokens {
		switch {
		case t.is("{") || t.is("<"):
			depth++
		case t.is("}") || t.is(">"):
			if depth--; depth == 0 {
				if block := tokens[start : i+1]; block[0].pos.Line == line && holds(block, "name", m[1]) {
					return block, message[len(m[0]):]
				}
				start = i + 1
			}
		}
	}
	return tokens, message[len(m[0]):]
}

// holds reports whether a field with a value is among tokens.
func holds(tokens []token, field, value string) bool {
	for i := range tokens[:max(0, len(tokens)-2)] {
		if tokens[i].text == field && tokens[i+1].is(":") && sameString(tokens[i+2].text, value) {
			return true
		}
	}
	return false
}

// sameString compares two quoted strings whatever their quotes.
func sameString(a, b string) bool {
	return len(a) > 1 && len(b) > 1 && strings.ContainsAny(a[:1], `"'`) && a[1:len(a)-1] == b[1:len(b)-1]
}

var mentions = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z_0-9]*`) })

// named returns the position of the first part of tokens that a message mentions: the quoted value of a field whose name precedes it
// in the message, or else a quoted value, the name of a file, or a field.
func named(tokens []token, message string) (Pos, bool) {
	// Suggestions and lists are about other names.
	for _, end := range []string{", did you mean", "; ", " (known", ": layer "} {
		message, _, _ = strings.Cut(message, end)
	}
	said := map[string]bool{} // the words so far
	var value, field, both *token
	keep := func(p **token, t *token) {
		if *p == nil {
			*p = t
		}
	}
	for _, w := range mentions().FindAllString(message, -1) {
		said[w] = true
		var name token
		for i := range tokens {
			t := &tokens[i]
			isField := t.kind == tokWord && i+1 < len(tokens) && (tokens[i+1].is(":") || tokens[i+1].is("{") || tokens[i+1].is("<"))
			switch {
			case isField:
				name = *t
				if t.text == w {
					keep(&field, t)
				}
			case t.kind == tokString && sameString(t.text, w) && said[name.text]:
				keep(&both, t)
			case t.kind == tokString && sameString(t.text, w):
				keep(&value, t)
			}
		}
	}
	for _, t := range []*token{both, value, longest(tokens, message), field} {
		if t != nil {
			return t.pos, true
		}
	}
	return Pos{}, false
}

// longest returns the longest string among tokens that looks like a file's name and is part of a message, nil if there is none.
func longest(tokens []token, message string) (found *token) {
	for i, t := range tokens {
		name := strings.Trim(t.text, `"'`)
		if t.kind == tokString && strings.ContainsAny(name, "/._") && strings.Contains(message, name) && (found == nil || len(t.text) > len(found.text)) {
			found = &tokens[i]
		}
	}
	return found
}

// mostColumns is the longest part of a line that is shown.
const mostColumns = 120

// Place returns file:line:col.
func (x Excerpt) Place() string { return fmt.Sprintf("%s:%d:%d", x.File, x.Pos.Line, x.Pos.Col) }

// Source returns the line with its number, and below it a caret at the fault. mark decorates the caret, for terminals with
// colours. Of a long line it shows the part around the fault.
func (x Excerpt) Source(mark func(string) string) string {
	line, from := x.Line, 0
	col := x.Pos.Col - 1
	if len(line) > mostColumns {
		from = max(0, min(col-mostColumns/2, len(line)-mostColumns))
		for from > 0 && !utf8.RuneStart(line[from]) {
			from--
		}
		to := min(len(line), from+mostColumns)
		for to < len(line) && !utf8.RuneStart(line[to]) {
			to++
		}
		line, col = line[from:to], col-from
	}
	line = strings.ToValidUTF8(line, "?")
	col = min(col, len(line))
	blank := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:col])
	width := utf8.RuneCountInString(line[col:min(len(line), col+x.Width)])
	caret := mark("^" + strings.Repeat("~", max(0, width-1)))
	number := fmt.Sprintf("%5d", x.Pos.Line)
	return fmt.Sprintf("%s | %s\n%*s | %s%s", number, line, len(number), "", blank, caret)
}
