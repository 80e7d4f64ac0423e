package loss

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "BoxAnnotatorOHEM", Doc: "labels and box weights of the regions with the largest losses of each image; other regions are ignored",
		Couples: layers.Always(layers.Differs, "chooses the hardest among the items of each worker, not of the whole batch"), NamedRows: []int{0},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &boxAnnotatorOHEM{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(4), Tops: layers.Exactly(2), NoGradient: true,
	})
}

// boxAnnotatorOHEM is the BoxAnnotatorOHEM layer of R-FCN, which mines hard examples online (Shrivastava et al. 2016). Bottoms are regions
// (rows of image, x1, y1, x2, y2), their losses, their labels, and the weights of their box values. Of each image, the roi_per_img regions
// with the largest losses keep label and weights. The others get ignore_label and weights 0. Of equal losses the first counts as larger.
type boxAnnotatorOHEM struct {
	layers.Base
	perImage int
	ignored  float32
	dims     [3]int // of the weights: items x values x pixels

	order []int
	left  []int // regions that an image may still keep
	keeps []float32
	mask  *stream.Kernel
	ins   [3][]float32
	outs  [2][]float32
}

func (l *boxAnnotatorOHEM) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetBoxAnnotatorOhemParam()
	l.perImage, l.ignored = int(p.GetRoiPerImg()), float32(p.GetIgnoreLabel())
	if l.perImage < 1 {
		return fmt.Errorf("roi_per_img must be set and positive, it is %d", l.perImage)
	}
	return nil
}

func (l *boxAnnotatorOHEM) Reshape(bottom, top []*blob.Blob) error {
	items, h, w := bottom[0].Legacy(0), bottom[0].Legacy(2), bottom[0].Legacy(3)
	for i, channels := range []int{5, 1, 1, bottom[3].Legacy(1)} {
		if b := bottom[i]; b.Legacy(0) != items || b.Legacy(1) != channels || b.Legacy(2) != h || b.Legacy(3) != w {
			return fmt.Errorf("bottom[%d] must have shape %d x %d x %d x %d, its shape is %s", i, items, channels, h, w, b.ShapeString())
		}
	}
	dims := [3]int{items, bottom[3].Legacy(1), h * w}
	if dims[1] == 0 && items*h*w > 0 {
		return fmt.Errorf("bottom[3] must have weights for each of %d regions, its shape is %s", items*h*w, bottom[3].ShapeString())
	}
	top[0].Reshape(items, 1, h, w)
	top[1].Reshape(items, dims[1], h, w)
	if l.dims == dims {
		return nil
	}
	l.dims = dims
	l.order, l.keeps = pages.Make[int](items*h*w), pages.Make[float32](items*h*w)
	if l.MPE() {
		return nil
	}
	streams := part.StreamsOf(&l.Base)
	l.mask = streams.Make(stream.Pass{
		Name: "BoxAnnotatorOHEM", Dims: dims, WholeMid: true, Ins: part.Arrays(1, stream.Plane, stream.Plane), Outs: part.Arrays(1, stream.Plane), Cost: stream.Work{Flops: 1},
		Op: func(t *stream.Tile) {
			for o := range t.O {
				for i := range t.I {
					l.annotate(t.Out[0][o*t.OStride+i:], t.In[0][o*t.OStride+i:], t.MStride, &t.Out[1][o*t.PStride+i], t.In[1][o*t.PStride+i], t.In[2][o*t.PStride+i] != 0)
				}
			}
		},
	})
	return streams.Err
}

// annotate writes the label and the weights of a region. Its weights are a stride apart.
func (l *boxAnnotatorOHEM) annotate(to, from []float32, stride int, label *float32, given float32, keep bool) {
	if *label = l.ignored; keep {
		*label = given
	}
	for m := range l.dims[1] {
		if to[m*stride] = 0; keep {
			to[m*stride] = from[m*stride]
		}
	}
}

// choose marks the regions that are kept.
func (l *boxAnnotatorOHEM) choose(regions, losses []float32) error {
	clear(l.keeps)
	pixels, images := l.dims[2], 0
	image := func(i int) float32 { return regions[i/pixels*5*pixels+i%pixels] }
	for i := range l.order {
		l.order[i] = i
		v := image(i)
		if !(v >= 0 && v < float32(len(l.order))) {
			return layers.WrongValue("region %d is of image %g, but %d regions are of at most as many images", i, v, len(l.order))
		}
		images = max(images, int(v)+1)
	}
	l.left = l.left[:0]
	for range images {
		l.left = append(l.left, l.perImage)
	}
	slices.SortFunc(l.order, func(a, b int) int {
		if c := cmp.Compare(losses[b], losses[a]); c != 0 {
			return c
		}
		return a - b
	})
	for _, i := range l.order {
		if n := &l.left[int(image(i))]; *n > 0 {
			*n--
			l.keeps[i] = 1
		}
	}
	return nil
}

func (l *boxAnnotatorOHEM) Forward(bottom, top []*blob.Blob) error {
	if l.Device.Machine.Values() {
		if err := l.choose(bottom[0].Data(), bottom[1].Data()); err != nil {
			return err
		}
	}
	labels, weights := bottom[2].Data(), bottom[3].Data()
	newLabels, newWeights := top[0].Data(), top[1].Data()
	if !l.MPE() {
		l.ins, l.outs = [3][]float32{weights, labels, l.keeps}, [2][]float32{newWeights, newLabels}
		return l.mask.Run(l.ins[:], l.outs[:])
	}
	for i, keep := range l.keeps {
		at := i/l.dims[2]*l.dims[1]*l.dims[2] + i%l.dims[2]
		l.annotate(newWeights[at:], weights[at:], l.dims[2], &newLabels[i], labels[i], keep != 0)
	}
	return nil
}

// Traits implements Planned.
func (l *boxAnnotatorOHEM) Traits() layers.Traits {
	return layers.Traits{Unread: layers.ReadsNothing}
}

func (l *boxAnnotatorOHEM) Backward([]*blob.Blob, []bool, []*blob.Blob) error { return l.NoGradient() }
