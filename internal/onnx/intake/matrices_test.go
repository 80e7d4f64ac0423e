package intake

import "testing"

// TestPlacesInSingle: of all resizings of up to 20 values to up to 20 to the nearest pixel, asymmetric and downwards, the outputs whose place is a whole
// number read the value before it exactly where ONNX Runtime 1.30 does (findings/onnxruntime_resize_floor.sh).
func TestPlacesInSingle(t *testing.T) {
	before := map[[3]int]bool{{14, 2, 1}: true, {14, 4, 2}: true, {14, 8, 4}: true, {14, 16, 8}: true, {20, 12, 9}: true}
	for in := 1; in <= 20; in++ {
		for out := 1; out <= 20; out++ {
			list, err := nearest("asymmetric", "floor", in, out, float64(out)/float64(in))
			if err != nil {
				t.Fatal(err)
			}
			for o, got := range list {
				want := o * in / out
				if before[[3]int{in, out, o}] {
					want--
				}
				if got != want {
					t.Errorf("%d values to %d: output %d reads %d, want %d", in, out, o, got, want)
				}
			}
		}
	}
}
