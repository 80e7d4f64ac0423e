package nets

import "fmt"

// ofForks appends a layer of a fork of Caffe to images.
func (b *builder) ofForks(t *tip) *tip {
	n, c := t.shape[0], t.shape[1]
	h, w := t.shape[2], t.shape[3]
	switch b.r.IntN(8) {
	case 0:
		order := b.r.Perm(3)
		shape := []int{n, t.shape[1+order[0]], t.shape[1+order[1]], t.shape[1+order[2]]}
		return b.one("Permute", t, shape, 0, fmt.Sprintf("permute_param { order: 0 order: %d order: %d order: %d }", 1+order[0], 1+order[1], 1+order[2]))
	case 1:
		return b.one("ShuffleChannel", t, t.shape, 0, fmt.Sprintf("shuffle_channel_param { group: %d }", b.divisor(c)))
	case 2:
		return b.one("Normalize", t, t.shape, 0, []string{"", "norm_param { }", "norm_param { across_spatial: false }",
			`norm_param { across_spatial: false channel_shared: false scale_filler { value: 5 } }`, "norm_param { channel_shared: false }"}[b.r.IntN(5)])
	case 3:
		zoom, shrink := 1+b.r.IntN(3), 1+b.r.IntN(3)
		size := func(n int) int { return (n-1)/shrink + 1 + (n-1)/shrink*(zoom-1) }
		return b.one("Interp", t, []int{n, c, size(h), size(w)}, 0, fmt.Sprintf("interp_param { zoom_factor: %d shrink_factor: %d }", zoom, shrink))
	case 4:
		scale := 1 + b.r.IntN(3)
		return b.one("Upsample", t, []int{n, c, h * scale, w * scale}, 0, fmt.Sprintf("upsample_param { scale: %d }", scale))
	case 5:
		return b.one("Unpooling", t, []int{n, c, 2 * h, 2 * w}, 0, fmt.Sprintf("unpooling_param { kernel_size: 2 stride: 2 unpool_h: %d unpool_w: %d }", 2*h, 2*w))
	case 6:
		return b.same("BN", t, []string{"bn_param { frozen: true slope_filler { value: 0.7 } }", "bn_param { bn_mode: INFERENCE }"}[b.r.IntN(2)])
	default:
		if !b.affords(0, t.shape) {
			return nil
		}
		a, y, out := b.input("gauss", n, c, 1, 1), b.input("gauss", t.shape...), &tip{name: b.blob(), shape: t.shape}
		b.layer("Axpy", []*tip{a, t, y}, []*tip{out}, "")
		b.tips = append(b.tips, out)
		return out
	}
}

// divisor draws a divisor of n.
func (b *builder) divisor(n int) int {
	var all []int
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			all = append(all, d)
		}
	}
	return all[b.r.IntN(len(all))]
}
