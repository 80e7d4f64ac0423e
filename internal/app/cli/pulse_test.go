package cli

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/statusline/screentest"
)

// TestPulse: after a second without output, a terminal shows that work continues; the next line replaces this.
func TestPulse(t *testing.T) {
	var out bytes.Buffer
	p := &pulse{to: &out, last: time.Now()}
	at := p.last
	p.beat(at.Add(silence / 2))
	if out.Len() != 0 {
		t.Errorf("after half a second it shows %q", out.String())
	}
	p.beat(at.Add(3 * silence))
	p.Solving(true, 3, 100)
	p.beat(at.Add(4 * silence))
	p.Solving(false, 7, 10000)
	p.beat(at.Add(5 * silence))
	p.hold(true)
	p.beat(at.Add(6 * silence))
	p.hold(false)
	if _, err := p.Write([]byte("line\n")); err != nil {
		t.Fatal(err)
	}
	p.printed()
	const start = "\r\033[K"
	want := start + "working (3 s since the last line)" + start + "Testing: batch 3 of 100 (4 s since the last line)" +
		start + "Iteration 7 of 10000 (5 s since the last line)" + start + "line\n"
	if out.String() != want {
		t.Errorf("it shows %q, want %q", out.String(), want)
	}
	var none *pulse // of a stream that is no terminal
	none.printed()
	none.hold(true)
	none.Solving(false, 1, 2)
}

// TestLinesBelowLog: the lines of Show follow the log, change with it and every second, and go without a trace: when another writer uses
// the terminal, when there is no room, and at the end.
func TestLinesBelowLog(t *testing.T) {
	screen := screentest.New(40, 5)
	rows := 5
	p := &pulse{to: driver{screen}, size: func() (int, int) { return 40, rows }}
	n := 0
	p.Show(func() []string {
		n++
		return []string{fmt.Sprint("state ", n)}
	})
	shows := func(want ...string) {
		t.Helper()
		if got := screen.All(); !slices.Equal(got, want) {
			t.Fatalf("the screen shows %q, want %q", got, want)
		}
	}
	log := func(s string) {
		t.Helper()
		if written, err := p.Write([]byte(s)); err != nil || written != len(s) {
			t.Fatal(written, err)
		}
	}
	log("a\nb\n")
	shows("a", "b", "state 1")
	p.Refresh() // at once: it is not drawn again
	shows("a", "b", "state 1")
	p.beat(time.Now())
	shows("a", "b", "state 2")
	log("half ")
	shows("a", "b", "half")
	log("line\n")
	shows("a", "b", "half line", "state 3")
	p.hold(true)
	log("held\n")
	shows("a", "b", "half line", "held")
	p.hold(false)
	p.drawn = time.Time{}
	p.Refresh()
	shows("a", "b", "half line", "held", "state 4")
	p.printed()
	shows("a", "b", "half line", "held")
	rows = 0 // in the background
	log("c\n")
	shows("a", "b", "half line", "held", "c")
	rows = 5
	p.beat(time.Now())
	p.Show(nil)
	shows("a", "b", "half line", "held", "c")
	p.beat(time.Now())
	log("last words\n")
	shows("a", "b", "half line", "held", "c", "last words")
}

// driver writes to a screen as a terminal's driver does.
type driver struct{ to *screentest.Screen }

func (d driver) Write(b []byte) (int, error) {
	if _, err := d.to.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}
