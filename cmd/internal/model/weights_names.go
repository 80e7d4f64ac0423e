package model

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// netWeight is a weight that a layer owns.
type netWeight struct {
	name  string // LAYER/INDEX
	kind  string // the layer's type
	index int
	blob  *blob.Blob
}

func (w netWeight) layer() string { return strings.TrimSuffix(w.name, "/"+strconv.Itoa(w.index)) }

// ownWeights lists a net's weights, each once: under the layer that owns it.
func ownWeights(n *swnet.Net) (list []netWeight, err error) {
	seen := map[string]bool{}
	for i := range n.NumLayers() {
		for k, b := range n.Layer(i).Params() {
			if n.Shares(i, k) {
				continue
			}
			w := netWeight{n.LayerName(i) + "/" + strconv.Itoa(k), n.LayerType(i), k, b}
			if seen[w.name] {
				return nil, fmt.Errorf("two layers are named %q: name them apart, since weights go by these names", n.LayerName(i))
			}
			seen[w.name] = true
			list = append(list, w)
		}
	}
	return list, nil
}

// mapping gives the names of weights in another program. A nil mapping has the net's own names.
type mapping struct {
	path string
	to   map[string]string // by LAYER/INDEX
}

// readMapping reads lines "LAYER/INDEX = NAME". What follows # behind white space, or at the start of a line, is a comment.
func readMapping(path string, weights []netWeight) (*mapping, error) {
	if path == "" {
		return nil, nil
	}
	text, err := swproto.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &mapping{path: path, to: map[string]string{}}
	known, from := map[string]bool{}, map[string]string{}
	for _, w := range weights {
		known[w.name] = true
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if line = strings.TrimSpace(withoutComment(line)); line == "" {
			continue
		}
		left, right, ok := strings.Cut(line, " = ")
		left, right = strings.TrimSpace(left), strings.TrimSpace(right)
		switch {
		case !ok || left == "" || right == "":
			return nil, fmt.Errorf("%s:%d: %q is no line LAYER/INDEX = NAME", path, number, line)
		case !known[left]:
			return nil, fmt.Errorf("%s:%d: the net has no weight %q; it has %s", path, number, left, someNames(weights))
		case m.to[left] != "":
			return nil, fmt.Errorf("%s:%d: weight %q has the name %q already", path, number, left, m.to[left])
		case from[right] != "":
			return nil, fmt.Errorf("%s:%d: %q is the name of %q already", path, number, right, from[right])
		}
		m.to[left], from[right] = right, left
	}
	return m, nil
}

func withoutComment(line string) string {
	if strings.HasPrefix(line, "#") {
		return ""
	}
	for i := 1; i < len(line); i++ {
		if line[i] == '#' && (line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

func someNames(weights []netWeight) string {
	const most = 6
	var names []string
	for _, w := range weights[:min(len(weights), most)] {
		names = append(names, strconv.Quote(w.name))
	}
	if len(weights) > most {
		names = append(names, fmt.Sprintf("and %d more", len(weights)-most))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// name returns the other program's name of a weight, "" if it has none.
func (m *mapping) name(w netWeight) string {
	if m == nil {
		return w.name
	}
	return m.to[w.name]
}

// factor returns the place in a list of the factor by which a BatchNorm layer's mean and variance are divided, if the mapping names one of these and
// leaves out the factor, which other programs do not have; otherwise -1.
func (m *mapping) factor(weights []netWeight, i int) int {
	w := weights[i]
	if m == nil || w.kind != "BatchNorm" || w.index > 1 {
		return -1
	}
	at := i + 2 - w.index
	if at >= len(weights) || weights[at].kind != "BatchNorm" || weights[at].index != 2 || m.name(weights[at]) != "" {
		return -1
	}
	return at
}

// divides reports whether weight i is the factor that another weight is divided by.
func (m *mapping) divides(weights []netWeight, i int) bool {
	for k := max(i-2, 0); k < i; k++ {
		if m.factor(weights, k) == i && m.name(weights[k]) != "" {
			return true
		}
	}
	return false
}
