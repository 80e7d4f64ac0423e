package plan_test

import (
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// byImages is a tuner that knows an algorithm for some numbers of images, and fails the test that measures.
type byImages struct {
	t     *testing.T
	names map[int]string
}

func (u byImages) Choice(k conv.Key) (string, bool) {
	name, known := u.names[k.Shape.N]
	return name, known && k.Direction == shape.Forward
}
func (u byImages) Now() time.Time { return time.Time{} }
func (u byImages) Measured(k conv.Key, _ []conv.Timing) error {
	u.t.Errorf("%v is measured", k)
	return nil
}

// TestRounds: a convolution in rounded blocks keeps its algorithm for other numbers of images, whatever a tuner knows of these. One without images offers no
// rounded blocks.
func TestRounds(t *testing.T) {
	m := kerneltest.Rounding(t, kerneltest.HostMachine(t, 2))
	const name = "pointwise-blocked-bf16"
	only := []shape.Direction{shape.Forward}
	shaped := func(images int) shape.Conv { return convtest.Shape2D(images, 64, 32, 1, 9, 7, 1, 1, 1, 0, 1) }
	for _, tuned := range []bool{false, true} {
		for _, images := range []int{2, 0} {
			c, err := plan.New(m, shaped(images), shape.Auto)
			if tuned {
				c, err = plan.NewTuned(m, shaped(images), op.RoundedFactors, byImages{t, map[int]string{2: name, 3: "pointwise-blocked", 0: "nothing"}})
			}
			if err == nil {
				err = c.Arrange(shape.Blocks, shape.Blocks, only)
			}
			if err != nil {
				t.Fatal(err)
			}
			if in, out := c.Rounds(); in != (images > 0) || out != in {
				t.Errorf("tuned %t, %d images: rounded blocks for images: %t, for results: %t", tuned, images, in, out)
			}
			if images == 0 {
				continue
			}
			if err := c.Arrange(shape.RoundedBlocks, shape.RoundedBlocks, only); err != nil {
				t.Fatal(err)
			}
			for n := range 5 {
				s := shaped(n)
				other, err := c.ForShape(s)
				if err != nil {
					t.Fatalf("tuned %t, %d images: %v", tuned, n, err)
				}
				if got := other.Algorithm(shape.Forward); (got == name) != (n > 0) || !other.Does(shape.Forward, op.Post) && n > 0 {
					t.Errorf("tuned %t, %d images: computed by %s", tuned, n, got)
				}
				w, x, y := kerneltest.Values(s.Out*s.C, 1), make([]float32, n*s.C*63), make([]float32, n*s.Out*63)
				for range 3 {
					if err := other.Run(shape.Forward, conv.Arrays{X: x, W: w, Y: y, Floor: true, Finish: func([]float32, int, int) {}}); err != nil {
						t.Errorf("tuned %t, %d images: %v", tuned, n, err)
					}
				}
			}
			if err := c.Arrange(shape.RoundedBlocks, shape.RoundedBlocks, nil); err == nil {
				t.Error("gradients are computed in rounded blocks")
			}
		}
	}
}
