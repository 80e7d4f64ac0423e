package figure

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strconv"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgText is a text in a picture of RenderLengths, with its weight, size and words.
var svgText = regexp.MustCompile(`<text ([^>]*font-weight:(\w+);[^>]*font-size:([0-9.]+)px[^>]*)>([^<]*)</text>`)

// FitTexts gives every text of an SVG the width that it has in our font, so that it fits in its place in viewers that have only a wider one.
func FitTexts(svg []byte) []byte {
	return svgText.ReplaceAllFunc(svg, func(text []byte) []byte {
		part := svgText.FindSubmatch(text)
		size, err := strconv.ParseFloat(string(part[3]), 64)
		words := html.UnescapeString(string(part[4]))
		if err != nil || words == "" {
			return text
		}
		f := Style(vg.Points(size)).Font
		if string(part[2]) == "bold" {
			f.Weight = xfont.WeightBold
		}
		face := font.DefaultCache.Lookup(f, f.Size)
		return bytes.Replace(text, []byte("<text "), fmt.Appendf(nil, `<text textLength="%.2f" lengthAdjust="spacingAndGlyphs" `, face.Width(words).Points()), 1)
	})
}
