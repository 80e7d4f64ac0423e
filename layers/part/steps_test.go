package part

import (
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

// single is a Finisher that does not depend on channels.
type single struct{}

func (single) ByChannel() bool            { return false }
func (single) Hold([]*blob.Blob)          {}
func (single) HoldRounded([]*blob.Blob)   {}
func (single) Finish([]float32, int, int) {}

// TestByChannel: steps that read rounded blocks need pieces of one block of channels, although their Finishers do not.
func TestByChannel(t *testing.T) {
	for _, rounded := range []bool{false, true} {
		var s Steps
		if s.Arrange([]layers.Step{{Finisher: single{}}, {Finisher: single{}, Rounded: rounded}}); s.ByChannel() != rounded {
			t.Errorf("rounded %t: by channel %t", rounded, s.ByChannel())
		}
	}
}
