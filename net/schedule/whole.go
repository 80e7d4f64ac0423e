package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
)

// piece is the place of a storage of values in another one.
type piece struct {
	of blob.Storage
	at int
}

// whole gives the bottoms of Concat places in its top, and the tops of Slice places in its bottom, where the pieces follow each other as for one image (layers.Whole). Such a layer
// copies nothing. Layers before and behind it may write in place, so pieces and whole must not be needed at the same time: Concat is the last to read its bottoms and the first to
// write its top, and Slice the last to read its bottom and the first to write its tops. Wholes may be pieces of others, as where one Concat follows another.
func whole(p *Plan) error {
	if !p.ForwardOnly || !p.Device.Machine.Values() {
		return nil
	}
	data, _ := p.lifetimes()
	var changed []*Task
	for step, t := range p.Tasks {
		w := t.traits.Whole
		if t.Empty() || t.done || len(w.Starts) < 2 {
			continue
		}
		of, pieces := t.Tops[0], t.Bottoms
		if w.Bottom {
			of, pieces = t.Bottoms[0], t.Tops
		}
		s := data.of(of)
		if !p.placeable(s, of) || w.Bottom && s.last != step || !w.Bottom && s.first != step {
			continue
		}
		placed := 0
		for k, b := range pieces {
			from := data.of(b)
			_, taken := p.pieces[b.DataStorage()]
			if taken || p.root(of.DataStorage()).of == b.DataStorage() || cpe.WholeLines(w.Starts[k]) != w.Starts[k] || !p.placeable(from, b) ||
				p.InBlocks(b) != p.InBlocks(of) || w.Bottom && from.first != step || !w.Bottom && from.last != step {
				continue
			}
			p.pieces[b.DataStorage()] = piece{of.DataStorage(), w.Starts[k]}
			placed++
		}
		if placed > 0 {
			t.Arranged.Whole = true
			changed = append(changed, t)
			p.note("whole", t.names(), "%d of %d pieces stand in the whole and are not copied", placed, len(pieces))
		}
	}
	return p.arrange(changed)
}

// placeable reports whether a storage can be a whole or a piece: the arena has it, and all of it is the blob's.
func (p *Plan) placeable(s *storage, b *blob.Blob) bool {
	return !s.keep && s.touched && s.size > 0 && s.size == b.Count() && p.thinOf(b) == nil && !p.rounded[b.DataStorage()]
}

// root returns the storage that a storage is a piece of, directly or by others, and where it begins there.
func (p *Plan) root(s blob.Storage) piece {
	at := piece{of: s}
	for {
		next, ok := p.pieces[at.of]
		if !ok {
			return at
		}
		at = piece{next.of, at.at + next.at}
	}
}

// joinPieces lets the storages that have pieces live as long as these, and returns the others, which are pieces.
func (p *Plan) joinPieces(data *storages) (pieces []*storage) {
	data.list = slices.DeleteFunc(data.list, func(s *storage) bool {
		root := data.at[p.root(s.blob.DataStorage()).of]
		if root == s {
			return false
		}
		root.first, root.last = min(root.first, s.first), max(root.last, s.last)
		pieces = append(pieces, s)
		return true
	})
	return pieces
}
