// Package characters prepares a text for a character-level recurrent net. Each character gets a code. Split cuts the text into
// parts and lays them side by side, so that each time step of the net reads one character of every part.
package characters

import "fmt"

// Codes is the number of characters with a code: the line feed and the printable ASCII characters.
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

// Streams holds the parts of a text in time order: Steps rows of N values, one column a part.
type Streams struct {
	Steps, N int
	Input    []float32 // codes of the characters read
	Target   []float32 // codes of the characters to predict: each the successor of its input
	Cont     []float32 // the cont input of recurrent layers: 0 at the first character of a part, else 1
}

// Split cuts a text into n parts of equal length and lays them side by side. The last character of a part is predicted from the
// first character of the next part, so n parts of s steps need n*s+1 characters. Surplus characters at the end of the text are
// dropped.
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
