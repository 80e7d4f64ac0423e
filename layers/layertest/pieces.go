package layertest

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/layers"
)

// CheckPieces compares a layer's Finisher, called for short pieces of planes, with its Forward: in a net that also runs Backward they must have
// the same bits, since another layer may do the work there.
func CheckPieces(b *Bench, c *Case) error {
	f, err := New(b.Device(layers.CPE), c)
	if err != nil {
		return err
	}
	finish := layers.TraitsOf(f.Layer).Is.Finish
	if finish == nil || c.InPlace {
		return nil
	}
	if err := f.run(); err != nil {
		return err
	}
	finish.Hold(f.Bottom[1:])
	x, want := f.Bottom[0], f.Top[0].Data()
	y := append([]float32(nil), x.Data()...)
	channels := x.Legacy(1)
	inner := x.Count() / max(1, x.Legacy(0)*channels)
	cut := func(at, n int, first func(done int) int) {
		for done := 0; done < n; {
			some := min(n-done, 1+(at+done)%13)
			finish.Finish(y[at+done:][:some], at+done, first(done))
			done += some
		}
	}
	for row := range x.Legacy(0) {
		if inner == 1 {
			cut(row*channels, channels, func(done int) int { return done })
			continue
		}
		for m := range channels {
			cut((row*channels+m)*inner, inner, func(int) int { return m })
		}
	}
	for i, v := range y {
		if math.Float32bits(v) != math.Float32bits(want[i]) && (v == v || want[i] == want[i]) {
			return fmt.Errorf("value %d is %g when its piece is finished, %g by Forward", i, v, want[i])
		}
	}
	return nil
}
