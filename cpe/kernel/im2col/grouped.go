package im2col

import "github.com/swcaffe/swcaffe/cpe"

// The original's col2im deals the lines of all channels, those of the padding among them, to the CPEs in runs. Where strides are 1, a CPE
// groups the lines of its run that are read at all kernel offsets: it gets their column lines by one request for each offset, and puts the lines
// by one. The first and the last lines of a channel, and all lines with strides, are handled singly.

// groups reports whether col2im handles several lines at once. The original has such a kernel for images with strides of 1, not dilated.
func (g *Geometry) groups() bool { return g.Software.Grouped && g.plain }

// run is a CPE's part lo <= i < hi of the padded lines of all channels, of which at most `most` are grouped.
type run struct{ lo, hi, most int }

// run returns the run of a CPE. The first CPEs have one line more than the others if there is a remainder. most is halved from the run's length
// until as many lines fit LDM, as they are in the column matrix and as they are in the image.
func (g *Geometry) run(cpe, of, ldm int) run {
	lines := (g.Plane/g.Line + 2*g.top) * g.Channels
	each, more := lines/of, lines%of
	r := run{lo: cpe*each + min(cpe, more)}
	r.hi = r.lo + each
	if cpe < more {
		r.hi++
	}
	for r.most = r.hi - r.lo; 4*r.most*(g.Line+g.Width) >= ldm; {
		r.most /= 2
	}
	return r
}

// group returns where padded line i of all channels lies, and how many lines of the run from it on are grouped: 0 in the padding.
func (g *Geometry) group(r run, i int) (ch, at, n int) {
	height := g.Plane / g.Line
	ch, at = i/(height+2*g.top), i%(height+2*g.top)-g.top
	switch {
	case at < 0 || at >= height:
		return ch, at, 0
	case at < g.Outer-1 || at > height-g.Outer:
		return ch, at, 1
	}
	return ch, at, max(1, min(height-g.Outer+1-at, r.hi-i, r.most))
}

// foldGroups adds the column matrix of an image to its gradient, group by group. CPEs do not wait for each other.
func (g *Geometry) foldGroups(cg *cpe.CoreGroup, columns []float32, b *Band) error {
	cpes := cg.CPEs()
	cg.Deal((g.Plane/g.Line + 2*g.top) * g.Channels)
	for k, c := range cpes {
		r := g.run(k, len(cpes), cg.Spec().LDMBytes)
		for i := r.lo; i < r.hi; {
			ch, at, n := g.group(r, i)
			if n > 0 {
				if err := g.collectLines(c, columns, b, ch, at, n); err != nil {
					return err
				}
			}
			i += max(1, n)
		}
	}
	cg.Sync()
	return nil
}
