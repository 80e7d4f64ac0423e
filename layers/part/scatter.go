package part

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
)

// Scatter moves the values of planes to places within larger planes, on either path. Places are indices stored as floats, as a Pooling layer's
// second top has them. If several values have one place, the last wins.
type Scatter struct {
	planes, small, large int
	cut                  [2]int        // how many values of a large and of a small plane a unit has
	put, take            *stream.Units // nil on the MPE path
	to, from, places     []float32
}

// Reshape prepares for planes of small values that move to planes of large values.
func (s *Scatter) Reshape(b *layers.Base, planes, small, large int) {
	if s.planes == planes && s.small == small && s.large == large {
		return
	}
	s.planes, s.small, s.large = planes, small, large
	if b.MPE() {
		return
	}
	m := b.Device.Machine
	limit := stream.UnitLimit(m) / 4
	s.cut = [2]int{max(1, min(large, limit)), max(1, min(small, limit))}
	s.put = stream.NewUnits(m, "scatter", planes*((large+s.cut[0]-1)/s.cut[0]), planes*large, s.putUnit)
	s.take = stream.NewUnits(m, "gather", planes*((small+s.cut[1]-1)/s.cut[1]), planes*small, s.takeUnit)
}

// place returns the place in index i, or an error if it is outside the large plane.
func (s *Scatter) place(i int) (int, error) {
	if v := s.places[i]; v >= 0 && v < float32(s.large) {
		return int(v), nil
	}
	return 0, layers.WrongValue("index %g of value %d is out of range: the top's planes have %d values; does the mask belong to a plane of this size?", s.places[i], i, s.large)
}

// putUnit writes a part of a large plane. It reads the whole small plane piece by piece.
func (s *Scatter) putUnit(w *stream.UnitWorker, unit int) {
	parts := (s.large + s.cut[0] - 1) / s.cut[0]
	plane, first := unit/parts, unit%parts*s.cut[0]
	n := min(s.cut[0], s.large-first)
	dst, _ := w.Place(stream.Span(s.to, plane*s.large+first, n))
	values, places := w.Buffer(s.cut[1]), w.Buffer(s.cut[1])
	if w.Values() {
		clear(dst[:n])
	}
	for at := 0; at < s.small; at += s.cut[1] {
		i, count := plane*s.small+at, min(s.cut[1], s.small-at)
		x, _ := w.Fetch(values, stream.Span(s.from, i, count))
		w.Fetch(places, stream.Span(s.places, i, count))
		w.Cost(2*count, 0)
		if !w.Values() {
			continue
		}
		for k, v := range x[:count] {
			p, err := s.place(i + k)
			if err != nil {
				w.Fail(err)
				return
			}
			if p -= first; p >= 0 && p < n {
				dst[p] = v
			}
		}
	}
}

// takeUnit writes a part of a small plane. It reads the whole large plane piece by piece.
func (s *Scatter) takeUnit(w *stream.UnitWorker, unit int) {
	parts := (s.small + s.cut[1] - 1) / s.cut[1]
	plane, first := unit/parts, unit%parts*s.cut[1]
	n := min(s.cut[1], s.small-first)
	dst, _ := w.Place(stream.Span(s.to, plane*s.small+first, n))
	w.Load(stream.Span(s.places, plane*s.small+first, n))
	values := w.Buffer(s.cut[0])
	for at := 0; at < s.large; at += s.cut[0] {
		count := min(s.cut[0], s.large-at)
		x, _ := w.Fetch(values, stream.Span(s.from, plane*s.large+at, count))
		w.Cost(2*n, 0)
		if !w.Values() {
			continue
		}
		for k := range dst[:n] {
			p, err := s.place(plane*s.small + first + k)
			if err != nil {
				w.Fail(err)
				return
			}
			if p -= at; p >= 0 && p < count {
				dst[k] = x[p]
			}
		}
	}
}

// Put clears the large planes and moves the small planes' values to their places.
func (s *Scatter) Put(large, small, places []float32) error {
	s.to, s.from, s.places = large, small, places
	if s.put != nil {
		return s.put.Run()
	}
	clear(large)
	for i, v := range small {
		p, err := s.place(i)
		if err != nil {
			return err
		}
		large[i/s.small*s.large+p] = v
	}
	return nil
}

// Take sets the small planes' values to those at their places in the large planes.
func (s *Scatter) Take(small, large, places []float32) error {
	s.to, s.from, s.places = small, large, places
	if s.take != nil {
		return s.take.Run()
	}
	for i := range small {
		p, err := s.place(i)
		if err != nil {
			return err
		}
		small[i] = large[i/s.small*s.large+p]
	}
	return nil
}
