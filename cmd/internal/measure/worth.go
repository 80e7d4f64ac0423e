package measure

import (
	"fmt"
	"io"

	"github.com/swcaffe/swcaffe/modeltime"
)

// printWorth prints what each mechanism that was left out is worth, one at a time.
func printWorth(w io.Writer, list []modeltime.Worth) {
	if len(list) == 0 {
		return
	}
	space := 0
	for _, m := range list {
		space = widest(space, m.IterationRange)
	}
	fmt.Fprintf(w, "\n%-14s %14s%-*s %12s %9s\n", "without", "iteration ms", space, rangeHeading(space), "change ms", "change")
	for _, m := range list {
		fmt.Fprintf(w, "%-14s %14.3f%-*v %+12.3f %+8.2f%%  %s", m.Mechanism, m.IterationMs, space, m.IterationRange, m.ChangeMs, 100*m.Change, m.Doc)
		switch {
		case m.ChangeMs == 0:
			fmt.Fprint(w, "; nothing in this net depends on it")
		case m.Unexpected != "":
			fmt.Fprintf(w, "; unexpectedly, since %s", m.Unexpected)
		}
		fmt.Fprintln(w)
	}
}
