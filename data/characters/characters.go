// Package characters turns a text into numbers for a character-level recurrent net: a code for each character, and several
// parts of the text side by side, so that each step of the net reads one character of every part.
package characters

import "fmt"

// Codes is the number of characters that have a code: the line feed and the printable ones of ASCII.
const Codes = 96

// Code returns the code of a character: 0 for a line feed, 1 for a space, up to 95 for '~'.
func Code(c byte) (int, bool) {
	switch {
	case c == '\n':
		return 0, true
	case c >= ' ' && c <= '~':
		return int(c-' ') + 1, true
	}
	return 0, false
}

// Character is the inverse of Code.
func Character(code int) byte {
	if code == 0 {
		return '\n'
	}
	return byte(code-1) + ' '
}

// Streams holds parts of a text, step by step: Steps rows of N values.
type Streams struct {
	Steps, N int
	Input    []float32 // codes
	Target   []float32 // the codes that follow
	Cont     []float32 // 0 where a part begins, else 1, as recurrent layers want it
}

// Split cuts a text into n parts of equal length and lays them side by side. The last character of a part has the first of
// the next for a target, so that n parts of s steps take n*s+1 characters; what is left behind them is left out.
func Split(text []byte, n int) (*Streams, error) {
	if n < 1 || len(text) <= n {
		return nil, fmt.Errorf("%d characters cannot be cut into %d parts of one character and its successor", len(text), n)
	}
	steps := (len(text) - 1) / n
	s := &Streams{Steps: steps, N: n, Input: make([]float32, steps*n), Target: make([]float32, steps*n), Cont: make([]float32, steps*n)}
	line := 1
	codes := make([]float32, steps*n+1)
	for i := range codes {
		code, ok := Code(text[i])
		if !ok {
			return nil, fmt.Errorf("line %d: character %d (%#02x) is neither a line feed nor printable ASCII", line, i, text[i])
		}
		if codes[i] = float32(code); code == 0 {
			line++
		}
	}
	for part := range n {
		for t := range steps {
			at := t*n + part
			s.Input[at], s.Target[at] = codes[part*steps+t], codes[part*steps+t+1]
			if t > 0 {
				s.Cont[at] = 1
			}
		}
	}
	return s, nil
}
