package blob

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/pages"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// ProtoShape returns the shape in a BlobProto: its shape field, or Caffe's old num, channels, height and width if one of them is set.
func ProtoShape(p *caffepb.BlobProto) []int {
	if p.Num != nil || p.Channels != nil || p.Height != nil || p.Width != nil {
		return []int{int(p.GetNum()), int(p.GetChannels()), int(p.GetHeight()), int(p.GetWidth())}
	}
	var shape []int
	for _, d := range p.GetShape().GetDim() {
		shape = append(shape, int(d))
	}
	return shape
}

// FromProto sets b's shape, data and, if present, diff to those of p. Values may be floats or doubles. It returns an error if the number of
// values does not match the shape.
func (b *Blob) FromProto(p *caffepb.BlobProto) error {
	if err := checkCounts(p, nil); err != nil {
		return err
	}
	b.Reshape(ProtoShape(p)...)
	var all *swproto.Stored
	if _, diffs := all.Counts(p); diffs > 0 {
		if err := all.Diff(p, b.Diff()); err != nil {
			return err
		}
	}
	return all.Data(p, b.Data())
}

// Load reads the values of p into b. b has the shape of p (SameShape) and keeps its own number of axes. from holds the values that are not
// in p. Load returns an error if the values cannot be read, or if their number does not match the shape; in the latter case b is unchanged.
func (b *Blob) Load(p *caffepb.BlobProto, from *swproto.Stored) error {
	if err := checkCounts(p, from); err != nil {
		return err
	}
	values := b.Hold(false)
	defer b.Free()
	b.data.version++
	return from.Data(p, values)
}

// LoadLater is Load, but values that are still in a file are read when somebody looks at them, if nobody has a slice of the present ones. If they cannot be read
// then, that is a panic with a pages.Unreadable, which the net turns into an error.
func (b *Blob) LoadLater(p *caffepb.BlobProto, from *swproto.Stored) error {
	if err := checkCounts(p, from); err != nil {
		return err
	}
	if from.Far(p) && b.storageOf(&b.data).await(b.Count(), &inFile{p, from}) {
		from.Keep()
		return nil
	}
	return b.Load(p, from)
}

// inFile restores values that are in a file.
type inFile struct {
	p    *caffepb.BlobProto
	from *swproto.Stored
}

// Restore implements Restorer.
func (f *inFile) Restore(values []float32) {
	if err := f.from.Data(f.p, values); err != nil {
		panic(&pages.Unreadable{Err: err})
	}
}

// part reads some of the values.
func (f *inFile) part(dst []float32, first int) error {
	if err := f.from.Part(f.p, dst, first); err != nil {
		return &pages.Unreadable{Err: err}
	}
	return nil
}

// end says that the file is not needed any more.
func (f *inFile) end() { _ = f.from.Close() } // it was only read

// checkCounts returns an error unless p has as many values as its shape needs, and as many gradients or none.
func checkCounts(p *caffepb.BlobProto, from *swproto.Stored) error {
	shape := ProtoShape(p)
	count := 1
	for i, d := range shape {
		if d < 0 || d > 0 && count > min(1<<40, math.MaxInt)/d {
			return fmt.Errorf("axis %d of the stored shape %v is out of range", i, shape)
		}
		count *= d
	}
	if err := from.CheckScales(p); err != nil {
		return err
	}
	data, diff := from.Counts(p)
	if data != count {
		return fmt.Errorf("%d values are stored for shape %v, which needs %d", data, shape, count)
	}
	if diff > 0 && diff != count {
		return fmt.Errorf("%d gradients are stored for shape %v, which needs %d", diff, shape, count)
	}
	return nil
}

// ToProto returns b's shape, its data and, with withDiff, its diff in Caffe's format. The values are b's own slices, not copies, for callers
// that only read them.
func (b *Blob) ToProto(withDiff bool) *caffepb.BlobProto {
	p := &caffepb.BlobProto{Shape: &caffepb.BlobShape{}, Data: b.Values()}
	for _, d := range b.shape {
		p.Shape.Dim = append(p.Shape.Dim, int64(d))
	}
	if withDiff {
		p.Diff = b.Diff()
	}
	return p
}

// SameShape reports whether b has the shape of p. As in Caffe, leading axes of extent 1 do not matter if p has the old four-axis form.
func (b *Blob) SameShape(p *caffepb.BlobProto) bool {
	shape := ProtoShape(p)
	if p.Num != nil || p.Channels != nil || p.Height != nil || p.Width != nil {
		if len(b.shape) > 4 {
			return false
		}
		for i := 1; i <= 4; i++ {
			own := 1
			if i <= len(b.shape) {
				own = b.shape[len(b.shape)-i]
			}
			if shape[4-i] != own {
				return false
			}
		}
		return true
	}
	return slices.Equal(shape, b.shape)
}
