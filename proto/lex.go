package proto

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pos is a position in a text file. Line and column count from 1.
type Pos struct{ Line, Col int }

type tokenKind int

const (
	tokEOF    tokenKind = iota
	tokWord             // identifier or number
	tokString           // quoted; text holds the raw token with its quotes
	tokSymbol           // one of {}<>[]:;,-  or any other character
)

type token struct {
	kind  tokenKind
	text  string
	pos   Pos
	first bool // the first token on its line
	// indent is the column of the first token on this token's line.
	indent int
	open   bool // a string without a closing quote on its line
	curly  bool // a string in typographic quotes, into which word processors and web pages change straight ones
}

func (t token) is(symbol string) bool { return t.kind == tokSymbol && t.text == symbol }

// String describes a token in error messages.
func (t token) String() string {
	switch t.kind {
	case tokEOF:
		return "the end of the file"
	case tokString:
		return t.text
	}
	switch r, _ := utf8.DecodeRuneInString(t.text); {
	case r == '\ufeff':
		return "U+FEFF (a byte order mark)"
	case unicode.IsSpace(r):
		return fmt.Sprintf("%U (a blank that is not a plain one)", r)
	case r >= '！' && r <= '～': // the wide forms of ASCII's characters, as input methods for Chinese have them
		return fmt.Sprintf("%q (the wide form; write %q)", string(r), string(r-'！'+'!'))
	case r == '−' || r == '–' || r == '—':
		return fmt.Sprintf("%q (a dash; write \"-\")", string(r))
	}
	return strconv.Quote(t.text)
}

// lexer splits text into tokens. White space and #-comments separate them.
type lexer struct {
	text string
	at   int
	pos  Pos
	// line and indent of the previous token.
	line, indent int
}

func (l *lexer) advance(n int) {
	for _, c := range []byte(l.text[l.at : l.at+n]) {
		if c == '\n' {
			l.pos = Pos{l.pos.Line + 1, 1}
		} else {
			l.pos.Col++
		}
	}
	l.at += n
}

func isWord(c byte) bool {
	return c == '_' || c == '.' || c == '+' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (l *lexer) skipBlank() {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '#':
			end := strings.IndexByte(l.text[l.at:], '\n')
			if end < 0 {
				end = len(l.text) - l.at
			}
			l.advance(end)
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f':
			l.advance(1)
		default:
			return
		}
	}
}

// next returns the next token. At the end it returns tokEOF, repeatedly.
func (l *lexer) next() token {
	l.skipBlank()
	t := token{pos: l.pos, first: l.pos.Line != l.line}
	if t.first {
		l.line, l.indent = l.pos.Line, l.pos.Col
	}
	t.indent = l.indent
	if l.at == len(l.text) {
		return t
	}
	rest := l.text[l.at:]
	n := 1
	switch c := rest[0]; {
	case isWord(c):
		t.kind = tokWord
		for n < len(rest) && (isWord(rest[n]) || rest[n] == '-' && isExponent(rest[:n])) {
			n++
		}
	case c == '"' || c == '\'':
		t.kind = tokString
		n, t.open = stringLength(rest)
	case curlyLength(rest) > 0:
		t.kind, t.curly, n = tokString, true, curlyLength(rest)
	default:
		t.kind = tokSymbol
		_, n = utf8.DecodeRuneInString(rest)
	}
	t.text = rest[:n]
	l.advance(n)
	return t
}

// isExponent reports whether a minus may continue a number with this beginning: "1e", "2.5E".
func isExponent(s string) bool {
	last := s[len(s)-1]
	return (last == 'e' || last == 'E') && (s[0] >= '0' && s[0] <= '9' || s[0] == '.')
}

// curlyLength returns the length of a string in typographic quotes at the start of s, up to its next quote or the end of the
// line; 0 if there is none.
func curlyLength(s string) int {
	const curly = "\u201c\u201d\u201e\u2018\u2019\u201a"
	if r, size := utf8.DecodeRuneInString(s); strings.ContainsRune(curly, r) {
		line, _, _ := strings.Cut(s[size:], "\n")
		if end := strings.IndexAny(line, curly+`"'`); end >= 0 {
			_, last := utf8.DecodeRuneInString(line[end:])
			return size + end + last
		}
		return size + len(line)
	}
	return 0
}

// stringLength returns the length of the quoted token at the start of s, and whether its closing quote is missing.
func stringLength(s string) (n int, open bool) {
	for n = 1; n < len(s); n++ {
		switch s[n] {
		case s[0]:
			return n + 1, false
		case '\n':
			return n, true
		case '\\':
			if n+1 < len(s) && s[n+1] != '\n' {
				n++
			}
		}
	}
	return len(s), true
}
