package trust

import (
	"maps"
	"math"
	"strings"
	"testing"
)

// TestFit: by hand. Eleven published times of a band from 2 to 4: one may lie outside on each side. The second-least is 0.6 of the band's
// lower end, the second-largest 1.5 of its upper end.
func TestFit(t *testing.T) {
	var samples []Sample
	for _, published := range []float64{0.1, 3, 3, 1.2, 3, 6, 100, 3, 3, 3, 3} {
		samples = append(samples, Sample{Least: 2, Most: 4, Published: published})
	}
	if f := Fit(samples); f.Points != 11 || math.Abs(f.Low-0.6) > 1e-12 || math.Abs(f.High-1.5) > 1e-12 {
		t.Errorf("%+v, want 0.6 and 1.5 of 11 points", f)
	}
	if f := Fit(samples[1:]); math.Abs(f.Low-0.6) > 1e-12 && math.Abs(f.High-1.5) > 1e-12 {
		t.Errorf("%+v of ten points", f)
	}
	if f := Fit(samples[2:6]); math.Abs(f.Low-0.6) > 1e-12 || math.Abs(f.High-1.5) > 1e-12 {
		t.Errorf("%+v: with four points none lies outside", f)
	}
	if f := Fit([]Sample{{1, 2, 1.5}}); f.Low != 1 || f.High != 1 {
		t.Errorf("%+v: a band that holds all points is not widened, nor narrowed", f)
	}
}

// TestFitSources: by hand. Every source counts the same, and a tenth of them lies outside: of two sources, a fifth of one.
func TestFitSources(t *testing.T) {
	near := Sample{Least: 2, Most: 4, Published: 3}
	many := []Sample{{2, 4, 100}, {2, 4, 8}, near, near, near, near, near, near, near, near} // 25 times, and twice as long
	for _, c := range []struct {
		sources [][]Sample
		want    Factors
	}{
		{[][]Sample{many}, Factors{10, 0.5, 2}},                               // the one of ten lies outside
		{[][]Sample{many, {near}}, Factors{11, 1, 1}},                         // two of ten, a tenth of both sources
		{[][]Sample{many, {{2, 4, 1}}}, Factors{11, 0.5, 2}},                  // half as long: as far off as the next
		{[][]Sample{{{2, 4, 0.5}}, {near, near}}, Factors{3, 0.25, 4}},        // few points: none lies outside
		{[][]Sample{{{2, 4, 0.5}}, many[2:], many[2:]}, Factors{17, 0.25, 4}}, // a third of all is more than a tenth
	} {
		if got := FitSources(c.sources); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.sources, got, c.want)
		}
	}
}

func TestRange(t *testing.T) {
	s := Spread{Explicit: {10, 0.5, 2}, Stream: {3, 0.9, 1.25}}
	s[Any] = s.Widest()
	if s[Any] != (Factors{13, 0.5, 2}) {
		t.Errorf("the widest factors are %+v", s[Any])
	}
	if r := s.Range(Stream, 20, 10, 16); r != (Range{9, 25}) {
		t.Errorf("range %+v, want 9 to 25", r)
	}
	if r := s.Range(Pooling, 10); r != (Range{5, 20}) {
		t.Errorf("a kind without points has range %+v, want that of any", r)
	}
	if r := (Range{5, 20}).Rate(100); r != (Range{5, 20}) {
		t.Errorf("100 in 5 to 20 is %+v", r)
	}
	if r := Of("no such machine").Range(Stream, 1); r.Known() || r.String() != "" || r.Rate(3).Known() {
		t.Errorf("nothing was published, and the range is%v", r)
	}
	for _, c := range []struct {
		Range
		want string
	}{{Range{11, 14.14}, " (11.0-14.1)"}, {Range{0.0512, 9.999}, " (0.051-10.0)"}, {Range{99.96, 10280.4}, " (100-10280)"}, {Range{0.00012, 1}, " (0.00012-1.00)"}} {
		if got := c.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestFiles: every row widens; a table is read as it was written.
func TestFiles(t *testing.T) {
	for name, kinds := range spreads() {
		for kind, f := range kinds {
			if f.Points < 1 || !(f.Low > 0 && f.Low <= 1) || !(f.High >= 1) {
				t.Errorf("%s, %s: %+v", name, kind, f)
			}
		}
	}
	for _, name := range []string{"sw26010", "k40m", "e5_2680v3", "taihulight", "knl_cori"} {
		if Of(name) == nil {
			t.Errorf("nothing is known of %s", name)
		}
	}
	want := map[string]Spread{"a": {Any: {3, 0.5, 1.25}}, "b": {Stream: {10, 1, 2}, Any: {4, 0.125, 1}}}
	text := Table("a comment\nof two lines", want)
	if !strings.HasPrefix(string(text), "# a comment\n# of two lines\nname,kind,points,low,high\na,any,3,0.500,1.250\nb,any,") {
		t.Errorf("the table is\n%s", text)
	}
	got := map[string]Spread{}
	if err := read(got, text); err != nil || len(got) != 2 || got["b"][Stream] != want["b"][Stream] || got["b"][Any] != want["b"][Any] {
		t.Errorf("%v, %v", got, err)
	}
	near, far := maps.Clone(Of("k40m")), maps.Clone(Of("k40m"))
	f := near[Any]
	near[Any], far[Any] = Factors{f.Points, f.Low, f.High + 0.001}, Factors{f.Points, f.Low, f.High + 0.01}
	if d := Differ(map[string]Spread{"k40m": near}); d != "" {
		t.Errorf("rounding makes a difference: %s", d)
	}
	if Differ(map[string]Spread{"k40m": far}) == "" || Differ(map[string]Spread{"k40m": {}}) == "" {
		t.Error("other factors make no difference")
	}
	for _, bad := range []string{"name,kind,points,low,high\na,any,x,1,1", "name,kind,points,low,high\na,any,1,x,1", "name,kind,points,low,high\na,any,1,1,x", "a,b\n1,2"} {
		if read(map[string]Spread{}, []byte(bad)) == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
