package intake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// nameLast gives the blob of the node's first output the output's name, if several layers compute it.
func (n *node) nameLast(first int) {
	out := n.GetOutput()[0]
	v := n.values[out]
	if v == nil || v.blob == out {
		return
	}
	made := func(blob string) bool {
		return slices.ContainsFunc(n.net.Layer[first:], func(l *caffepb.LayerParameter) bool { return slices.Contains(l.GetTop(), blob) })
	}
	if !made(v.blob) || n.blobs[out] && !made(out) {
		return
	}
	if n.blobs[out] {
		n.renameBlob(out, unique(out+"@"+n.GetName(), n.blobs))
	}
	n.renameBlob(v.blob, out)
}

// fixedName reports whether a blob is an input or an output of the graph.
func (t *translator) fixedName(blob string) bool {
	for _, out := range t.model.GetGraph().GetOutput() {
		if out.GetName() == blob {
			return true
		}
	}
	return t.isInput(blob)
}

func (t *translator) isInput(blob string) bool {
	return slices.ContainsFunc(t.net.Layer, func(l *caffepb.LayerParameter) bool {
		return l.GetType() == "Input" && slices.Contains(l.GetTop(), blob)
	})
}

// rename changes a blob's name, unless it is an input or output.
func (t *translator) rename(from, to string) {
	if !t.fixedName(from) {
		t.renameBlob(from, to)
	}
}

func (t *translator) renameBlob(from, to string) {
	for _, l := range t.net.Layer {
		for _, list := range [][]string{l.Bottom, l.Top} {
			for i := range list {
				if list[i] == from {
					list[i] = to
				}
			}
		}
	}
	for _, v := range t.values {
		if v.blob == from {
			v.blob = to
		}
	}
	t.blobs[to] = true
}

// unique returns a name that no layer, or no blob, has.
func unique(name string, taken map[string]bool) string {
	for base, k := name, 2; taken[name]; k++ {
		name = fmt.Sprintf("%s_%d", base, k)
	}
	taken[name] = true
	return name
}

// inPlace undoes the names that package export gives to values that a layer overwrites: a blob BLOB@LAYER that layer LAYER writes, and that only
// a layer which can run in place reads, becomes BLOB.
func (t *translator) inPlace() {
	for i := len(t.net.Layer) - 1; i >= 0; i-- {
		l := t.net.Layer[i]
		if len(l.GetBottom()) != 1 || len(l.GetTop()) != 1 {
			continue
		}
		from, to := l.GetBottom()[0], l.GetTop()[0]
		kind, err := layers.Find(l.GetType())
		base, _, marked := strings.Cut(from, "@")
		target, _, _ := strings.Cut(to, "@")
		if err != nil || !kind.InPlace || !marked || base != target || t.reads(from) != 1 {
			continue
		}
		t.rename(from, to)
	}
}

func (t *translator) reads(blob string) (n int) {
	for _, l := range t.net.Layer {
		for _, b := range l.GetBottom() {
			if b == blob {
				n++
			}
		}
	}
	return n
}
