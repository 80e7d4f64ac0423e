package detect

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/rank"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Proposal", Doc: "regions that the scores and steps of anchors propose; a second top gets their scores",
		Couples: layers.Always(layers.Rows, ""),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &proposal{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(3), Tops: layers.Between(1, 2), NoGradient: true, ZeroGradient: true,
	})
}

// proposal is the Proposal layer of Faster R-CNN (Ren et al. 2015). Bottoms are the scores of A anchors at each pixel (images x 2A x H x W,
// the first A channels being those of the background), their steps (images x 4A x H x W), and for each image a row of height, width and scale,
// or scales. The top has a row of image, x1, y1, x2, y2 for each region, ordered by image and score.
//
// Of each image the pre_nms_topn best boxes take part in the suppression, which keeps post_nms_topn at most. Boxes smaller than min_size are
// dropped, as in Faster R-CNN; PVANet's layer keeps them with a score of 0 behind all others. Of boxes with equal scores, the earlier pixel's and
// anchor's comes first. Reshape makes room for the largest number of regions; Forward shapes the top as the data want it.
type proposal struct {
	layers.Base
	p       *caffepb.ProposalParameter
	anchors [][4]float32
	dims    [3]int // images, H and W

	boxes, best, regions *blob.Blob // rows of x1, y1, x2, y2 and score: all, the best of an image, and the regions of each image
	keys                 []rank.Key // of an image's boxes
	order                []int      // of its best boxes, the best one first
	counts               []int      // regions of each image
	before               int        // boxes of an image before suppression

	rows             part.RowMover
	decode, suppress *stream.Units
	cut              int // pixels of a unit of decode
	image            int // of suppress
	shape            []int

	// The arrays of a Forward. A blob's Data may allocate, so that the units must not call it.
	scores, steps, info     []float32
	boxData, bestData, kept []float32
}

const boxValues = 5

func (l *proposal) SetUp(_, _ []*blob.Blob) error {
	l.p = l.Param.GetProposalParam()
	for _, r := range slices.Concat(l.p.GetRatio(), l.p.GetScale()) {
		if !(r > 0) || math.IsInf(float64(r), 0) {
			return fmt.Errorf("ratio and scale must be positive, one of them is %g", r)
		}
	}
	for _, f := range []struct {
		name  string
		value uint32
	}{{"feat_stride", l.p.GetFeatStride()}, {"base_size", l.p.GetBaseSize()}, {"pre_nms_topn", l.p.GetPreNmsTopn()}, {"post_nms_topn", l.p.GetPostNmsTopn()}} {
		if f.value < 1 || f.value > blob.MaxCount {
			return fmt.Errorf("%s must be positive and at most %d, it is %d", f.name, blob.MaxCount, f.value)
		}
	}
	l.anchors = box.Anchors(int(l.p.GetBaseSize()), l.p.GetRatio(), l.p.GetScale())
	l.boxes, l.best, l.regions = l.Device.NewBlob(0), l.Device.NewBlob(0), l.Device.NewBlob(0)
	return nil
}

func (l *proposal) Reshape(bottom, top []*blob.Blob) error {
	scores, steps, info, a := bottom[0], bottom[1], bottom[2], len(l.anchors)
	if err := part.CheckImages(scores); err != nil {
		return err
	}
	dims := [3]int{scores.Dim(0), scores.Dim(2), scores.Dim(3)}
	if scores.Dim(1) != 2*a {
		return fmt.Errorf("bottom[0] must have 2 channels for each of %d anchors, its shape is %s", a, scores.ShapeString())
	}
	if steps.NumAxes() != 4 || steps.Dim(0) != dims[0] || steps.Dim(1) != 4*a || steps.Dim(2) != dims[1] || steps.Dim(3) != dims[2] {
		return fmt.Errorf("bottom[1] must have 4 channels for each of %d anchors and the pixels of bottom[0]: its shape is %s, that of bottom[0] %s", a, steps.ShapeString(), scores.ShapeString())
	}
	if info.Count() < 3*dims[0] || dims[0] > 0 && info.Count()%dims[0] != 0 {
		return fmt.Errorf("bottom[2] must have height, width and scale for each of %d images, its shape is %s", dims[0], info.ShapeString())
	}
	n := a * dims[1] * dims[2]
	l.before = min(n, int(l.p.GetPreNmsTopn()))
	l.shape = append(l.shape[:0], dims[0], n, boxValues)
	if err := l.Device.CheckShape("the boxes", l.shape); err != nil {
		return err
	}
	l.shapeTops(top, dims[0]*l.most())
	if l.dims == dims {
		return nil
	}
	l.dims = dims
	l.boxes.Reshape(dims[0], n, boxValues)
	l.best.Reshape(l.before, boxValues)
	l.regions.Reshape(dims[0], l.most(), boxValues)
	l.keys, l.order, l.counts = pages.Make[rank.Key](n), pages.Make[int](l.before), make([]int, dims[0])
	if err := l.rows.Reshape(&l.Base, n, boxValues); err != nil || l.MPE() {
		return err
	}
	l.prepare(n)
	return nil
}

// most returns the largest number of regions of an image.
func (l *proposal) most() int { return min(l.before, int(l.p.GetPostNmsTopn())) }

func (l *proposal) shapeTops(top []*blob.Blob, regions int) {
	top[0].Reshape(regions, roiValues)
	if len(top) > 1 {
		top[1].Reshape(regions)
	}
}

// prepare makes the kernels for n boxes of an image. A unit of decode is a run of pixels of an image, that of suppress is an image.
func (l *proposal) prepare(n int) {
	m, a, pixels := l.Device.Machine, len(l.anchors), l.dims[1]*l.dims[2]
	l.cut = max(1, min(stream.UnitLimit(m)/(10*a), pixels, 256))
	l.decode = stream.NewUnits(m, "Proposal boxes", l.dims[0]*((pixels+l.cut-1)/l.cut), l.dims[0]*n*boxValues, l.decodeRun)
	l.suppress = stream.NewUnits(m, "Proposal suppression", 1, l.before*boxValues, l.suppressImage)
}

// decodeRun computes the boxes of a run of pixels.
func (l *proposal) decodeRun(w *stream.UnitWorker, unit int) {
	a, pixels := len(l.anchors), l.dims[1]*l.dims[2]
	runs := (pixels + l.cut - 1) / l.cut
	image, first := unit/runs, unit%runs*l.cut
	n := min(l.cut, pixels-first)
	scores, scoreStride := w.Load(stream.Rect(l.scores, (image*2+1)*a*pixels+first, a, pixels, n))
	steps, stepStride := w.Load(stream.Rect(l.steps, image*4*a*pixels+first, 4*a, pixels, n))
	boxes, _ := w.Place(stream.Span(l.boxData, (image*pixels+first)*a*boxValues, n*a*boxValues))
	w.Cost(n*a*24, n*a*2)
	if w.Values() {
		l.decodePixels(boxes, scores, steps, scoreStride, stepStride, image, first, n)
	}
}

// decodePixels computes the boxes of n pixels from a first one on.
func (l *proposal) decodePixels(boxes, scores, steps []float32, scoreStride, stepStride, image, first, n int) {
	a, stride := len(l.anchors), int(l.p.GetFeatStride())
	info, least := l.infoOf(image), float32(l.p.GetMinSize())
	for i := range n {
		x, y := float32((first+i)%l.dims[2]*stride), float32((first+i)/l.dims[2]*stride)
		for k, anchor := range l.anchors {
			step := func(j int) float32 { return steps[(4*k+j)*stepStride+i] }
			at := [4]float32{anchor[0] + x, anchor[1] + y, anchor[2] + x, anchor[3] + y}
			propose(boxes[(i*a+k)*boxValues:][:boxValues], at, step(0), step(1), step(2), step(3), scores[k*scoreStride+i], info, least)
		}
	}
}

func (l *proposal) infoOf(image int) imageInfo {
	n := len(l.info) / l.dims[0]
	return infoOf(l.info[image*n:][:n])
}

// suppressRun is the number of boxes that suppressImage loads at a time.
const suppressRun = 256

// suppressImage keeps the boxes of an image, listed from the best on, that overlap no kept one.
func (l *proposal) suppressImage(w *stream.UnitWorker, _ int) {
	kept, _ := w.Place(stream.Span(l.kept, l.image*l.most()*boxValues, l.most()*boxValues))
	buffer, count := w.Buffer(suppressRun*boxValues), 0
	for first := 0; first < l.before; first += suppressRun {
		n := min(suppressRun, l.before-first)
		run, _ := w.Fetch(buffer, stream.Span(l.bestData, first*boxValues, n*boxValues))
		w.Cost(n*l.most()*12, 0)
		if w.Values() {
			count = l.keep(kept, count, run[:n*boxValues])
		}
	}
	l.counts[l.image] = count
}

// keep adds boxes to those kept, count so far, and returns their number.
func (l *proposal) keep(kept []float32, count int, boxes []float32) int {
	limit, most := l.p.GetNmsThresh(), l.most()
next:
	for ; len(boxes) > 0 && count < most; boxes = boxes[boxValues:] {
		if math.IsInf(float64(boxes[4]), -1) {
			continue
		}
		for k := range count {
			if !(overlapOf(boxes, kept[k*boxValues:]) <= limit) {
				continue next
			}
		}
		copy(kept[count*boxValues:], boxes[:boxValues])
		count++
	}
	return count
}

// sort orders the best of an image's boxes by falling score. The management core does it, which is not charged.
func (l *proposal) sort(boxes []float32) {
	for i := range l.keys {
		l.keys[i] = rank.KeyOf(boxes[i*boxValues+4], i)
	}
	for i, k := range rank.First(l.keys, l.before) {
		l.order[i] = k.Index()
	}
}

func (l *proposal) Forward(bottom, top []*blob.Blob) error {
	l.scores, l.steps, l.info = bottom[0].Data(), bottom[1].Data(), bottom[2].Data()
	l.boxData, l.bestData, l.kept = l.boxes.Data(), l.best.Data(), l.regions.Data()
	if err := l.decodeAll(); err != nil {
		return err
	}
	n, regions := len(l.keys)*boxValues, 0
	for l.image = range l.dims[0] {
		boxes := l.boxData[l.image*n:][:n]
		if l.Device.Machine.Values() {
			l.sort(boxes)
		}
		if err := l.rows.Gather(l.bestData, boxes, l.order); err != nil {
			return err
		}
		if l.MPE() {
			l.counts[l.image] = l.keep(l.kept[l.image*l.most()*boxValues:], 0, l.bestData)
		} else if err := l.suppress.Run(); err != nil {
			return err
		}
		regions += l.counts[l.image]
	}
	if l.Device.Machine.Values() {
		l.shapeTops(top, regions)
		l.write(top)
	}
	return nil
}

// decodeAll computes all boxes.
func (l *proposal) decodeAll() error {
	if l.decode != nil {
		return l.decode.Run()
	}
	a, pixels := len(l.anchors), l.dims[1]*l.dims[2]
	for image := range l.dims[0] {
		l.decodePixels(l.boxData[image*pixels*a*boxValues:], l.scores[(image*2+1)*a*pixels:], l.steps[image*4*a*pixels:], pixels, pixels, image, 0, pixels)
	}
	return nil
}

// write writes the regions of all images, and their scores.
func (l *proposal) write(top []*blob.Blob) {
	rois, at := top[0].Data(), 0
	for image, count := range l.counts {
		for k := range count {
			row := l.kept[(image*l.most()+k)*boxValues:]
			rois[at*roiValues] = float32(image)
			copy(rois[at*roiValues+1:], row[:4])
			if len(top) > 1 {
				top[1].Data()[at] = row[4]
			}
			at++
		}
	}
}

// Traits implements Planned.
func (l *proposal) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

// Backward writes zeros: regions count as constants. The scores and steps of a training net have losses of their own.
func (l *proposal) Backward(_ []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	for i, b := range bottom {
		if propagateDown[i] && l.Device.Machine.Values() {
			clear(b.Diff())
		}
	}
	return nil
}
