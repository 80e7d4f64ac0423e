package schedule

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
)

// gradientPlaces assigns each gradient the number of its place, its storage. Merges are tried and taken back by a list of moves, so that
// the cost of a trial does not grow with the net.
type gradientPlaces struct {
	of     map[*blob.Blob]int
	at     map[int][]*blob.Blob // by place
	adding map[*Task]bool       // tasks that add to the gradient of their bottom
	moves  []placeMove          // all moves so far

	readers map[*blob.Blob][]int // the nodes whose tasks have the blob as a bottom
	users   map[*blob.Blob][]int // the nodes that read or write the blob's gradient
	stays   map[*blob.Blob]bool  // blobs whose gradient must keep its place
}

// placeMove records a blob's move and its previous place.
type placeMove struct {
	blob *blob.Blob
	from int
}

// placesOfGradients numbers the present storages.
func (p *Plan) placesOfGradients() *gradientPlaces {
	g := &gradientPlaces{
		of: map[*blob.Blob]int{}, at: map[int][]*blob.Blob{}, adding: map[*Task]bool{},
		readers: map[*blob.Blob][]int{}, users: map[*blob.Blob][]int{}, stays: map[*blob.Blob]bool{},
	}
	numbers := map[blob.Storage]int{}
	for i, d := range p.Nodes {
		t := p.Tasks[i]
		for _, b := range t.Bottoms {
			g.readers[b] = append(g.readers[b], i)
		}
		for _, b := range slices.Concat(t.Bottoms, t.Tops, d.Tops) {
			g.users[b] = append(g.users[b], i)
			if _, known := g.of[b]; known {
				continue
			}
			place, known := numbers[b.DiffStorage()]
			if !known {
				place = len(numbers)
				numbers[b.DiffStorage()] = place
			}
			g.of[b] = place
			g.at[place] = append(g.at[place], b)
		}
		if len(d.Bottoms) == 0 {
			for _, b := range d.Tops {
				g.stays[b] = true
			}
		}
	}
	for id := range p.Kept {
		g.stays[p.Blobs[id]] = true
	}
	return g
}

// move assigns a blob's gradient another place.
func (g *gradientPlaces) move(b *blob.Blob, to int) {
	g.moves = append(g.moves, placeMove{b, g.of[b]})
	g.put(b, to)
}

func (g *gradientPlaces) put(b *blob.Blob, to int) {
	before := g.at[g.of[b]]
	i := len(before) - 1
	for before[i] != b { // last in, first out
		i--
	}
	before[i] = before[len(before)-1]
	g.at[g.of[b]] = before[:len(before)-1]
	g.of[b] = to
	g.at[to] = append(g.at[to], b)
}

// takeBack undoes all moves but the first n.
func (g *gradientPlaces) takeBack(n int) {
	for i := len(g.moves) - 1; i >= n; i-- {
		g.put(g.moves[i].blob, g.moves[i].from)
	}
	g.moves = g.moves[:n]
}

// merge moves the gradients of some blobs to one place.
func (g *gradientPlaces) merge(blobs []*blob.Blob) {
	to := g.of[blobs[0]]
	for _, b := range blobs[1:] {
		from := g.of[b]
		if from == to {
			continue
		}
		for k := len(g.at[from]) - 1; k >= 0; k-- {
			g.move(g.at[from][k], to)
		}
	}
}
