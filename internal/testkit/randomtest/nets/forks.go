package nets

import "fmt"

// ofForks appends a layer of a fork of Caffe to images.
func (b *builder) ofForks(t *tip) *tip {
	n, c := t.shape[0], t.shape[1]
	h, w := t.shape[2], t.shape[3]
	switch b.r.IntN(13) {
	case 12:
		return b.one("Reverse", t, t.shape, 0, fmt.Sprintf("reverse_param { axis: %d }", b.r.IntN(4)))
	case 0:
		order := b.r.Perm(3)
		shape := []int{n, t.shape[1+order[0]], t.shape[1+order[1]], t.shape[1+order[2]]}
		if b.r.IntN(2) == 0 {
			return b.one("Transpose", t, shape, 0, fmt.Sprintf("transpose_param { dim: 0 dim: %d dim: %d dim: %d }", 1+order[0], 1+order[1], 1+order[2]))
		}
		return b.one("Permute", t, shape, 0, fmt.Sprintf("permute_param { order: 0 order: %d order: %d order: %d }", 1+order[0], 1+order[1], 1+order[2]))
	case 1:
		return b.shuffle(t, b.divisor(c))
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
	case 7, 8, 9:
		return b.regions(t)
	case 10:
		s := 1 + b.r.IntN(3)
		if c%(s*s) == 0 && b.r.IntN(2) > 0 {
			return b.one("Reorg", t, []int{n, c / (s * s), h * s, w * s}, 0, fmt.Sprintf("reorg_param { stride: %d reverse: true }", s))
		}
		if c%(s*s) != 0 || h%s != 0 || w%s != 0 {
			return nil
		}
		return b.one("Reorg", t, []int{n, c * s * s, h / s, w / s}, 0, fmt.Sprintf("reorg_param { stride: %d }", s))
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

// regions appends a layer that pools regions of images.
func (b *builder) regions(t *tip) *tip {
	c, group := t.shape[1], 1
	kind, ph, pw := []string{"ROIPooling", "ROIAlign", "PSROIPooling"}[b.r.IntN(3)], 1+b.r.IntN(4), 1+b.r.IntN(4)
	if b.smooth && kind == "ROIPooling" {
		kind = "ROIAlign"
	}
	out := &tip{name: b.blob(), shape: []int{b.integer(1, 40), c, ph, pw}}
	param := fmt.Sprintf("pooled_h: %d pooled_w: %d spatial_scale: 0.5", ph, pw)
	switch kind {
	case "ROIPooling":
		param = "roi_pooling_param { " + param + " }"
	case "ROIAlign":
		param = fmt.Sprintf("roi_align_param { %s sampling_ratio: %d }", param, b.r.IntN(3))
	default:
		for _, g := range []int{2, 3, 4} {
			if c%(g*g) == 0 {
				group = g
			}
		}
		out.shape = []int{out.shape[0], c / (group * group), group, group}
		param = fmt.Sprintf("psroi_pooling_param { spatial_scale: 0.5 output_dim: %d group_size: %d }", out.shape[1], group)
	}
	if !b.affords(0, out.shape) {
		return nil
	}
	b.layer(kind, []*tip{t, b.input("region", out.shape[0], 5)}, []*tip{out}, param)
	b.tips = append(b.tips, out)
	return out
}

// lossOfForks appends a loss of a fork of Caffe on a tip of n items.
func (b *builder) lossOfForks(t *tip, n, classes int, top []*tip, weight string) {
	switch k := b.r.IntN(7); {
	case k == 3 && !b.smooth:
		b.margin(t, n, top, weight)
	case k == 4 && !b.smooth && len(t.shape) == 2:
		scores := &tip{name: b.blob(), shape: t.shape}
		label := b.input(fmt.Sprintf("label%d", classes), n)
		b.layer("LabelSpecificAdd", []*tip{t, label}, []*tip{scores}, "label_specific_add_param { bias: -0.35 }")
		b.layer("SoftmaxWithLoss", []*tip{scores, label}, top, weight)
	case k == 5:
		label := b.input(fmt.Sprintf("label%d", classes), append([]int{n}, t.shape[2:]...)...)
		b.layer("SoftmaxWithLossOHEM", []*tip{t, label}, top, weight)
	case k == 6 && !b.smooth && len(t.shape) == 4:
		b.layer("SmoothL1LossOHEM", []*tip{t, b.input("gauss", t.shape...)}, top, weight)
	case k == 0:
		b.layer("CenterLoss", []*tip{t, b.input("label7", n)}, top, weight+"center_loss_param { num_output: 7 center_filler { type: \"gaussian\" std: 1 } }")
	case k == 1 && !b.smooth:
		b.layer("TripletLoss", []*tip{t, b.input("gauss", t.shape...), b.input("gauss", t.shape...)}, top, weight)
	default:
		label := b.input(fmt.Sprintf("label%d", classes), append([]int{n}, t.shape[2:]...)...)
		b.layer([]string{"FocalLoss", "SoftmaxFocalLoss"}[b.r.IntN(2)], []*tip{t, label}, top, weight)
	}
}

// margin appends a product with a margin and its loss.
func (b *builder) margin(t *tip, n int, top []*tip, weight string) {
	classes := b.integer(2, 50)
	scores := &tip{name: b.blob(), shape: []int{n, classes}}
	if work := count(t.shape) * classes; !b.affords(float64(work), scores.shape) {
		b.layer("EuclideanLoss", []*tip{t, b.input("gauss", t.shape...)}, top, weight)
		return
	}
	label := b.input(fmt.Sprintf("label%d", classes), n)
	b.layer("MarginInnerProduct", []*tip{t, label}, []*tip{scores}, fmt.Sprintf(
		"margin_inner_product_param { num_output: %d base: 3 lambda_min: 1 type: %s weight_filler { type: \"xavier\" } }", classes, []string{"SINGLE", "DOUBLE", "TRIPLE", "QUADRUPLE"}[b.r.IntN(4)]))
	b.layer("SoftmaxWithLoss", []*tip{scores, label}, top, weight)
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
