package digits

import (
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansitalic"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-fonts/liberation/liberationserifbold"
	"codeberg.org/go-fonts/liberation/liberationserifitalic"
	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
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
		goregular.TTF, gomedium.TTF, gobold.TTF, goitalic.TTF, gobolditalic.TTF, gomono.TTF, gomonobold.TTF, gomonoitalic.TTF,
		liberationsansregular.TTF, liberationsansbold.TTF, liberationsansitalic.TTF, liberationserifregular.TTF, liberationserifbold.TTF,
		liberationserifitalic.TTF, liberationmonoregular.TTF,
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
		args := [3]point{at(s.Args[0]), at(s.Args[1]), at(s.Args[2])}
		if s.Op == sfnt.SegmentOpMoveTo {
			g = append(g, []point{args[0]})
			continue
		}
		contour := &g[len(g)-1]
		from := (*contour)[len(*contour)-1]
		switch s.Op {
		case sfnt.SegmentOpLineTo:
			to := args[0]
			*contour = appendCurve(*contour, from, mix(from, to, 1./3), mix(from, to, 2./3), to)
		case sfnt.SegmentOpQuadTo:
			control, to := args[0], args[1]
			*contour = appendCurve(*contour, from, mix(from, control, 2./3), mix(to, control, 2./3), to)
		case sfnt.SegmentOpCubeTo:
			*contour = appendCurve(*contour, from, args[0], args[1], args[2])
		}
	}
	return g
}

func toFloat(v fixed.Int26_6) float32 { return float32(v) / 64 }

// mix interpolates between the points a and b: a at t = 0, b at t = 1.
func mix(a, b point, t float32) point { return point{a.x + t*(b.x-a.x), a.y + t*(b.y-a.y)} }

// pieces is the number of straight segments in a flattened curve. Lines get as many, so that a warp can bend them.
const pieces = 6

// appendCurve flattens the cubic Bezier curve with ends from and to and control points a and b. Lines and quadratic
// curves are cubic ones with control points at thirds.
func appendCurve(contour []point, from, a, b, to point) []point {
	for i := 1; i <= pieces; i++ {
		t := float32(i) / pieces
		u := 1 - t
		contour = append(contour, point{
			u*u*u*from.x + 3*u*u*t*a.x + 3*u*t*t*b.x + t*t*t*to.x,
			u*u*u*from.y + 3*u*u*t*a.y + 3*u*t*t*b.y + t*t*t*to.y,
		})
	}
	return contour
}
