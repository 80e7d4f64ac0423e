package validation_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// withGroups is the program of 2018 with the col2im of the public source, which groups lines.
const withGroups = "swcaffe-source"

// TestGroupedLines compares both descriptions of col2im with what was published of explicit input gradients: a line at a time as in the paper, and
// groups of lines as in the source. DEVIATIONS.md (A) has the table: seconds, the median error of table II, images a second. Groups are faster everywhere. At 28x28 and
// below they are closer to the published time than single lines.
func TestGroupedLines(t *testing.T) {
	text, err := os.ReadFile("../DEVIATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	hold := func(row string) {
		if !strings.Contains(string(text), row+"\n") {
			t.Errorf("DEVIATIONS.md lacks the row\n%s", row)
		}
	}
	singly, grouped := sw26010(t, 1, in2018), sw26010(t, 1, withGroups)
	for _, row := range read(t, "table2.csv") {
		published, size := row.Float("input_explicit"), row.Int("size")
		if math.IsNaN(published) {
			continue
		}
		problem := shape.Conv{
			N: 128, C: row.Int("ni"), Out: row.Int("no"), Group: 1, In: []int{size, size}, Kernel: []int{3, 3},
			Stride: []int{1, 1}, Pad: []int{1, 1}, Dilation: []int{1, 1},
		}
		of := func(spec cpe.Spec) float64 { return convSeconds(t, spec, problem, shape.Explicit, shape.InputGradient) }
		one, more := of(singly), of(grouped)
		hold(fmt.Sprintf("| conv%s, %dx%d | %.2f | %.2f (%+.0f %%) | %.2f (%+.0f %%) |", row["conv"], size, size, published,
			one, 100*(one/published-1), more, 100*(more/published-1)))
		if more >= one {
			t.Errorf("conv%s: groups of lines take %.3f s, single lines %.3f", row["conv"], more, one)
		}
		if size == 28 && math.Abs(more-published) > math.Abs(one-published) {
			t.Errorf("conv%s: groups of lines take %.3f s, single lines %.3f, published are %.3f", row["conv"], more, one, published)
		}
	}
	const backward5 = 93.1 // ms, figure 9 of the paper: vgg16_layers.csv
	ms := func(software string) float64 {
		_, backward, _ := bar(report(t, "vgg16", 64, software), "conv5_1")
		return backward
	}
	one, more := ms(in2018), ms(withGroups)
	hold(fmt.Sprintf("| conv5_1, 14x14, both gradients, ms on a node | %.1f | %.1f (%+.0f %%) | %.1f (%+.0f %%) |", backward5,
		one, 100*(one/backward5-1), more, 100*(more/backward5-1)))
	if math.Abs(more-backward5) > math.Abs(one-backward5) {
		t.Errorf("conv5_1: groups of lines take %.1f ms, single lines %.1f, published are %.1f", more, one, backward5)
	}
	line := "| 56x56 and below; faster strategy | |"
	for _, spec := range []cpe.Spec{singly, grouped} {
		_, small, right, both := tableII(t, spec)
		line += fmt.Sprintf(" %.1f %%; %d of %d |", 100*small.MedianError(), right, both)
	}
	hold(line)
	for _, row := range read(t, "nets.csv") {
		published, batch := row.Float("sw26010_2018"), row.Int("batch_2018")
		of := func(software string) float64 { return report(t, row["net"], batch, software).Total.Images }
		one, more := of(in2018), of(withGroups)
		hold(fmt.Sprintf("| %s, images/s | %.2f | %.2f (%+.0f %%) | %.2f (%+.0f %%) |", row["net"], published, one, 100*(one/published-1), more, 100*(more/published-1)))
	}
}
