package all_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
)

// BenchmarkLayouts reports the best time of a pass for each pair of layouts.
func BenchmarkLayouts(b *testing.B) {
	layouts := []struct {
		name          string
		bottoms, tops bool
	}{{"plain", false, false}, {"blocks", true, true}, {"tops", false, true}, {"bottoms", true, false}}
	for _, p := range passes {
		for _, layout := range layouts {
			for _, way := range []string{"forward", "backward"} {
				b.Run(fmt.Sprintf("%s/%s/%s", p.name, layout.name, way), func(b *testing.B) {
					c := layertest.Case{Type: p.kind, Param: p.param, Bottoms: []layertest.Bottom{layertest.In(p.shape...)}}
					f := layertest.Build(b, layertest.NewBench(b), layers.CPE, c)
					if err := layertest.LayOut(f.Layer, layout.bottoms, layout.tops); err != nil {
						b.Skip(err)
					}
					f.Forward(b)
					best := time.Hour
					for b.Loop() {
						best = min(best, timePass(b, f, way))
					}
					b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
				})
			}
		}
	}
}

// timePass returns the duration of a layer's pass.
func timePass(b *testing.B, f *layertest.Fixture, way string) time.Duration {
	start := time.Now()
	var err error
	if way == "forward" {
		err = f.Layer.Forward(f.Bottom, f.Top)
	} else {
		err = f.Layer.Backward(f.Top, []bool{true}, f.Bottom)
	}
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}
