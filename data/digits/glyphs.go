package digits

import (
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-fonts/liberation/liberationserifitalic"
	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/gofont/gosmallcaps"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

type point struct{ x, y float32 }

// glyph is an outline flattened to polygons, centred on the origin, one unit high, y downwards.
type glyph [][]point

// glyphs returns the outlines of the ten digits in every font.
func glyphs() [][10]glyph {
	var fonts [][10]glyph
	for _, ttf := range [][]byte{
		goregular.TTF, gomedium.TTF, gobold.TTF, goitalic.TTF, gomono.TTF, gomonobold.TTF, gomonoitalic.TTF, gosmallcaps.TTF,
		liberationsansregular.TTF, liberationsansbold.TTF, liberationserifregular.TTF, liberationserifitalic.TTF, liberationmonoregular.TTF,
	} {
		f, err := sfnt.Parse(ttf)
		if err != nil {
			panic("digits: embedded font: " + err.Error())
		}
		var set [10]glyph
		for d := range set {
			set[d] = outline(f, rune('0'+d))
		}
		fonts = append(fonts, set)
	}
	return fonts
}

// outline loads a character and flattens its curves.
func outline(f *sfnt.Font, char rune) glyph {
	const em = 1000
	var buf sfnt.Buffer
	index, err := f.GlyphIndex(&buf, char)
	if err != nil {
		panic("digits: embedded font: " + err.Error())
	}
	segments, err := f.LoadGlyph(&buf, index, fixed.I(em), &sfnt.LoadGlyphOptions{})
	if err != nil {
		panic("digits: embedded font: " + err.Error())
	}
	bounds, _, err := f.GlyphBounds(&buf, index, fixed.I(em), font.HintingNone)
	if err != nil {
		panic("digits: embedded font: " + err.Error())
	}
	height := toFloat(bounds.Max.Y - bounds.Min.Y)
	cx, cy := toFloat(bounds.Min.X+bounds.Max.X)/2, toFloat(bounds.Min.Y+bounds.Max.Y)/2
	at := func(p fixed.Point26_6) point {
		return point{(toFloat(p.X) - cx) / height, (toFloat(p.Y) - cy) / height}
	}
	var g glyph
	for _, s := range segments {
		last := len(g) - 1
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			g = append(g, []point{at(s.Args[0])})
		case sfnt.SegmentOpLineTo:
			g[last] = append(g[last], subdivide(g[last], at(s.Args[0]))...)
		case sfnt.SegmentOpQuadTo:
			g[last] = append(g[last], curve(g[last], at(s.Args[0]), at(s.Args[0]), at(s.Args[1]), 2)...)
		case sfnt.SegmentOpCubeTo:
			g[last] = append(g[last], curve(g[last], at(s.Args[0]), at(s.Args[1]), at(s.Args[2]), 3)...)
		}
	}
	return g
}

func toFloat(v fixed.Int26_6) float32 { return float32(v) / 64 }

// pieces is how many straight lines a curve becomes, and a line too, so that it can bend.
const pieces = 6

func subdivide(contour []point, to point) []point {
	from := contour[len(contour)-1]
	var out []point
	for i := 1; i <= pieces; i++ {
		t := float32(i) / pieces
		out = append(out, point{from.x + t*(to.x-from.x), from.y + t*(to.y-from.y)})
	}
	return out
}

// curve flattens a Bezier curve of degree 2 (control point a) or 3 (a and b) that ends in to.
func curve(contour []point, a, b, to point, degree int) []point {
	from := contour[len(contour)-1]
	var out []point
	for i := 1; i <= pieces; i++ {
		t := float32(i) / pieces
		u := 1 - t
		w := [4]float32{u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t}
		if degree == 2 {
			w = [4]float32{u * u, 2 * u * t, 0, t * t}
		}
		out = append(out, point{
			w[0]*from.x + w[1]*a.x + w[2]*b.x + w[3]*to.x,
			w[0]*from.y + w[1]*a.y + w[2]*b.y + w[3]*to.y,
		})
	}
	return out
}
