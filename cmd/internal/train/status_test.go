package train

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/solver/events"
)

// TestStatusLines: what the lines say of a run whose figures are known: 3 of 10 further iterations in 6 s leave 14 s.
func TestStatusLines(t *testing.T) {
	now := time.Unix(1000, 0)
	s := &status{env: &cli.Env{}, ascii: true, now: func() time.Time { return now }}
	s.take(events.Event{Body: &events.Started{Iteration: 10, MaxIter: 20}})
	if got, want := strings.Join(s.lines(), "\n"), "Iteration 10 of 20  ############------------ 50 %"; got != want {
		t.Errorf("at first\n%s\nwant\n%s", got, want)
	}
	for i, loss := range []float64{8, 4, 1} {
		speed := events.Number(400)
		if i == 0 {
			speed = events.Number(math.NaN()) // the first iteration has none
		}
		s.take(events.Event{Body: &events.Iteration{Iteration: 10 + i, Loss: events.Number(loss), Smoothed: 2.5, Rate: 0.01, Speed: speed, Wait: 0.25}})
	}
	now = now.Add(6 * time.Second)
	want := "Iteration 13 of 20  ###############--------- 65 %  14s left\nloss 2.5 #+_  lr 0.01  400 images/s  waits for data 25 %"
	if got := strings.Join(s.lines(), "\n"); got != want {
		t.Errorf("after three iterations\n%s\nwant\n%s", got, want)
	}
	s.progress(true, 3, 50)
	if got := s.lines()[0]; !strings.HasSuffix(got, " 65 %  testing: batch 3 of 50") {
		t.Errorf("in a test: %s", got)
	}
	for net, value := range []events.Number{0.5, 0.75} {
		s.take(events.Event{Body: &events.Test{Iteration: 13, Net: net, Outputs: []events.Value{{Name: "accuracy", Value: value}}}})
	}
	if got, want := s.lines()[2], "test at iteration 13:  accuracy 0.5  accuracy 0.75"; got != want || strings.Contains(s.lines()[0], "testing") {
		t.Errorf("after a test: %s, want %s", got, want)
	}
}

// TestHistory: at any length, the means are of equally many losses but the last, in order, and weighted by their counts they have the
// losses' mean.
func TestHistory(t *testing.T) {
	var h history
	sum := 0.0
	for n := 1; n <= 1000; n++ {
		sum += float64(n)
		h.add(float64(n))
		if len(h.means) > barWidth || n >= barWidth && len(h.means) < barWidth/2 {
			t.Fatalf("%d losses: %d means", n, len(h.means))
		}
		total := 0.0
		for i, m := range h.means {
			from, count := i*h.each, h.each
			if i == len(h.means)-1 {
				count = n - from
			}
			if want := float64(from) + float64(count+1)/2; math.Abs(m-want) > 1e-6 {
				t.Fatalf("%d losses: mean %d is %g, want %g", n, i, m, want)
			}
			total += m * float64(count)
		}
		if math.Abs(total-sum) > 1e-3 {
			t.Fatalf("%d losses: the means' sum is %g, want %g", n, total, sum)
		}
	}
}
