package hdf5

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/swcaffe/swcaffe/data/regular"
)

// Rows delivers the rows of the datasets in a list of HDF5 files. A row is one index of the first axis of every dataset. After
// the last file, it starts again with the first. With Shuffle, each round draws a new order of the files, and of the rows in each
// file, from the seed and the round's number. Seek can therefore return to any position.
type Rows struct {
	list    string
	files   []string
	names   []string
	shuffle bool
	seed    uint64

	sets  []Dataset
	rows  int
	round uint64
	file  int   // index into order
	order []int // order of the files
	perm  []int // order of the rows in the current file
	row   int
	done  uint64
	total uint64 // rows of all files; 0 until the first round has ended
}

// mostLine limits the bytes of a line, which may name many files.
const mostLine = 1 << 24

// OpenRows reads a list of files, one a line or several with blanks between them, and loads the first one. A path may have blanks (regular.Paths). All files must exist now, because the last one may not be read for
// hours. Every file must have the datasets in names.
func OpenRows(list string, names []string, shuffle bool, seed uint64) (*Rows, error) {
	r := &Rows{list: list, names: names, shuffle: shuffle, seed: seed}
	f, err := regular.OpenText(list)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if Is(list) {
		return nil, fmt.Errorf("%s: an HDF5 file, where a text is needed that names such files, one a line", list)
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, mostLine)
	for n := 1; lines.Scan(); n++ {
		files := regular.Paths("", lines.Text(), 1)
		for _, file := range files {
			if _, err := os.Stat(file); err != nil && len(files) > 1 {
				return nil, fmt.Errorf("%s:%d: %w; %q is neither one file nor several with blanks between them", list, n, err, strings.TrimSpace(lines.Text()))
			} else if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", list, n, err)
			}
			r.files = append(r.files, file)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	if len(r.files) == 0 {
		return nil, fmt.Errorf("%s: must contain at least 1 filename", list)
	}
	return r, r.goTo(0)
}

// goTo loads the first file of a round.
func (r *Rows) goTo(round uint64) error {
	r.round, r.file = round, 0
	r.draw()
	if err := r.load(); err != nil {
		return err
	}
	r.start()
	return nil
}

// draw sets the order of the files in a round.
func (r *Rows) draw() {
	r.order = indices(len(r.files))
	if r.shuffle {
		rng := rand.New(rand.NewPCG(r.seed, r.round))
		rng.Shuffle(len(r.order), func(i, j int) { r.order[i], r.order[j] = r.order[j], r.order[i] })
	}
}

func indices(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// load reads the current file.
func (r *Rows) load() error {
	path := r.files[r.order[r.file]]
	var all []string
	read, err := Read(path, func(name string) bool {
		all = append(all, strings.TrimPrefix(name, "/"))
		return r.wants(name) >= 0
	})
	if err != nil {
		return fmt.Errorf("%s: %w", r.list, err)
	}
	r.sets = make([]Dataset, len(r.names))
	for _, set := range read {
		r.sets[r.wants(set.Path)] = set
	}
	for i, set := range r.sets {
		switch {
		case set.Path == "":
			return fmt.Errorf("%s: there is no dataset %q (datasets: %s)", path, r.names[i], strings.Join(all, ", "))
		case len(set.Shape) == 0:
			return fmt.Errorf("%s: dataset %q has no axes", path, r.names[i])
		case set.Shape[0] != r.sets[0].Shape[0]:
			return fmt.Errorf("%s: dataset %q has %d rows, %q has %d", path, r.names[i], set.Shape[0], r.names[0], r.sets[0].Shape[0])
		case set.Shape[0] == 0:
			return fmt.Errorf("%s: dataset %q has no rows", path, r.names[i])
		}
	}
	r.rows = r.sets[0].Shape[0]
	return nil
}

// start goes to the first row of the loaded file, and sets the order of its rows in a round.
func (r *Rows) start() {
	r.row, r.perm = 0, indices(r.rows)
	if r.shuffle {
		rng := rand.New(rand.NewPCG(r.seed, r.round<<32+uint64(r.order[r.file])+1))
		rng.Shuffle(r.rows, func(i, j int) { r.perm[i], r.perm[j] = r.perm[j], r.perm[i] })
	}
}

func (r *Rows) wants(path string) int {
	for i, name := range r.names {
		if path == "/"+name {
			return i
		}
	}
	return -1
}

// Shape returns the extents of a row of dataset i.
func (r *Rows) Shape(i int) []int { return r.sets[i].Shape[1:] }

// Next copies the next row of every dataset to dst and moves on.
func (r *Rows) Next(dst [][]float32) error {
	row := r.perm[r.row]
	for i, set := range r.sets {
		n := len(set.Data) / r.rows
		if len(dst[i]) != n {
			return fmt.Errorf("%s: a row of dataset %q has %d values, those of the first file have %d", r.files[r.order[r.file]], r.names[i], n, len(dst[i]))
		}
		copy(dst[i], set.Data[row*n:(row+1)*n])
	}
	r.done++
	r.row++
	if r.row < r.rows {
		return nil
	}
	return r.nextFile()
}

// nextFile loads the next file, unless there is only one.
func (r *Rows) nextFile() error {
	if r.file++; r.file == len(r.files) {
		r.file = 0
		if r.round++; r.round == 1 {
			r.total = r.done
		}
		r.draw()
	}
	if len(r.files) > 1 {
		if err := r.load(); err != nil {
			return err
		}
	}
	r.start()
	return nil
}

// Count returns the number of rows of all files, 0 if it is not known yet. It loads files to know up to most rows, and returns 0 if there are more.
func (r *Rows) Count(most uint64) (uint64, error) {
	if len(r.files) == 1 {
		return uint64(r.rows), nil
	}
	if r.total > 0 || most == 0 {
		return r.total, nil
	}
	at := r.done
	if err := r.Seek(most + 1); err != nil {
		return 0, err
	}
	return r.total, r.Seek(at)
}

// Position is the number of rows delivered so far.
func (r *Rows) Position() uint64 { return r.done }

// Seek returns to the start and skips rows. It loads the files of the first round to learn the number of rows in a round. It then
// skips whole rounds without reading, and finally files and rows of the last round.
func (r *Rows) Seek(position uint64) error {
	r.done = 0
	if err := r.goTo(0); err != nil {
		return err
	}
	for position-r.done >= uint64(r.rows) {
		r.done += uint64(r.rows)
		if err := r.nextFile(); err != nil {
			return err
		}
		if inRound := r.done; r.round == 1 && r.file == 0 && position >= 2*inRound {
			r.done = position - position%inRound
			if err := r.goTo(position / inRound); err != nil {
				return err
			}
		}
	}
	r.row = int(position - r.done)
	r.done = position
	return nil
}
