package model

import (
	"slices"

	"github.com/protocolbuffers/txtpbfmt/ast"
	"github.com/protocolbuffers/txtpbfmt/parser"
)

// renamed maps fields of old layers to the fields that replace them.
var renamed = map[string]string{
	"blobs_lr": "lr_mult", "weight_decay": "decay_mult", "kernelsize": "kernel_size", "biasterm": "bias_term",
	"batchsize": "batch_size", "cropsize": "crop_size", "meanfile": "mean_file",
}

// carryComments copies the comments of an old net or solver to the same places of the upgraded text: above or behind the same
// field of the same layer, or the field that replaces it. Without such a field, a comment goes above the layer; without the
// layer, above the following layer. origin(i) is the old layer from which new layer i was made, -1 if none. Comments in places
// that the formatter does not report go to the top of the text.
func carryComments(old, text []byte, origin func(layer int) int) ([]byte, error) {
	nodes, err := parser.Parse(text)
	if err != nil {
		return nil, err
	}
	if before, err := parser.Parse(old); err == nil {
		nodes = carryNodes(before, nodes, origin)
	}
	out := []byte(parser.Pretty(nodes, 0))
	return append(topComments(old, out), out...), nil
}

// topComments returns the comments that the upgraded text lacks. They go to its top.
func topComments(old, text []byte) []byte {
	var top []byte
	for _, c := range missingComments(old, text) {
		top = append(top, c.text+"\n"...)
	}
	return top
}

// carryNodes copies the comments of the nodes before to nodes. It returns nodes, followed by comments from the end of the old
// file.
func carryNodes(before, nodes []*ast.Node, origin func(layer int) int) []*ast.Node {
	targets := map[int]*ast.Node{} // keyed by the old layer's number; -1: the new node for the net's input fields
	layer := 0
	for _, n := range nodes {
		if n.Name == "layer" {
			if from := origin(layer); targets[from] == nil {
				targets[from] = n
			}
			layer++
		}
	}
	var waiting []string // comments for the next node with a target
	seen := map[string]int{}
	layer = 0
	for _, n := range before {
		var target *ast.Node
		switch n.Name {
		case "layer", "layers":
			target = targets[layer]
			layer++
		case "":
		case "input", "input_dim", "input_shape":
			target = targets[-1]
		default:
			target = find(nodes, n.Name, seen[n.Name])
			seen[n.Name]++
		}
		if target == nil {
			waiting = append(waiting, allComments(n)...)
			continue
		}
		target.PreComments = append(target.PreComments, waiting...)
		waiting = nil
		carry(n, target, target)
	}
	if len(waiting) > 0 {
		nodes = append(nodes, &ast.Node{PreComments: waiting})
	}
	return nodes
}

// carry copies the comments of a field, and of the fields inside it, to a new field in a layer.
func carry(from, to, layer *ast.Node) {
	to.PreComments = append(to.PreComments, from.PreComments...)
	for i, v := range from.Values {
		to.PreComments = append(to.PreComments, v.PreComments...)
		if i == 0 && len(to.Values) > 0 && to.Values[0].InlineComment == "" {
			to.Values[0].InlineComment = v.InlineComment
		} else {
			to.PreComments = appendComment(to.PreComments, v.InlineComment)
		}
	}
	to.PreComments = append(to.PreComments, from.PostValuesComments...)
	if to.ClosingBraceComment == "" && len(to.Children) > 0 {
		to.ClosingBraceComment = from.ClosingBraceComment
	} else {
		to.PreComments = appendComment(to.PreComments, from.ClosingBraceComment)
	}
	seen := map[string]int{}
	for _, child := range from.Children {
		k := seen[child.Name]
		seen[child.Name]++
		switch target := findDeep(to, layer, child, k); {
		case child.Name == "":
			to.Children = append(to.Children, &ast.Node{PreComments: child.PreComments})
		case target != nil:
			carry(child, target, layer)
		default:
			layer.PreComments = append(layer.PreComments, allComments(child)...)
		}
	}
}

// findDeep finds the new field for an old one: the k-th field of the same or the new name, in the new message or else anywhere in
// the layer. For the layer message inside a V0 layer, it is the layer itself.
func findDeep(in, layer, old *ast.Node, k int) *ast.Node {
	if old.Name == "layer" {
		return layer
	}
	names := []string{old.Name}
	if name, ok := renamed[old.Name]; ok {
		names = append(names, name)
	}
	for _, nodes := range [][]*ast.Node{in.Children, descendants(layer)} {
		for _, name := range names {
			if n := find(nodes, name, k); n != nil {
				return n
			}
		}
	}
	return nil
}

// find returns the k-th node of a name.
func find(nodes []*ast.Node, name string, k int) *ast.Node {
	for _, n := range nodes {
		if n.Name != name {
			continue
		}
		if k == 0 {
			return n
		}
		k--
	}
	return nil
}

func descendants(n *ast.Node) []*ast.Node {
	var list []*ast.Node
	for _, c := range n.Children {
		list = append(append(list, c), descendants(c)...)
	}
	return list
}

// allComments returns the comments of a node and of its descendants.
func allComments(n *ast.Node) []string {
	list := slices.Clone(n.PreComments)
	for _, v := range n.Values {
		list = appendComment(append(list, v.PreComments...), v.InlineComment)
	}
	list = append(list, n.PostValuesComments...)
	for _, c := range n.Children {
		list = append(list, allComments(c)...)
	}
	return appendComment(list, n.ClosingBraceComment)
}

func appendComment(list []string, comment string) []string {
	if comment == "" {
		return list
	}
	return append(list, comment)
}
