package cpe

import (
	"reflect"
	"runtime"
	"testing"
)

// TestLoadAgain: a machine that is loaded again is as in its file, whatever a caller has done to the first, and the host is detected anew.
func TestLoadAgain(t *testing.T) {
	for _, name := range Names() {
		first, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		first.CoreGroups = 77
		for _, c := range first.DMA.strided {
			for i := range c.points {
				c.points[i].get = -1
			}
		}
		again, err := Load(name)
		if err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%s: %+v, want %+v (%v)", name, again, want, err)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, n := range []int{1, 3} {
		runtime.GOMAXPROCS(n)
		if s, err := Load("host"); err != nil || s.CoreGroups != n {
			t.Errorf("%d core groups for %d processors (%v)", s.CoreGroups, n, err)
		}
	}
}
