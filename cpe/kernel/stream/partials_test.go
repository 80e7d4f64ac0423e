package stream_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// TestPartials: planning allocates no arrays, Open does so once, and AddTo adds all arrays.
func TestPartials(t *testing.T) {
	const count, n = 3, 5
	p, err := stream.NewPartials(kerneltest.HostMachine(t, 2), count, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		if a := p.Of(i); a != nil {
			t.Errorf("planning has allocated %d values of array %d", len(a), i)
		}
	}
	p.Open()
	for i := range count {
		for k := range n {
			p.Of(i)[k] = float32(10*i + k)
		}
	}
	p.Open() // keeps the arrays
	sum := []float32{100, 200, 300, 400, 500}
	if err := p.AddTo(sum); err != nil {
		t.Fatal(err)
	}
	for k, v := range sum {
		if want := float32(100*(k+1) + 10 + 20 + 3*k); v != want {
			t.Errorf("sum %d is %g, expected %g", k, v, want)
		}
	}
	if none := (*stream.Partials)(nil); none.Count() != 0 {
		t.Errorf("no partials have %d arrays", none.Count())
	} else {
		none.Open()
	}
}
