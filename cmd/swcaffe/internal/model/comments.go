package model

import (
	"slices"
	"strings"
)

// commentLine is a comment of a prototxt.
type commentLine struct {
	line int // counted from 1
	text string
}

// commentLines finds the comments of a prototxt; a # in a string is none.
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
				break // of the line
			}
		}
	}
	return list
}

// missingComments are the comments of a text that another does not have.
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
