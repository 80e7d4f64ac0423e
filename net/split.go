package net

import (
	"fmt"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// place is a top or bottom, by layer index and position.
type place struct{ layer, blob int }

// use counts the bottoms that read a top, and the split outputs assigned to them so far.
type use struct {
	count, dealt int
	lossWeight   float32
}

// InsertSplits returns the net with a Split layer after every top that more than one bottom reads, so that each reader has a blob and a
// gradient of its own. A loss weight on a top that is read counts as another reader: the loss is taken from the split's first output. Names
// are Caffe's: BLOB_LAYER_TOPINDEX_split and ..._split_K. The returned origin maps the new layers to the file's. An inserted layer has the
// origin of the layer that writes its bottom.
func InsertSplits(p *caffepb.NetParameter, origin []int) (*caffepb.NetParameter, []int, error) {
	uses, sources, err := countUses(p)
	if err != nil {
		return nil, nil, err
	}
	out := proto.CloneOf(p)
	layers := out.Layer
	out.Layer = nil
	var from []int
	for i, l := range layers {
		for j, name := range l.Bottom {
			src := sources[place{i, j}]
			if u := uses[src]; u.count > 1 {
				l.Bottom[j] = splitBlobName(layers[src.layer].GetName(), name, src.blob, u.dealt)
				u.dealt++
			}
		}
		out.Layer = append(out.Layer, l)
		from = append(from, origin[i])
		for j, name := range l.Top {
			u := uses[place{i, j}]
			if u == nil || u.count <= 1 {
				continue
			}
			out.Layer = append(out.Layer, splitLayer(l.GetName(), name, j, u))
			from = append(from, origin[i])
			if u.lossWeight != 0 {
				l.LossWeight[j] = 0
				u.dealt++
			}
		}
	}
	return out, from, nil
}

// countUses finds the top that each bottom reads, and counts the readers of each top.
func countUses(p *caffepb.NetParameter) (map[place]*use, map[place]place, error) {
	latest := map[string]place{}
	uses := map[place]*use{}
	sources := map[place]place{}
	for i, l := range p.Layer {
		for j, name := range l.Bottom {
			src, ok := latest[name]
			if !ok {
				return nil, nil, &LayerError{Index: i, Layer: l.GetName(), Err: unknownBottom(name, j, latest)}
			}
			sources[place{i, j}] = src
			uses[src].count++
		}
		for j, name := range l.Top {
			at := place{i, j}
			latest[name] = at
			uses[at] = &use{}
		}
		for j := range min(len(l.LossWeight), len(l.Top)) {
			uses[place{i, j}].lossWeight = l.LossWeight[j]
		}
	}
	for _, u := range uses {
		if u.count > 0 && u.lossWeight != 0 {
			u.count++
		}
	}
	return uses, sources, nil
}

func splitLayer(layer, blobName string, top int, u *use) *caffepb.LayerParameter {
	s := &caffepb.LayerParameter{
		Name:   proto.String(fmt.Sprintf("%s_%s_%d_split", blobName, layer, top)),
		Type:   proto.String("Split"),
		Bottom: []string{blobName},
	}
	for k := range u.count {
		s.Top = append(s.Top, splitBlobName(layer, blobName, top, k))
		if u.lossWeight != 0 {
			w := u.lossWeight
			if k > 0 {
				w = 0
			}
			s.LossWeight = append(s.LossWeight, w)
		}
	}
	return s
}

func splitBlobName(layer, blobName string, top, k int) string {
	return fmt.Sprintf("%s_%s_%d_split_%d", blobName, layer, top, k)
}
