package box

// Suppressor drops boxes that overlap better ones.
type Suppressor struct {
	Threshold float32 // the largest overlap of two boxes that are kept
	// Eta, if below 1, multiplies the threshold after each box that is kept, as long as the threshold exceeds 0.5.
	Eta float32
	// Least is the area below which a box is dropped.
	Least float32

	kept []Box // scratch
}

// Suppress keeps, of boxes listed from the best on, each one that overlaps none of those kept before by more than the threshold. It returns
// the front part of order with the kept indices.
func (s *Suppressor) Suppress(order []int, box func(i int) Box) []int {
	kept, threshold := order[:0], s.Threshold
	s.kept = s.kept[:0]
next:
	for _, i := range order {
		b := box(i)
		if s.Least > 0 && b.Size() < s.Least {
			continue
		}
		for k := range s.kept {
			if threshold >= 0 && s.kept[k].apart(&b) {
				continue // an overlap of 0; most pairs are such
			}
			if !(Overlap(b, s.kept[k]) <= threshold) {
				continue next
			}
		}
		kept, s.kept = append(kept, i), append(s.kept, b)
		if s.Eta < 1 && threshold > 0.5 {
			threshold *= s.Eta
		}
	}
	return kept
}

// apart reports whether one box ends where the other begins, or before.
func (b *Box) apart(o *Box) bool {
	return b.XMax <= o.XMin || o.XMax <= b.XMin || b.YMax <= o.YMin || o.YMax <= b.YMin
}

// DropsEqual reports whether Suppress drops all boxes that equal a kept one. It keeps them if they are empty, or if the threshold is 1 or more.
func (s *Suppressor) DropsEqual(b Box) bool { return !(Overlap(b, b) <= s.Threshold) }
