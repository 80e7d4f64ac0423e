package proto

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing wrong in a text file.
type Error struct {
	File string
	Pos  Pos
	// In says which message the place belongs to: `layer "conv1", convolution_param`. It is empty at the top level.
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

// Errors are all the independent things wrong in one file, in its order.
type Errors []*Error

// maxErrors is how many errors are worth printing at once.
const maxErrors = 10

// Error lists the first errors, one a line.
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

// Source says where the fields of a text file stand.
type Source struct {
	File string
	at   map[string]Pos
}

// Pos returns file:line of a field, as in Pos("layer[3]"), Pos("layer[3].convolution_param.pad") or Pos("base_lr"); a
// repeated field of scalars has the place of its first value. It returns "" for a field that the file does not have. A
// nil Source knows nothing.
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

// Nearest returns file:line of a field or, where the file does not have it, of the innermost message around it that the file has;
// the file's name where there is none.
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
