// Package screentest emulates the screen of a terminal for tests of what programs draw on it. A Screen takes the bytes that a program
// writes and knows what its user sees, and all lines that have scrolled away.
package screentest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Screen is a terminal's screen. It may be read while another goroutine writes.
type Screen struct {
	mu       sync.Mutex
	columns  int
	rows     [][]rune
	x, y     int
	scrolled []string
	rest     []byte // the beginning of a sequence or a character
	unknown  string // the first sequence that is not emulated
	styled   bool
}

// New returns an empty screen.
func New(columns, rows int) *Screen { return &Screen{columns: columns, rows: make([][]rune, rows)} }

// Write takes what a program writes. The error names a sequence that is not emulated.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, b...)
	for len(s.rest) > 0 {
		n := s.step(s.rest)
		if n == 0 {
			break
		}
		s.rest = s.rest[n:]
	}
	if s.unknown != "" {
		return 0, fmt.Errorf("screentest: unknown sequence %q", s.unknown)
	}
	return len(b), nil
}

// step does the first character or sequence of b and returns its length, 0 if it is incomplete.
func (s *Screen) step(b []byte) int {
	switch b[0] {
	case '\r':
		s.x = 0
		return 1
	case '\n': // a terminal driver has put \r before it
		s.down()
		return 1
	case '\033':
		end := bytes.IndexFunc(b, func(r rune) bool { return r >= '@' && r <= '~' && r != '[' })
		if end < 0 {
			return 0
		}
		s.sequence(string(b[:end+1]))
		return end + 1
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, size := utf8.DecodeRune(b)
	s.put(r)
	return size
}

// Narrow makes the screen narrower: it breaks its longer lines into several rows.
func (s *Screen) Narrow(columns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows [][]rune
	y := s.y
	for i, row := range s.rows {
		if i == s.y {
			y = len(rows)
		}
		for ; len(row) > columns; row = row[columns:] {
			rows = append(rows, row[:columns:columns])
		}
		rows = append(rows, row)
	}
	for ; y >= len(s.rows); y-- {
		s.scrolled = append(s.scrolled, text(rows[0]))
		rows = rows[1:]
	}
	s.columns, s.rows, s.y = columns, rows[:len(s.rows)], y
}

// put writes a character at the cursor; behind the last column it goes on in the next row.
func (s *Screen) put(r rune) {
	if s.x == s.columns {
		s.x = 0
		s.down()
	}
	for len(s.rows[s.y]) <= s.x {
		s.rows[s.y] = append(s.rows[s.y], ' ')
	}
	s.rows[s.y][s.x] = r
	s.x++
}

// down moves the cursor down. In the last row the screen scrolls.
func (s *Screen) down() {
	if s.y++; s.y < len(s.rows) {
		return
	}
	s.y--
	s.scrolled = append(s.scrolled, text(s.rows[0]))
	s.rows = append(s.rows[1:], nil)
}

func (s *Screen) sequence(q string) {
	number, err := strconv.Atoi(strings.TrimPrefix(q[:len(q)-1], "\033["))
	if err != nil {
		number = 0
	}
	switch q[len(q)-1] {
	case 'm':
		s.styled = s.styled || number != 0
	case 'A':
		s.y = max(0, s.y-max(1, number))
	case 'K':
		s.rows[s.y] = s.rows[s.y][:min(s.x, len(s.rows[s.y]))]
	case 'J':
		s.rows[s.y] = s.rows[s.y][:min(s.x, len(s.rows[s.y]))]
		for y := s.y + 1; y < len(s.rows); y++ {
			s.rows[y] = nil
		}
	default:
		s.unknown = q
	}
}

func text(row []rune) string { return strings.TrimRight(string(row), " ") }

// Lines returns what is on the screen, without the empty lines at its end.
func (s *Screen) Lines() (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.rows {
		lines = append(lines, text(row))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// All returns the lines that have scrolled away, and those on the screen.
func (s *Screen) All() []string {
	lines := s.Lines()
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(append([]string{}, s.scrolled...), lines...)
}

// Styled reports whether anything was in colour, bold or dim.
func (s *Screen) Styled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.styled
}
