package trust

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Differ names what differs between the kept factors of machines or clusters and others, by more than the file's digits; "" if nothing does.
func Differ(spreads map[string]Spread) string {
	const digits = 0.002
	for _, name := range slices.Sorted(maps.Keys(spreads)) {
		kept := Of(name)
		if len(kept) != len(spreads[name]) {
			return fmt.Sprintf("%s has %d kinds, kept are %d", name, len(spreads[name]), len(kept))
		}
		for kind, f := range spreads[name] {
			if k := kept[kind]; k.Points != f.Points || math.Abs(k.Low-f.Low) > digits || math.Abs(k.High-f.High) > digits {
				return fmt.Sprintf("%s, %s: %+v, kept are %+v", name, kind, f, k)
			}
		}
	}
	return ""
}

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
