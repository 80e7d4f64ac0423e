package mesh

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// inDouble is the SW26010 for values of double precision: half as many fit LDM and a transaction, and come in a second.
func inDouble(t *testing.T) cpe.Spec {
	t.Helper()
	text, err := os.ReadFile("../../../machines/sw26010.prototxt")
	if err != nil {
		t.Fatal(err)
	}
	fields := regexp.MustCompile(`\b(ldm_bytes|transaction_bytes|block_bytes|get_gbytes_per_s|put_gbytes_per_s): ([0-9.]+)`)
	half := fields.ReplaceAllStringFunc(string(text), func(field string) string {
		m := fields.FindStringSubmatch(field)
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s: %g", m[1], v/2)
	})
	path := filepath.Join(t.TempDir(), "double.prototxt")
	if err := os.WriteFile(path, []byte(regexp.MustCompile(`single: CONVERTED`).ReplaceAllString(half, "single: LIKE_DOUBLE")), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := cpe.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	s.CoreGroups = 1
	return s
}

// transforms are a batchConv's tensor transforms alone, which swDNN did not measure.
type transforms struct{ *batchConv }

func (v transforms) RunGroup(g *cpe.CoreGroup) error {
	w := &v.workers[g.Index()].batchArrays
	if err := v.open(g, w); err != nil {
		return err
	}
	return v.leave(g, w)
}

// alone returns batchConv for a convolution, and its forward time in nanoseconds without its tensor transforms.
func alone(t *testing.T, spec cpe.Spec, s shape.Conv) (*batchConv, float64) {
	t.Helper()
	m, err := cpe.New(spec, cpe.CostOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	k, err := Batch.Kernel(m, &conv.Problem{Shape: s, Direction: shape.Forward, Spec: &spec})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Run(conv.Arrays{}); err != nil {
		t.Fatal(err)
	}
	whole := m.Ledger()
	kernel := k.(*conv.Task).Stages[0].Program.(*batchConv)
	m.ResetLedger()
	if err := m.Run(transforms{kernel}, 1); err != nil {
		t.Fatal(err)
	}
	return kernel, 1e9 * (whole.Time - m.Ledger().Time).Seconds()
}

// TestSwDNNExecuted: the kernel reaches what swDNN measured in double precision (table III) within 15 %: with blocks of 32 images and 16
// columns for 128 channels, and with the whole batch, whose tiles three taps share, for 256.
func TestSwDNNExecuted(t *testing.T) {
	for _, c := range []struct {
		plan      string
		channels  int
		published float64
	}{{"image", 128, 350}, {"batch", 256, 410}} {
		s := shape.Conv{N: 128, C: c.channels, Out: c.channels, Group: 1, In: []int{66, 66}, Kernel: []int{3, 3}, Stride: []int{1, 1}, Pad: []int{0, 0}, Dilation: []int{1, 1}}
		kernel, ns := alone(t, inDouble(t), s)
		got := 2 * 128 * float64(c.channels*c.channels) * 9 * 64 * 64 / ns
		t.Logf("%s-size-aware, %d channels: %.0f GFLOP/s, %d columns of %d images, %v; published %.0f", c.plan, c.channels, got, kernel.columns, s.N, kernel.workers[0].product.Plan, c.published)
		if math.Abs(got/c.published-1) > 0.15 {
			t.Errorf("%s: %.0f GFLOP/s, published %.0f", c.plan, got, c.published)
		}
	}
}
