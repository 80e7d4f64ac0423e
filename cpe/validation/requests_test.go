package validation_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/validation"
)

// holdRow fails if DEVIATIONS.md lacks a row.
func holdRow(t *testing.T, row string) {
	t.Helper()
	text, err := os.ReadFile("../DEVIATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), row+"\n") {
		t.Errorf("DEVIATIONS.md lacks the row\n%s", row)
	}
}

// TestSwCandle compares a request that is awaited, of every CPE, with a micro-benchmark that was not used for its time. DEVIATIONS.md (A) has
// the table, in microseconds.
func TestSwCandle(t *testing.T) {
	spec := sw26010(t, 1, ours)
	var points validation.Points
	for _, row := range read(t, "dma_swcandle.csv") {
		bytes := row.Int("bytes")
		us := 0.0
		for _, put := range []bool{false, true} {
			stream, wait := spec.DMA.TransferNs(spec.CPEs(), bytes, 1, put)
			us += (stream + wait) / 1000 / 2
		}
		published := (1000*row.Float("ms") - spec.MPE.StartUs) / row.Float("pairs") / 2
		points.Add(fmt.Sprintf("%d bytes", bytes), us, published)
		holdRow(t, fmt.Sprintf("   | %d | %.1f | %.1f |", bytes, us, published))
	}
	t.Logf("us\n%v", points)
}

// TestRequestsOfLog compares forward passes of a program that has one im2col an image, a line at a time: its requests alone cannot take as long as
// swCaffe's figure 2 has it, since the log's times hold the products, too. DEVIATIONS.md (A) has the table, in seconds.
func TestRequestsOfLog(t *testing.T) {
	spec, err := sw26010(t, 1, in2018).Without("batching")
	if err != nil {
		t.Fatal(err)
	}
	without, err := spec.Without("requests")
	if err != nil {
		t.Fatal(err)
	}
	stages := map[string][2]int{"res2a_branch2b": {64, 56}, "res3a_branch2b": {128, 28}, "res4a_branch2b": {256, 14}, "res5a_branch2b": {512, 7}}
	for _, row := range read(t, "log2017_resnet50.csv") {
		s, ok := stages[row["layer"]]
		if !ok {
			continue
		}
		one := []int{1, 1}
		problem := shape.Conv{
			N: 64, C: s[0], Out: s[0], Group: 1, In: []int{s[1], s[1]}, Kernel: []int{3, 3}, Stride: one, Pad: one, Dilation: one,
		}
		published := row.Float("forward_s")
		measured := convSeconds(t, spec, problem, shape.Explicit, shape.Forward)
		streamed := convSeconds(t, without, problem, shape.Explicit, shape.Forward)
		holdRow(t, fmt.Sprintf("   | %s, %d channels, %dx%d | %.3f | %.3f | %.3f |", row["layer"], s[0], s[1], s[1], published, measured, streamed))
		if measured < published || streamed > published {
			t.Errorf("%s: %.3f s with the requests of figure 2, %.3f without, the log has %.3f", row["layer"], measured, streamed, published)
		}
	}
}
