package net

import "github.com/swcaffe/swcaffe/blob"

// writers says which nodes write what, as the layers stand by themselves. With it, deep and wide nets are fused in a time that grows with
// the number of their layers, not with its square.
type writers struct {
	at    map[*node]int              // the place of a node in the net
	of    map[*blob.Blob][]int       // the nodes that write a blob, in their order
	views map[blob.Storage][]written // the tops whose values share a storage
}

// written is a top of a node.
type written struct {
	node int
	top  *blob.Blob
}

func (n *Net) findWriters() {
	n.writers = writers{map[*node]int{}, map[*blob.Blob][]int{}, map[blob.Storage][]written{}}
	w := &n.writers
	for i, d := range n.nodes {
		w.at[d] = i
		for _, t := range d.tops {
			if of := w.of[t]; len(of) == 0 || of[len(of)-1] != i {
				w.of[t] = append(of, i)
			}
			w.views[t.DataStorage()] = append(w.views[t.DataStorage()], written{i, t})
		}
	}
}
