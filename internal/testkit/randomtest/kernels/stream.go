package kernels

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// streamForm is a kernel that passes over arrays once: a Stream with an Op from this package, moves of rows (Copy, Rows), or the
// columns of a convolution (Columns).
//
// A Stream's Op computes v = sum over inputs j of (j+1) * in[j] for every element. A Full output k gets (k+1)*v or, with Near,
// (k+1) times the sum of v and the preceding mid's v. A Plane output gets the sum of v over mid, and sum s adds (s+1)*v.
type streamForm struct {
	Entry                      string `of:"stream,copy,rows,columns"`
	Outer, Mid, Inner          int
	Full, Plane, Row           int // numbers of inputs; for columns: kernel, padding, stride
	FullOut, PlaneOut, Sums    int // numbers of outputs; for rows, FullOut is the number of rows
	InPlace, WholeMid, ByMid   bool
	Back, Near, InLanes, Extra bool // Extra: scratch arrays; Back, for rows and columns: the reverse direction
	Gap                        int  // gap between the rows of a Copy
	Add                        bool
	common
}

func drawStream(r *rand.Rand) form {
	s := &streamForm{common: drawCommon(r, 0.15), Entry: pick(r, "stream", "stream", "stream", "copy", "copy", "rows", "columns")}
	s.Outer, s.Mid, s.Inner = extent(r, 200), extent(r, 2000), extent(r, 5000)
	for most := min(work(r, s.native())/2, 1_000_000); s.Outer*s.Mid*s.Inner > most; {
		n := pick(r, &s.Outer, &s.Mid, &s.Inner)
		*n = (*n*2 + 2) / 3
	}
	if r.IntN(30) == 0 {
		*pick(r, &s.Outer, &s.Mid, &s.Inner) = 0
	}
	s.Full, s.Plane, s.Row = 1+r.IntN(3), r.IntN(2), r.IntN(3)
	s.FullOut, s.PlaneOut, s.Sums = r.IntN(3), r.IntN(5)/4, r.IntN(3)
	s.InPlace, s.WholeMid, s.ByMid = r.IntN(4) == 0, r.IntN(4) == 0, r.IntN(4) == 0
	s.Back, s.Near, s.InLanes, s.Extra = r.IntN(3) == 0, r.IntN(4) == 0, r.IntN(4) == 0, r.IntN(2) == 0
	s.Gap, s.Add = r.IntN(3)*r.IntN(40), r.IntN(2) == 0
	if s.Entry == "columns" {
		s.Model = ""
	}
	s.tidy()
	return s
}

// tidy repairs contradictory options.
func (s *streamForm) tidy() bool {
	if s.Entry == "columns" {
		return s.native()
	}
	if s.Entry != "stream" {
		return true
	}
	if s.PlaneOut > 0 {
		s.WholeMid = true
	}
	if s.Near {
		s.WholeMid = true
	}
	if s.WholeMid {
		s.ByMid = false // its tiles hold only some mids
	}
	if s.InLanes && s.Inner%lanes != 0 {
		s.InLanes = false
	}
	if s.PlaneOut > 0 {
		s.Mid = max(1, s.Mid) // without mids, no tile writes a plane
	}
	if s.InPlace {
		s.FullOut = max(1, s.FullOut)
		s.Near = false
	}
	return s.Full > 0
}

func (s *streamForm) job() (*job, error) {
	r := rand.New(rand.NewPCG(s.Seed, 1))
	switch s.Entry {
	case "copy":
		return s.copyJob(r), nil
	case "rows":
		return s.rowsJob(r), nil
	case "columns":
		return s.columnsJob(r), nil
	}
	if min(s.Outer, s.Mid, s.Inner) < 0 {
		return nil, fmt.Errorf("extents are negative")
	}
	j := &streamJob{streamForm: s, all: s.Outer * s.Mid * s.Inner}
	j.prepare(r)
	j.sums = &array{name: "sums", n: 2 * s.Sums * s.Mid * s.laneCount(), written: true}
	arrays := append(slices.Clone(j.ins), j.outs[j.inPlace():]...)
	return &job{arrays: append(arrays, j.sums), build: j.build, judge: j.judge}, nil
}
