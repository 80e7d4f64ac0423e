package proto

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one fault in a text file.
type Error struct {
	File string
	Pos  Pos
	// In is the message that contains the fault: `layer "conv1", convolution_param`. It is empty at the top level.
	In  string
	Msg string
}

func (e *Error) Error() string {
	in := ""
	if e.In != "" {
		in = " in " + e.In + ":"
	}
	return fmt.Sprintf("%s:%d:%d:%s %s", e.File, e.Pos.Line, e.Pos.Col, in, e.Msg)
}

// Errors are all independent faults in one file, in the file's order.
type Errors []*Error

// maxErrors is the largest number of errors to print.
const maxErrors = 10

// Error lists the first errors, one per line.
func (es Errors) Error() string {
	var lines []string
	for _, e := range es[:min(len(es), maxErrors)] {
		lines = append(lines, e.Error())
	}
	if more := len(es) - maxErrors; more > 0 {
		lines = append(lines, fmt.Sprintf("... and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func (es Errors) sort() {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
}

// Source holds the positions of the fields in a text file.
type Source struct {
	File string
	at   map[string]Pos
}

// Pos returns file:line of a field, as in Pos("layer[3]"), Pos("layer[3].convolution_param.pad") or Pos("base_lr"). For a
// repeated scalar field this is its first value. Pos returns "" for a field that is not in the file, and for a nil Source.
func (s *Source) Pos(path string) string {
	if s == nil {
		return ""
	}
	p, ok := s.at[path]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s:%d", s.File, p.Line)
}

// Nearest returns file:line of a field. If the file lacks the field, it is the innermost enclosing message in the file, or else
// the file's name.
func (s *Source) Nearest(path string) string {
	for {
		if pos := s.Pos(path); pos != "" {
			return pos
		}
		dot := strings.LastIndexByte(path, '.')
		if dot < 0 {
			return s.File
		}
		path = path[:dot]
	}
}
