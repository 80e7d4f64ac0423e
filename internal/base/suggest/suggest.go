// Package suggest looks up names that users choose from, and suggests the likely one for an unknown name. A Table is a list of
// such names with their values.
package suggest

import (
	"fmt"
	"strings"
)

// UnknownError is the error for a name that a list of names lacks.
type UnknownError struct {
	Kind, Kinds string // the noun for a name, singular and plural
	Name        string
	Known       []string
	OrFile      bool // the name could have been a file's too
}

// screen is the number of names up to which an error lists all of them beside a suggestion.
const screen = 40

// Error returns `unknown KIND "NAME", did you mean "X"? (KINDS: A, B)`, with `, and no such file` before the bracket for OrFile. Long lists are
// left out if there is a suggestion.
func (e *UnknownError) Error() string {
	file := ""
	if e.OrFile {
		file = ", and no such file"
	}
	meant := DidYouMean(e.Name, e.Known)
	if meant != "" && len(e.Known) > screen {
		return fmt.Sprintf("unknown %s %q%s%s", e.Kind, e.Name, meant, file)
	}
	return fmt.Sprintf("unknown %s %q%s%s (%s: %s)", e.Kind, e.Name, meant, file, e.Kinds, strings.Join(e.Known, ", "))
}

// Unknown returns an UnknownError.
func Unknown(kind, name, kinds string, known []string) error {
	return &UnknownError{Kind: kind, Kinds: kinds, Name: name, Known: known}
}

// DidYouMean returns `, did you mean "X"?` with the known name nearest to name, or "" if none is near.
func DidYouMean(name string, known []string) string {
	if best := Nearest(name, known); best != "" {
		return `, did you mean "` + best + `"?`
	}
	return ""
}

// Nearest returns the only known name that name abbreviates, or else the one with the smallest edit distance, ignoring case. The
// distance must be at most a third of the name's length, at least 2 from four letters on and else 1. Nearest returns "" if there is none.
func Nearest(name string, known []string) string {
	if whole := shortFor(name, known); len(whole) == 1 {
		return whole[0]
	}
	limit := max(2, len(name)/3)
	if len(name) < 4 {
		limit = min(1, len(name)-1)
	}
	best, bestDistance := "", limit+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// shortFor returns the known names that begin with name word by word: conv_param abbreviates convolution_param, dma_lat
// dma_latency_ns.
func shortFor(name string, known []string) (whole []string) {
	if len(name) < 3 {
		return nil
	}
	short := strings.Split(strings.ToLower(name), "_")
	for _, k := range known {
		words := strings.Split(strings.ToLower(k), "_")
		begins := len(short) <= len(words)
		for i := 0; begins && i < len(short); i++ {
			begins = strings.HasPrefix(words[i], short[i])
		}
		if begins {
			whole = append(whole, k)
		}
	}
	return whole
}

// distance is the least number of bytes to insert, leave out or replace, or of neighbours to exchange (optimal string alignment).
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, above, two := rows[i%3], rows[(i+2)%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := above[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(replaced, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}
