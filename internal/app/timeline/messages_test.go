package timeline

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// three are the calls of three workers in two rounds, in milliseconds. In the first, worker r sends to r+1 and receives from r-1; worker 0
// calls at 0, worker 1 at 5, worker 2 at 2. In the second, worker 0 sends to 1, which is late.
func three(at func(ms int) time.Time) []Call {
	return []Call{
		{Worker: 0, To: 1, From: 2, SendBytes: 8, RecvBytes: 12, Begin: at(0), End: at(7)},
		{Worker: 1, To: 2, From: 0, SendBytes: 4, RecvBytes: 8, Begin: at(5), End: at(8)},
		{Worker: 2, To: 0, From: 1, SendBytes: 12, RecvBytes: 4, Begin: at(2), End: at(9)},
		{Worker: 0, To: 1, From: Nobody, SendBytes: 16, Sent: 1, Begin: at(8), End: at(12)},
		{Worker: 1, To: Nobody, From: 0, RecvBytes: 16, Received: 1, Begin: at(10), End: at(13)},
		{Worker: 1, To: Nobody, From: 2, RecvBytes: 16, Received: 9, Begin: at(13), End: at(14)}, // of which the sender is not known
	}
}

// shown lists the spans of a recorder's rows.
func shown(r *Recorder) string {
	var out strings.Builder
	for _, row := range r.Rows() {
		fmt.Fprintf(&out, "%s\n", row.Name)
		for _, m := range row.Marks {
			fmt.Fprintf(&out, "  %s %s %g+%g", m.Category, m.Name, m.Begin, m.Took)
			if b, ok := m.Notes["bytes"]; ok {
				fmt.Fprintf(&out, ", %v bytes", b)
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}

// TestMessages: a transfer begins with the later call and ends with the receiver's; who calls earlier waits, but not while it has another
// transfer. Worked out by hand from the calls of three.
func TestMessages(t *testing.T) {
	const want = `worker 0: sends
  message to worker 1 5+3, 8 bytes
  message to worker 1 10+3, 16 bytes
worker 0: waits
  wait for worker 1 0+2
  wait for worker 1 8+2
worker 1: sends
  message to worker 2 5+4, 4 bytes
worker 2: sends
  message to worker 0 2+5, 12 bytes
`
	var r Recorder
	base := time.Unix(50, 0)
	for _, c := range three(func(ms int) time.Time { return base.Add(time.Duration(ms) * time.Millisecond) }) {
		r.AddCall(c)
	}
	if got := shown(&r); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestParcel: what three processes with different clocks record of one exchange is, after its way as JSON, what one process would have
// recorded.
func TestParcel(t *testing.T) {
	ahead := []time.Duration{0, 3 * time.Hour, -time.Minute}
	begin := time.Now()
	var whole, first Recorder
	for worker := range 3 {
		var own Recorder
		there := begin.Add(ahead[worker])
		for k, r := range []*Recorder{&whole, &own} {
			base := []time.Time{begin, there}[k]
			at := func(ms int) time.Time { return base.Add(time.Duration(ms) * time.Millisecond) }
			r.Name(worker, fmt.Sprint("rank ", worker))
			r.Add(Span{Row: worker, Name: "conv", Category: "forward", Begin: at(-worker), Took: time.Millisecond, Notes: map[string]any{"type": "Convolution"}})
			r.Add(Span{Row: r.Lane(worker, "thread 0"), Name: "conv", Category: "forward", Begin: at(1), Took: time.Millisecond})
			for _, c := range three(at) {
				if c.Worker == worker {
					r.AddCall(c)
				}
			}
		}
		text, err := json.Marshal(own.Pack(there, there.UnixNano()))
		if err != nil {
			t.Fatal(err)
		}
		var p Parcel
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatal(err)
		}
		first.Unpack(p, ahead[worker])
	}
	if got, want := shown(&first), shown(&whole); got != want || strings.Count(want, "thread 0") != 3 {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestUses: the waits inside of the exchange are waiting, the rest of it is communication, and those beside computing count as neither.
func TestUses(t *testing.T) {
	var r Recorder
	base := time.Unix(50, 0)
	add := func(worker int, category string, from, to float64) {
		at := func(ms float64) time.Time { return base.Add(time.Duration(ms * 1e6)) }
		r.Add(Span{Row: worker, Name: category, Category: category, Begin: at(from), Took: at(to).Sub(at(from))})
	}
	for worker := range 3 {
		r.Name(worker, fmt.Sprint("rank ", worker))
		add(worker, "iteration", -10, 20)
		add(worker, "backward", -10, -1)
		add(worker, "exchange", 1, 13)
		add(worker, "update", 13, 15)
	}
	add(r.Lane(1, "thread 0"), "backward", -10, -1)
	for _, c := range three(func(ms int) time.Time { return base.Add(time.Duration(ms) * time.Millisecond) }) {
		r.AddCall(c)
	}
	got := r.Uses()
	want := []Use{
		{"rank 0", 30, 11, 3, 9, []Waited{{"rank 1", 3}}}, // of 0 to 2 and 8 to 10
		{"rank 1", 30, 11, 0, 12, []Waited{}},
		{"rank 2", 30, 11, 0, 12, []Waited{}},
	}
	same := func(a, b Use) bool {
		near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
		return a.Name == b.Name && near(a.Whole, b.Whole) && near(a.Computing, b.Computing) && near(a.Waiting, b.Waiting) && near(a.Communicating, b.Communicating) && slices.Equal(a.For, b.For)
	}
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}
