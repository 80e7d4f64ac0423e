package solver

import (
	"errors"
	"testing"

	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestCounts: the error for an invalid count names the field and its value. The smallest valid counts pass.
func TestCounts(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"max_iter: 0 display: 0 snapshot: 0": "",
		"iter_size: 1 average_loss: 1":       "",
		"test_iter: 0":                       "",
		"max_iter: -1":                       "max_iter must be at least 0, it is -1",
		"iter_size: 0":                       "iter_size must be at least 1, it is 0",
		"average_loss: -2":                   "average_loss must be at least 1, it is -2",
		"display: -1":                        "display must be at least 0, it is -1",
		"snapshot: -3":                       "snapshot must be at least 0, it is -3",
		"test_iter: 3 test_iter: -2":         "test_iter 1 must be at least 0, it is -2",
	} {
		p := &caffepb.SolverParameter{}
		if _, err := swproto.UnmarshalText("s", []byte(text), p); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := errors.Join(checkCounts(p)...); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
