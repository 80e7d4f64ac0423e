package cli

import (
	"bytes"
	"testing"
	"time"
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
