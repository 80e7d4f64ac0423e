package trust

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Table returns the file of several machines' or clusters' spreads, below a comment.
func Table(comment string, spreads map[string]Spread) []byte {
	var b strings.Builder
	for line := range strings.SplitSeq(comment, "\n") {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	b.WriteString("name,kind,points,low,high\n")
	for _, name := range slices.SortedFunc(maps.Keys(spreads), cmp.Compare[string]) {
		for _, kind := range slices.Sorted(maps.Keys(spreads[name])) {
			f := spreads[name][kind]
			fmt.Fprintf(&b, "%s,%s,%d,%.3f,%.3f\n", name, kind, f.Points, f.Low, f.High)
		}
	}
	return []byte(b.String())
}
