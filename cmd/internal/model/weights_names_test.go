package model

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
)

func batchNormWeights() (list []netWeight) {
	for i, name := range []string{"conv/0", "bn/0", "bn/1", "bn/2", "fc/0"} {
		kind := "BatchNorm"
		if !strings.HasPrefix(name, "bn") {
			kind = "Convolution"
		}
		list = append(list, netWeight{name, kind, max(i-1, 0) % 3, blob.New(1)})
	}
	return list
}

// TestFactorOfBatchNorm: mean and variance are divided where their names are given and that of the factor is not.
func TestFactorOfBatchNorm(t *testing.T) {
	own := batchNormWeights()
	for _, c := range []struct {
		names   map[string]string
		factors []int // of each weight
		divides bool  // weight 3
	}{
		{nil, []int{-1, -1, -1, -1, -1}, false},
		{map[string]string{"bn/0": "mean", "bn/1": "var"}, []int{-1, 3, 3, -1, -1}, true},
		{map[string]string{"bn/0": "mean", "bn/1": "var", "bn/2": "factor"}, []int{-1, -1, -1, -1, -1}, false},
		{map[string]string{"conv/0": "w", "fc/0": "v"}, []int{-1, 3, 3, -1, -1}, false},
	} {
		m := &mapping{to: c.names}
		if c.names == nil {
			m = nil
		}
		var got []int
		for i := range own {
			got = append(got, m.factor(own, i))
		}
		if !slices.Equal(got, c.factors) || m.divides(own, 3) != c.divides {
			t.Errorf("%v: factors %v, divides %v; want %v, %v", c.names, got, m.divides(own, 3), c.factors, c.divides)
		}
	}
	if got := divided([]float32{3, -6}, 1.5); !slices.Equal(got, []float32{2, -4}) {
		t.Errorf("divided by 1.5: %v", got)
	}
	if got := divided([]float32{3, -6}, 0); !slices.Equal(got, []float32{0, 0}) {
		t.Errorf("divided by 0: %v, want zeros as in Caffe", got)
	}
}

// TestMappingLines reads names with equals signs, blanks and # in them, as other programs have.
func TestMappingLines(t *testing.T) {
	own := batchNormWeights()
	path := filepath.Join(t.TempDir(), "names")
	text := "# comment\r\n\r\nconv/0 = a.b=c#1\t# comment\r\n  bn/0   =  with blank \nfc/0 = last"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := readMapping(path, own)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"conv/0": "a.b=c#1", "bn/0": "with blank", "bn/1": "", "fc/0": "last"} {
		if m.to[name] != want {
			t.Errorf("%s has the name %q, want %q", name, m.to[name], want)
		}
	}
}
