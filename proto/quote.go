package proto

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// simpleEscapes are pairs: the letter after the backslash, and the byte it represents.
const simpleEscapes = "a\ab\bf\fn\nr\rt\tv\v\\\\''\"\"??"

// unquote returns the value of a quoted token. The escapes are those of C.
func (t token) unquote() (string, error) {
	if t.open {
		return "", errors.New("the string that starts here is not closed on its line")
	}
	if t.curly {
		return "", fmt.Errorf("%s stands in typographic quotes; they must be straight ones", t.text)
	}
	body := t.text[1 : len(t.text)-1]
	if strings.IndexByte(body, 0) >= 0 {
		return "", errors.New("a byte 0 in a string; write \\0")
	}
	if !strings.Contains(body, `\`) {
		return body, nil
	}
	var out strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			out.WriteByte(body[i])
			continue
		}
		n, err := unescape(&out, body[i+1:])
		if err != nil {
			return "", fmt.Errorf(`%w in the string %s; write \\ for a backslash, and / between folders`, err, t.text)
		}
		i += n
	}
	return out.String(), nil
}

// unescape writes the byte or character of the escape after a backslash, and returns the length of the escape.
func unescape(out *strings.Builder, s string) (int, error) {
	for i := 0; i < len(simpleEscapes); i += 2 {
		if s[0] == simpleEscapes[i] {
			out.WriteByte(simpleEscapes[i+1])
			return 1, nil
		}
	}
	start, most, base := 0, 3, 8
	switch s[0] {
	case 'x':
		start, most, base = 1, 2, 16
	case 'u':
		start, most, base = 1, 4, 16
	case 'U':
		start, most, base = 1, 8, 16
	}
	end := start
	for end < len(s) && end < start+most && isDigit(s[end], base) {
		end++
	}
	code, err := strconv.ParseUint(s[start:end], base, 32)
	if err == nil && most <= 3 && code <= math.MaxUint8 {
		out.WriteByte(byte(code))
		return end, nil
	}
	if err == nil && most > 3 && end == start+most && utf8.ValidRune(rune(code)) {
		out.WriteRune(rune(code))
		return end, nil
	}
	return 0, fmt.Errorf(`unknown escape \%s`, s[:max(end, 1)])
}

// isDigit reports whether c is a digit in a base of at most 16.
func isDigit(c byte, base int) bool {
	at := strings.IndexByte("0123456789abcdefABCDEF", c)
	return at >= 0 && (at < base || base == 16)
}

// Quote returns a string in quotes, with escapes that make any bytes read back exactly.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
