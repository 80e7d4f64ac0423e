package utility

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Flatten", Doc: "merges the axes from axis to end_axis into one",
		Couples: layers.OnAxis0(func(p *caffepb.LayerParameter) int32 { return p.GetFlattenParam().GetAxis() }, "joins the items"),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &view{Base: layers.Base{Param: p, Device: d}, shape: flattened}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
	layers.Register(layers.Type{
		Name: "Reshape", Doc: "the same values in another shape",
		Couples: reshapesItems,
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &view{Base: layers.Base{Param: p, Device: d}, shape: reshaped}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// view is Caffe's Flatten and Reshape layers. The top shares the bottom's data and diff, so that neither path moves values.
type view struct {
	layers.Base
	shape func(p *caffepb.LayerParameter, bottom *blob.Blob) ([]int, error)
	from  []int // the bottom's shape
	to    []int // the top's
	known bool  // from and to are set
}

func (l *view) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *view) Reshape(bottom, top []*blob.Blob) error {
	if !l.known || !slices.Equal(l.from, bottom[0].Shape()) {
		var err error
		if l.to, err = l.shape(l.Param, bottom[0]); err != nil {
			return err
		}
		l.from, l.known = append(l.from[:0], bottom[0].Shape()...), true
	}
	top[0].Reshape(l.to...)
	if top[0].Count() != bottom[0].Count() {
		return fmt.Errorf("output count must match input count: bottom[0] has shape %s, the top's would be %s", bottom[0].ShapeString(), top[0].ShapeString())
	}
	top[0].ShareData(bottom[0])
	top[0].ShareDiff(bottom[0])
	return nil
}

func (l *view) Forward(_, _ []*blob.Blob) error { return nil }

// Traits implements Planned. Backward does nothing.
func (l *view) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *view) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }

func flattened(p *caffepb.LayerParameter, bottom *blob.Blob) ([]int, error) {
	f := p.GetFlattenParam()
	from, ok := bottom.Axis(int(f.GetAxis()))
	to, ok2 := bottom.Axis(int(f.GetEndAxis()))
	if !ok || !ok2 || to < from {
		return nil, fmt.Errorf("axes %d to %d are out of range: bottom[0] has shape %s", f.GetAxis(), f.GetEndAxis(), bottom.ShapeString())
	}
	shape := append([]int(nil), bottom.Shape()[:from]...)
	shape = append(shape, bottom.CountRange(from, to+1))
	return append(shape, bottom.Shape()[to+1:]...), nil
}

// reshaped applies reshape_param: shape replaces num_axes axes of the bottom, from axis on (-1: all the rest). In shape, 0 copies the
// bottom's extent, and a single -1 takes the remaining extent.
func reshaped(p *caffepb.LayerParameter, bottom *blob.Blob) ([]int, error) {
	r := p.GetReshapeParam()
	axes := bottom.NumAxes()
	from := int(r.GetAxis())
	if from < 0 {
		from += axes + 1
	}
	end := axes
	if r.GetNumAxes() >= 0 {
		end = from + int(r.GetNumAxes())
	}
	if from < 0 || from > axes || end > axes || r.GetNumAxes() < -1 {
		return nil, fmt.Errorf("axis %d with num_axes %d is out of range: bottom[0] has shape %s", r.GetAxis(), r.GetNumAxes(), bottom.ShapeString())
	}
	shape := append([]int(nil), bottom.Shape()[:from]...)
	inferred := -1
	for i, d := range r.GetShape().GetDim() {
		switch {
		case d == 0 && from+i >= axes:
			return nil, fmt.Errorf("dim %d of the shape copies axis %d, bottom[0] has shape %s", i, from+i, bottom.ShapeString())
		case d == 0:
			shape = append(shape, bottom.Dim(from+i))
		case d == -1 && inferred >= 0:
			return nil, fmt.Errorf("dims %d and %d of the shape are both -1; at most one may be", inferred-from, i)
		case d == -1:
			inferred = len(shape)
			shape = append(shape, 1)
		case d < 0 || d > blob.MaxCount:
			return nil, fmt.Errorf("dim %d of the shape is %d; it must be -1 to %d", i, d, blob.MaxCount)
		default:
			shape = append(shape, int(d))
		}
	}
	shape = append(shape, bottom.Shape()[end:]...)
	if inferred >= 0 {
		rest := blob.CountOf(shape...)
		if rest == 0 || bottom.Count()%rest != 0 {
			return nil, fmt.Errorf("bottom count (%d) must be divisible by the product of the specified dimensions (%d)", bottom.Count(), rest)
		}
		shape[inferred] = bottom.Count() / rest
	}
	return shape, nil
}

// reshapesItems is the rule of Reshape: items stay where they are if axis 0 is kept, by dim 0 or by a later axis, or if the values of an item
// fill the other dimensions.
func reshapesItems(p *caffepb.LayerParameter, bottoms [][]int) layers.Coupling {
	r := p.GetReshapeParam()
	dims := r.GetShape().GetDim()
	if axis := int(r.GetAxis()); axis > 0 || axis < 0 && axis != -len(bottoms[0])-1 || len(dims) > 0 && dims[0] == 0 {
		return layers.Coupling{}
	}
	item := 1
	for _, n := range bottoms[0][1:] {
		item *= n
	}
	if len(dims) > 0 && dims[0] == -1 && r.GetNumAxes() == -1 {
		for k, n := range dims[1:] {
			if n == 0 && k+1 < len(bottoms[0]) {
				n = int64(bottoms[0][k+1])
			}
			item /= max(1, int(n))
		}
		if item == 1 {
			return layers.Coupling{}
		}
	}
	return layers.Coupling{Kind: layers.Moves, Why: "gives axis 0 an extent of its own: it should be dim: 0, which keeps the items"}
}
