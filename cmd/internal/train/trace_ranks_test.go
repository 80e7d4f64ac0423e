package train

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/timeline"
	"github.com/swcaffe/swcaffe/topology"
)

// pigeon is a mail between goroutines.
type pigeon struct {
	rank  int
	boxes [][]chan []byte // [from][to]
}

func (p pigeon) Rank() int { return p.rank }
func (p pigeon) Size() int { return len(p.boxes) }

func (p pigeon) Post(to int, text []byte) error {
	p.boxes[p.rank][to] <- text
	return nil
}

func (p pigeon) Fetch(from int) ([]byte, bool, error) {
	select {
	case text := <-p.boxes[from][p.rank]:
		return text, true, nil
	default:
		return nil, false, nil
	}
}

// TestRanks: a capture has the parts of all processes that take part, on the first one's clock, though another's is an hour ahead; and it names
// the one that does not take part.
func TestRanks(t *testing.T) {
	const processes, absent = 3, 2
	boxes := make([][]chan []byte, processes)
	for i := range boxes {
		for range processes {
			boxes[i] = append(boxes[i], make(chan []byte, 1000))
		}
	}
	tracers, ends := make([]*tracer, absent), make([]func(error), absent)
	for rank := absent - 1; rank >= 0; rank-- { // the others say hello before the first one needs them
		tracers[rank] = &tracer{first: rank, latest: -1, taps: map[int]*tap{}}
		ends[rank] = tracers[rank].connect(pigeon{rank, boxes})
		tracers[rank].join(&row{rank: rank, name: []string{"worker 0", "worker 1"}[rank]})
	}
	tracers[1].ranks.clock = func() int64 { return time.Now().Add(time.Hour).UnixNano() }
	done := make(chan struct{})
	first := &capture{from: -1, count: 1, done: func() { close(done) }}
	tracers[0].open(first)
	begin := time.Now()
	for rank, tr := range tracers {
		list := tr.begun(7)
		if len(list) != 1 {
			t.Fatalf("process %d records %d captures", rank, len(list))
		}
		c := list[0]
		c.recorder.Add(timeline.Span{Row: rank, Name: "conv", Category: "forward", Begin: begin.Add(time.Duration(rank) * time.Second), Took: time.Second})
		c.modelled.Add(timeline.Span{Row: rank, Name: "conv", Category: "forward", Begin: atSeconds(float64(5 + rank)), Took: time.Second})
		c.recorder.AddCall(timeline.Call{
			Worker: rank, To: []int{1, topology.None}[rank], From: []int{topology.None, 0}[rank], SendBytes: 4, RecvBytes: 4, Begin: begin.Add(2 * time.Second), End: begin.Add(3 * time.Second),
		})
		tr.ended(c, tr.rows[0], 7)
	}
	go ends[1](nil)
	<-done
	ends[0](nil)
	rows := map[string][]timeline.Mark{}
	for _, r := range first.recorder.Rows() {
		rows[r.Name] = r.Marks
	}
	first.note = regexp.MustCompile(`(1h0m0(\.\d+)?|59m59\.\d+)s`).ReplaceAllString(first.note, "1h0m0s")
	const doubt = 100 // milliseconds, by a busy machine
	if m := rows["worker 1"]; len(m) != 1 || m[0].Begin < 1000-doubt || m[0].Begin > 1000+doubt {
		t.Errorf("worker 1 has %+v, want a span from 1000 ms on", m)
	}
	if m := rows["worker 0: sends"]; len(m) != 1 || m[0].Name != "to worker 1" || m[0].Begin < 2000-doubt || m[0].Begin > 2000+doubt {
		t.Errorf("worker 0 sends %+v, want a message from 2000 ms on", m)
	}
	if m := first.modelled.Rows(); len(m) != 2 || m[1].Marks[0].Begin != 1000 {
		t.Errorf("the modelled rows are %+v", m)
	}
	for _, want := range []string{"The clocks of the processes differed by up to 1h0m0s; this is corrected to within ", "Nothing has come from rank 2: give all processes the same flags."} {
		if !strings.Contains(first.note, want) {
			t.Errorf("the note is %q, want %q", first.note, want)
		}
	}
}
