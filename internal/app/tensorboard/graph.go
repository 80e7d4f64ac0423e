package tensorboard

import (
	"strings"
	"time"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of tensorflow.GraphDef, NodeDef, VersionDef, AttrValue and of an entry of a map.
const (
	graphNode, graphVersions = 1, 4

	nodeName, nodeOp, nodeInput, nodeAttribute = 1, 2, 3, 5

	versionProducer = 1

	attributeText = 2

	entryKey, entryValue = 1, 2
)

// graphVersion is a version of GraphDef that readers of all ages accept.
const graphVersion = 22

// Graph is a net as TensorBoard's graph: a node for each layer, whose inputs are the layers that wrote its bottoms. A layer that works in place
// stands between those before and after it.
type Graph []node

type node struct {
	name, op   string
	inputs     []string
	attributes [][2]string // names and texts
}

// NewGraph returns the graph of a net's layers, which must be those of one phase.
func NewGraph(layers []*caffepb.LayerParameter) Graph {
	var g Graph
	writer, names := map[string]string{}, map[string]bool{}
	for _, l := range layers {
		n := node{name: nodeNamed(l.GetName(), names), op: l.GetType()}
		for _, b := range l.GetBottom() {
			if w, ok := writer[b]; ok {
				n.inputs = append(n.inputs, w)
			}
		}
		for _, t := range l.GetTop() {
			writer[t] = n.name
		}
		if len(l.GetTop()) > 0 {
			n.attributes = append(n.attributes, [2]string{"top", strings.Join(l.GetTop(), ", ")})
		}
		n.attributes = append(n.attributes, settings(l)...)
		g = append(g, n)
	}
	return g
}

// nodeNamed returns a layer's name as that of a node, which is unique and has no colon, the sign of one of several outputs.
func nodeNamed(layer string, taken map[string]bool) string {
	name := strings.ReplaceAll(layer, ":", "_")
	for taken[name] || name == "" {
		name += "_"
	}
	taken[name] = true
	return name
}

// graphEvent has a graph.
func graphEvent(at time.Time, g Graph) []byte {
	var graph []byte
	for _, n := range g {
		inner := appendBytes(nil, nodeName, []byte(n.name))
		inner = appendBytes(inner, nodeOp, []byte(n.op))
		for _, in := range n.inputs {
			inner = appendBytes(inner, nodeInput, []byte(in))
		}
		for _, a := range n.attributes {
			inner = appendEntry(inner, nodeAttribute, a[0], appendBytes(nil, attributeText, []byte(a[1])))
		}
		graph = appendBytes(graph, graphNode, inner)
	}
	graph = appendBytes(graph, graphVersions, appendInt(nil, versionProducer, graphVersion))
	return appendBytes(head(at, 0), eventGraph, graph)
}

// appendEntry appends an entry of a map from text to messages.
func appendEntry(b []byte, field protowire.Number, key string, value []byte) []byte {
	return appendBytes(b, field, appendBytes(appendBytes(nil, entryKey, []byte(key)), entryValue, value))
}
