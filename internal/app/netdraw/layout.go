package netdraw

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot/vg"
)

// layout holds the positions of a graph's boxes and arrows, in points from the lower left corner.
type layout struct {
	width, height vg.Length
	centres       []vg.Point // centres of the boxes
	lines         []curve
	labels        []label
}

// curve is a part of an arrow, a Bézier curve. It has a head if it ends at a box.
type curve struct {
	points [4]vg.Point
	head   bool
	dashed bool
}

// label is the name of a blob on its arrow.
type label struct {
	text   string
	centre vg.Point
}

// layOut computes all positions.
func (g *Graph) layOut() *layout {
	vertical := g.opt.RankDir == "TB" || g.opt.RankDir == "BT"
	r := g.rank(vertical)
	r.orderRanks()
	r.place()
	tops, thick, length := r.bands(vertical)
	var breadth vg.Length
	r.each(func(n *node) { breadth = max(breadth, n.at+n.across/2) })
	l := &layout{width: breadth, height: length, centres: make([]vg.Point, len(g.boxes))}
	if !vertical {
		l.width, l.height = length, breadth
	}
	at := func(across, along vg.Length) vg.Point {
		switch g.opt.RankDir {
		case "TB":
			return vg.Point{X: across, Y: length - along}
		case "BT":
			return vg.Point{X: across, Y: along}
		case "RL":
			return vg.Point{X: length - along, Y: breadth - across}
		}
		return vg.Point{X: along, Y: breadth - across}
	}
	for i, rank := range r.ranks {
		middle := tops[i] + thick[i]/2
		for _, n := range rank {
			if n.box >= 0 {
				l.centres[n.box] = at(n.at, middle)
			}
			if n.label != "" {
				l.labels = append(l.labels, label{n.label, at(n.at, middle)})
			}
		}
		for _, n := range rank {
			l.addCurves(g, n, i, tops, thick, at)
		}
	}
	return l
}

// bands returns the start and thickness of each rank, and the total length. The gaps between ranks have room for the segments'
// names.
func (r *ranked) bands(vertical bool) (tops, thick []vg.Length, length vg.Length) {
	for i, rank := range r.ranks {
		if i > 0 {
			length += gapAlong
			for _, n := range rank {
				length += r.labelRoom(n, vertical)
			}
		}
		var t vg.Length
		for _, n := range rank {
			t = max(t, n.along)
		}
		tops, thick = append(tops, length), append(thick, t)
		length += t
	}
	return tops, thick, length
}

// labelRoom is the space for the names on the segments to a node.
func (r *ranked) labelRoom(n *node, vertical bool) (room vg.Length) {
	for _, s := range n.in {
		if s.label == "" {
			continue
		}
		l := line{text: s.label, size: blobSize}
		if vertical {
			room = max(room, l.height())
		} else {
			room = max(room, style(l).Width(s.label))
		}
	}
	return room
}

// addCurves adds the segments that leave a node and, for a bend, the line through it. Segments are curved between ranks and
// straight inside a rank. So they do not run into tall boxes of the rank next to a low one.
func (l *layout) addCurves(g *Graph, n *node, rank int, tops, thick []vg.Length, at func(across, along vg.Length) vg.Point) {
	end := tops[rank] + thick[rank]
	if n.box < 0 {
		dashed := true
		for _, s := range n.out {
			dashed = dashed && g.only(s.phases) != ""
		}
		l.lines = append(l.lines, straight(at(n.at, tops[rank]), at(n.at, end), dashed))
	}
	for _, s := range n.out {
		from, to, begin, dashed := n.port(n.out, s), s.to.port(s.to.in, s), tops[rank+1], g.only(s.phases) != ""
		if inside := (thick[rank] - n.along) / 2; n.box >= 0 && inside > 0 {
			l.lines = append(l.lines, straight(at(from, end-inside), at(from, end), dashed))
		}
		half := (end + begin) / 2
		l.lines = append(l.lines, curve{points: [4]vg.Point{at(from, end), at(from, half), at(to, half), at(to, begin)}, dashed: dashed})
		if inside := (thick[rank+1] - s.to.along) / 2; s.to.box >= 0 && inside > 0 {
			l.lines = append(l.lines, straight(at(to, begin), at(to, begin+inside), dashed))
		}
		l.lines[len(l.lines)-1].head = s.to.box >= 0
		if s.label != "" {
			l.labels = append(l.labels, label{s.label, at((from+to)/2, half)})
		}
	}
}

func straight(a, b vg.Point, dashed bool) curve {
	return curve{points: [4]vg.Point{a, a, b, b}, dashed: dashed}
}

// port is the position across at which a segment meets a node. Segments are spread over the middle of a box's side, in the order
// of their other ends.
func (n *node) port(side []*segment, s *segment) vg.Length {
	if n.box < 0 {
		return n.at
	}
	sorted := slices.Clone(side)
	slices.SortStableFunc(sorted, func(a, b *segment) int {
		return cmp.Compare(a.from.at+a.to.at, b.from.at+b.to.at)
	})
	step := min(16, 0.7*n.across/vg.Length(len(side)))
	return n.at + step*(vg.Length(slices.Index(sorted, s))-vg.Length(len(side)-1)/2)
}
