package netdraw

import (
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// DOT returns the graph in Graphviz's language, each box with its text and colour.
func (g *Graph) DOT() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph net {\n  rankdir=%s\n  nodesep=0.18\n  ranksep=0.35\n", g.opt.RankDir)
	fmt.Fprintf(&b, "  node [shape=box fontname=\"Helvetica\" fontsize=%d]\n  edge [fontname=\"Helvetica\" fontsize=%d]\n", nameSize, blobSize)
	for i, n := range g.boxes {
		var words []string
		for _, row := range g.lines(n) {
			for _, l := range row {
				words = append(words, escape(l.text))
			}
		}
		c := fills[kindOf(n.layers[0].GetType())]
		fmt.Fprintf(&b, "  n%d [label=\"%s\" style=\"filled,%s\" fillcolor=\"#%02x%02x%02x\"]\n", i, strings.Join(words, `\n`), g.stroke(n.phases), c.R, c.G, c.B)
	}
	for _, a := range g.arrows {
		name := ""
		if a.named {
			name = escape(a.blob)
		}
		fmt.Fprintf(&b, "  n%d -> n%d [label=\"%s\" style=%s]\n", a.from, a.to, name, g.stroke(a.phases))
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// stroke returns Graphviz's line style for boxes and arrows of these phases.
func (g *Graph) stroke(phases map[caffepb.Phase]bool) string {
	if g.only(phases) != "" {
		return "dashed"
	}
	return "solid"
}

// escape makes text safe in a quoted string of DOT.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(s)
}
