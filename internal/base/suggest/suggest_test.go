package suggest

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"Convolution", "InnerProduct", "ReLU", "PReLU", "Pooling"}
	for name, want := range map[string]string{
		"Convolutoin": "Convolution", "convolution": "Convolution", "Relu": "ReLU", "InerProduct": "InnerProduct",
		"Polling": "Pooling", "Something": "", "": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	fields := []string{"convolution_param", "loss_param", "pooling_param", "lr_policy", "dma_latency_ns", "dma_max_pending"}
	for name, want := range map[string]string{
		"conv_param": "convolution_param", "pool_param": "pooling_param", "Conv_Param": "convolution_param", "los_parm": "loss_param",
		"dma": "", "dma_lat": "dma_latency_ns", "lr": "", "conv_param_x": "",
	} {
		if got := Nearest(name, fields); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Nearest("q", []string{"x"}); got != "" {
		t.Errorf("for a letter: %q", got)
	}
	if got := DidYouMean("Relu", known); got != `, did you mean "ReLU"?` {
		t.Errorf("%q", got)
	}
	if got := DidYouMean("xyzzy", known); got != "" {
		t.Errorf("%q", got)
	}
	many := slices.Repeat(known, 10)
	if got := Unknown("type", "Relu", "types", many).Error(); got != `unknown type "Relu", did you mean "ReLU"?` {
		t.Errorf("%q", got)
	}
	if got := Unknown("type", "xyzzy", "types", many).Error(); !strings.HasSuffix(got, "PReLU, Pooling)") {
		t.Errorf("%q", got)
	}
	if got := Nearest("Foo", []string{"Log", "foe"}); got != "foe" {
		t.Errorf("for three letters: %q", got)
	}
	if got := Unknown("type", "xyzzy", "types", known[:2]).Error(); got != `unknown type "xyzzy" (types: Convolution, InnerProduct)` {
		t.Errorf("%q", got)
	}
}

func TestTable(t *testing.T) {
	type shape struct {
		name    string
		corners int
	}
	shapes := Table[shape]{Kind: "shape", Kinds: "shapes", Name: func(s shape) string { return s.name }, Entries: []shape{{"triangle", 3}, {"square", 4}}}
	if got, err := shapes.Find("square"); err != nil || got.corners != 4 {
		t.Errorf("%v, %v", got, err)
	}
	got, err := shapes.Find("squair")
	if want := `unknown shape "squair", did you mean "square"? (shapes: triangle, square)`; err == nil || err.Error() != want || got != (shape{}) {
		t.Errorf("%v, %v; want %s", got, err, want)
	}
}

// TestDistance holds distances against ones that are known.
func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"ab", "ba", 1}, {"sdg", "sgd", 1}, {"abcd", "badc", 2}, {"ca", "abc", 3}, {"intention", "execution", 5}, {"a", "bcd", 3}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("from %q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
