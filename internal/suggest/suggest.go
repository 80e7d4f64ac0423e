// Package suggest finds what a user asks for by name, and where there is no such name the one that was probably meant.
package suggest

import (
	"fmt"
	"strings"
)

// Unknown is the error for a name that is none of some known ones: `unknown KIND "NAME", did you mean "X"? (KINDS: A, B)`.
func Unknown(kind, name, kinds string, known []string) error {
	return fmt.Errorf("unknown %s %q%s (%s: %s)", kind, name, DidYouMean(name, known), kinds, strings.Join(known, ", "))
}

// DidYouMean returns `, did you mean "X"?` for the known name nearest to name, or "" where none is near.
func DidYouMean(name string, known []string) string {
	if best := Nearest(name, known); best != "" {
		return `, did you mean "` + best + `"?`
	}
	return ""
}

// Nearest returns the known name with the smallest edit distance, letter case ignored, if that is at most a third of
// the name's length (at least 2) and leaves a letter of the name; "" otherwise.
func Nearest(name string, known []string) string {
	limit := min(max(2, len(name)/3), len(name)-1)
	best, bestDistance := "", limit+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			substitute := diagonal
			if a[i-1] != b[j-1] {
				substitute++
			}
			diagonal = row[j]
			row[j] = min(substitute, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
