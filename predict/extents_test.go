package predict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// scaledNet has a factor for each column as its second input.
const scaledNet = `layer { name: "i" type: "Input" top: "x" top: "w" input_param { shape { dim: 2 dim: 3 } shape { dim: 3 } } }
layer { name: "l" type: "Scale" bottom: "x" bottom: "w" top: "h" scale_param { axis: 1 } }`

// TestExtents: a model knows which inputs' axis 0 may have another extent, and whether the items of several requests can share a run.
func TestExtents(t *testing.T) {
	input := func(shapes ...string) string {
		text := `layer { name: "i" type: "Input"`
		for k := range shapes {
			text += fmt.Sprintf(` top: "%c"`, 'x'+k)
		}
		return text + ` input_param { shape { dim: [` + strings.Join(shapes, `] } shape { dim: [`) + `] } } } `
	}
	sum := `layer { name: "l" type: "Eltwise" bottom: "x" bottom: "y" top: "s" }`
	for name, c := range map[string]struct{ net, want, apart string }{
		"one input":         {input("2, 3") + `layer { name: "l" type: "ReLU" bottom: "x" top: "s" }`, "x[-1 3] s[-1 3]", ""},
		"a sum":             {input("1, 3", "1, 3") + sum, "x[-1 3] y[-1 3] s[-1 3]", ""},
		"factors":           {scaledNet, "x[-1 3] w[3] h[-1 3]", `layer "l" (Scale) takes the items of its second bottom`},
		"factors, a square": {strings.Replace(scaledNet, "dim: 2", "dim: 3", 1), "x[-1 3] w[3] h[-1 3]", `layer "l" (Scale) takes`},
		"apart":             {input("2, 3", "5, 4") + `layer { name: "l" type: "ReLU" bottom: "x" top: "s" } layer { name: "m" type: "ReLU" bottom: "y" top: "t" }`, "x[-1 3] y[-1 4] s[-1 3] t[-1 4]", `"x", [2 3], and "y", [5 4], differ on axis 0`},
		"a fixed shape":     {input("2, 3") + `layer { name: "y" type: "Parameter" top: "y" parameter_param { shape { dim: 2 dim: 3 } } }` + sum, "x[2 3] s[2 3]", "cannot be planned for inputs that have 1 on axis 0"},
		"two fixed shapes": {input("2, 3", "2, 3") + `layer { name: "p" type: "Parameter" top: "p" parameter_param { shape { dim: 2 dim: 3 } } }
layer { name: "l" type: "Eltwise" bottom: "x" bottom: "y" bottom: "p" top: "s" }`, "x[2 3] y[2 3] s[2 3]", "cannot be planned for inputs that have 1 on axis 0"},
		"rows":  {input("3, 4") + `layer { name: "l" type: "Reduction" bottom: "x" top: "s" }`, "x[-1 4] s[]", `layer "l" (Reduction)`},
		"pairs": {input("4, 3") + `layer { name: "l" type: "Slice" bottom: "x" top: "s" top: "t" slice_param { axis: 0 } }`, "x[-1 3] s[-1 3] t[-1 3]", `layer "l" (Slice)`},
	} {
		m := load(t, Options{Net: write(t, "n.prototxt", c.net)})
		inputs, outputs, err := m.Extents()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range slices.Concat(inputs, outputs) {
			got = append(got, fmt.Sprint(p.Name, p.Shape))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
		if err := m.Joins(); (err == nil) != (c.apart == "") || err != nil && !strings.Contains(err.Error(), c.apart) {
			t.Errorf("%s: joins: %v, want %q", name, err, c.apart)
		}
		if slices.ContainsFunc(m.Inputs(), func(p Port) bool { return p.Shape[0] < 1 }) {
			t.Errorf("%s: the prototxt's shapes are changed: %v", name, m.Inputs())
		}
	}
}

// TestStated: a net whose inputs differ on axis 0 is prepared for the prototxt's shapes, not for a number of items, and other shapes that do not fit are a ShapeError.
func TestStated(t *testing.T) {
	m := load(t, Options{Net: write(t, "n.prototxt", scaledNet)})
	s := session(t, m, 1)
	if err := s.PrepareStated(); err != nil || len(s.plans) != 1 || !slices.Equal(s.plans[0].shapes[0], []int{2, 3}) || !slices.Equal(s.plans[0].shapes[1], []int{3}) {
		t.Errorf("%v, plans %v", err, s.plans)
	}
	if err := s.Prepare(2); err == nil || !strings.Contains(err.Error(), `2 items: `) || !strings.Contains(err.Error(), "differ on axis 0") {
		t.Errorf("for 2 items: %v", err)
	}
	x := Array{Name: "x", Values: []float32{1, 2, 3, 4, 5, 6}}
	if got := run(t, s, x, Array{Name: "w", Values: []float32{1, 10, 100}})[0]; !slices.Equal(got, []float32{1, 20, 300, 4, 50, 600}) || len(s.plans) != 1 {
		t.Errorf("%v after %d plans", got, len(s.plans))
	}
	_, err := s.Run(context.Background(), x, Array{Name: "w", Values: make([]float32, 4)})
	var misfit *ShapeError
	if !errors.As(err, &misfit) || !strings.Contains(err.Error(), `inputs "x" [2 3], "w" [4]: `) || !strings.Contains(err.Error(), "n.prototxt:2") {
		t.Fatalf("4 factors for 3 columns: %v", err)
	}
	if text := misfit.WithoutFile(); strings.Contains(text, "n.prototxt") || !strings.Contains(text, `"w" [4]: layer "l" (Scale): dimension mismatch`) {
		t.Errorf("without the file: %s", text)
	}
}
