package figure

import (
	"regexp"
	"strconv"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// TestFitTexts: texts have the width for which the drawing left room: twice as much for twice the size, more in bold.
func TestFitTexts(t *testing.T) {
	svg, err := Render("svg", 300, 200, func(c draw.Canvas) {
		for i, size := range []vg.Length{8, 16, 8} {
			s := Style(size)
			if i == 2 {
				s.Font.Weight = 3 // bold
			}
			c.FillText(s, vg.Point{X: 10, Y: 20 * vg.Length(i)}, "a < b & c")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var widths []float64
	for _, m := range regexp.MustCompile(`<text textLength="([0-9.]+)" lengthAdjust="spacingAndGlyphs" x=[^>]*>a &lt; b &amp; c</text>`).FindAllSubmatch(FitTexts(svg), -1) {
		w, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		widths = append(widths, w)
	}
	want := Style(8).Width("a < b & c").Points()
	if len(widths) != 3 || widths[0] < want-0.01 || widths[0] > want+0.01 || widths[1] < 1.95*want || widths[1] > 2.05*want || widths[2] <= want {
		t.Errorf("the widths are %v; the text is %.2f wide", widths, want)
	}
}
