package model

import (
	"slices"
	"strings"
)

// commentLine is a comment of a prototxt.
type commentLine struct {
	line int // counts from 1
	text string
}

// commentLines finds the comments of a prototxt. A # inside a string starts none.
func commentLines(text []byte) []commentLine {
	var list []commentLine
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		var quote rune
		escaped := false
		for i, c := range line {
			switch {
			case escaped:
				escaped = false
			case quote != 0 && c == '\\':
				escaped = true
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '#':
				list = append(list, commentLine{n, strings.TrimSpace(line[i:])})
			}
			if c == '#' && quote == 0 {
				break // end of the line
			}
		}
	}
	return list
}

// missingComments returns the comments of text that do not occur in other.
func missingComments(text, other []byte) []commentLine {
	have := commentLines(other)
	var missing []commentLine
	for _, c := range commentLines(text) {
		i := slices.IndexFunc(have, func(h commentLine) bool { return h.text == c.text })
		if i < 0 {
			missing = append(missing, c)
			continue
		}
		have = slices.Delete(have, i, i+1)
	}
	return missing
}
