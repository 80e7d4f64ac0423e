package suggest

import "testing"

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
	if got := DidYouMean("Relu", known); got != `, did you mean "ReLU"?` {
		t.Errorf("%q", got)
	}
	if got := DidYouMean("xyzzy", known); got != "" {
		t.Errorf("%q", got)
	}
	if got := Unknown("type", "xyzzy", "types", known[:2]).Error(); got != `unknown type "xyzzy" (types: Convolution, InnerProduct)` {
		t.Errorf("%q", got)
	}
}
