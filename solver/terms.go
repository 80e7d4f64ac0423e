package solver

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	swnet "github.com/swcaffe/swcaffe/net"
)

// begin compares the workers' terms, and returns the first worker's random seed on all. Workers in virtual time are in one process, and comparing would
// take virtual time.
func (t *Team) begin(seed uint64) (uint64, error) {
	if t.Virtual == nil {
		if err := SameTerms(t.Transport, t.Terms); err != nil {
			return 0, err
		}
	}
	return ShareSeed(t.Transport, seed)
}

// SameTerms returns an error on all workers, with the first terms in which a worker differs from the first one, unless all have the same. It needs no
// Reducer, whose algorithm may be one of the terms.
func SameTerms(w Transport, terms []string) error {
	own := strings.Join(terms, "\n")
	if w.Rank() > 0 {
		if err := sendText(w, 0, own); err != nil {
			return err
		}
		verdict, err := recvText(w, 0)
		return cmp.Or(err, asError(verdict))
	}
	verdict := ""
	for rank := 1; rank < w.Size(); rank++ {
		text, err := recvText(w, rank)
		if err != nil {
			return err
		}
		if text != own && verdict == "" {
			first, other := firstDifferent(terms, strings.Split(text, "\n"))
			verdict = fmt.Sprintf("the workers differ: rank 0 has %s, rank %d has %s", first, rank, other)
		}
	}
	for rank := 1; rank < w.Size(); rank++ {
		if err := sendText(w, rank, verdict); err != nil {
			return err
		}
	}
	return asError(verdict)
}

// firstDifferent returns the first lines in which two lists differ.
func firstDifferent(a, b []string) (string, string) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	return cmp.Or(strings.Join(a[:min(1, len(a))], ""), "nothing"), cmp.Or(strings.Join(b[:min(1, len(b))], ""), "nothing")
}

// NetTerms lists what workers that run batches of a net in turn must have in common: its layers, the numbers of items in its sources, whose paths may
// differ, and its weights.
func NetTerms(n *swnet.Net) []string {
	var terms []string
	for i := range n.NumLayers() {
		layer := fmt.Sprintf("layer %q: ", n.LayerName(i))
		for line := range strings.SplitSeq(layerText(n.LayerParam(i)), "\n") {
			terms = append(terms, layer+line)
		}
		if items := itemsOf(n.Layer(i)); items > 0 {
			terms = append(terms, fmt.Sprintf("%s%d items", layer, items))
		}
	}
	for _, w := range n.Learnable() {
		terms = append(terms, fmt.Sprintf("layer %q, param %d: values with the checksum %.0f", w.Layer, w.Index, checksum(w.Blob.Data())))
	}
	return terms
}

// asError returns an error with a text, or nil for "".
func asError(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}

// sendText sends a text to a worker, which calls recvText.
func sendText(w Transport, to int, text string) error {
	values := make([]float32, len(text))
	for i := range text {
		values[i] = float32(text[i])
	}
	return errors.Join(w.Send(to, []float32{float32(len(text))}), w.Send(to, values))
}

func recvText(w Transport, from int) (string, error) {
	const longest = 1 << 24
	size := make([]float32, 1)
	if err := w.Recv(from, size); err != nil {
		return "", err
	}
	if !(size[0] >= 0 && size[0] <= longest) {
		return "", fmt.Errorf("rank %d sends a text of %g bytes", from, size[0])
	}
	values := make([]float32, int(size[0]))
	err := w.Recv(from, values)
	text := make([]byte, len(values))
	for i, v := range values {
		text[i] = byte(v)
	}
	return string(text), err
}
