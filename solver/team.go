package solver

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/internal/base/words"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/centre"
)

// Transport is a worker's connection to the others. Calls block, and both sides give the same length. Package topology implements it.
type Transport interface {
	Rank() int
	Size() int
	Send(to int, data []float32) error
	Recv(from int, data []float32) error
}

// Reducer replaces an array by its sum over all workers, bit for bit the same on each. All workers call it in the same order.
type Reducer interface {
	Run(data []float32) error
}

// Team is a worker's place among the workers that train together.
type Team struct {
	Transport Transport
	// NewReducer prepares the all-reduce of arrays of n values: the team's algorithm, or with tree one over a tree to the first worker and
	// back.
	NewReducer func(n int, tree bool) Reducer
	// Strategy is a name from Strategies.
	Strategy string
	// Tau is the number of iterations between exchanges of workers, for strategies other than sync; 0 means 1.
	Tau int
	// Rho is the strength of EASGD's elastic force. 0 means that eta rho is 0.9/P at base_lr, as in S. Zhang, A. Choromanska and Y. LeCun
	// ("Deep learning with elastic averaging SGD", 2015).
	Rho float64
	// BucketBytes, if positive, divides the gradients into buckets of at least that size, which are summed during Backward.
	BucketBytes int
	// Virtual is the worker's virtual time, or nil for real time.
	Virtual *Virtual
	// CheckEvery is the number of iterations between comparisons of the workers' weights; 0 means never.
	CheckEvery int
	// Terms are what else all workers must have in common, as flags with their values, in the same order on all.
	Terms []string
}

// PeerError is the failure of another worker.
type PeerError = centre.PeerError

// rank returns the worker's number, 0 without a team.
func (t *Team) rank() int {
	if t == nil {
		return 0
	}
	return t.Transport.Rank()
}

// size is the number of workers.
func (t *Team) size() int {
	if t == nil {
		return 1
	}
	return t.Transport.Size()
}

// check validates a solver for the team's strategy and sets the team's defaults.
func (t *Team) check(p *caffepb.SolverParameter) error {
	t.Tau = max(1, t.Tau)
	if t.splits() {
		return nil
	}
	if p.GetType() != "SGD" {
		return fmt.Errorf("strategy %s is defined for solver type SGD, not %s", t.Strategy, p.GetType())
	}
	if t.Rho == 0 && p.GetBaseLr() > 0 {
		t.Rho = defaultForce / float64(t.size()) / float64(p.GetBaseLr())
	}
	return nil
}

// defaultForce is P eta rho if rho is not given.
const defaultForce = 0.9

// alpha returns eta rho.
func (t *Team) alpha(rate float64) float32 { return float32(rate * t.Rho) }

// checks reports whether the workers compare weights after an iteration. They do not in virtual time, since the comparison would take time.
func (t *Team) checks(iter int) bool {
	return t.CheckEvery > 0 && (iter+1)%t.CheckEvery == 0 && t.Virtual == nil
}

// splits reports whether the workers split each batch. Otherwise each has batches of its own.
func (t *Team) splits() bool { return t == nil || t.Strategy == Sync }

// table gathers a row from every worker; all rows have the same length. Values other than integers below 2^24 may lose bits.
func (t *Team) table(row []float32) ([][]float32, error) {
	n := len(row)
	all := make([]float32, n*t.size())
	copy(all[n*t.rank():], row)
	if err := t.NewReducer(len(all), false).Run(all); err != nil {
		return nil, err
	}
	rows := make([][]float32, t.size())
	for r := range rows {
		rows[r] = all[n*r : n*(r+1)]
	}
	return rows, nil
}

// ShareSeed returns the first worker's random seed on all workers.
func ShareSeed(w Transport, seed uint64) (uint64, error) {
	row := make([]float32, words.Len)
	if w.Rank() > 0 {
		err := w.Recv(0, row)
		return words.Get(row), err
	}
	words.Put(row, seed)
	for to := 1; to < w.Size(); to++ {
		if err := w.Send(to, row); err != nil {
			return 0, err
		}
	}
	return seed, nil
}

// consent makes all workers fail if one fails. Each returns its own error, or else a PeerError with the error of the lowest failed rank.
// Without a team it returns err.
func (t *Team) consent(err error) error {
	if t == nil {
		return err
	}
	row := make([]float32, 1)
	switch {
	case err == nil:
	case passes(err):
		row[0] = consentPasses
	default:
		row[0] = 1
	}
	rows, failure := t.table(row)
	if failure != nil {
		return errors.Join(err, failure)
	}
	for rank, r := range rows {
		if r[0] == 0 {
			continue
		}
		own := ""
		if err != nil {
			own = err.Error()
		}
		text, failure := t.tell(rank, own)
		switch {
		case err != nil:
			return err
		case failure != nil:
			return failure
		}
		return &PeerError{Rank: rank, Text: text, Passes: r[0] == consentPasses}
	}
	return nil
}

// consentPasses marks a failure whose cause may pass, see passes.
const consentPasses = 2

// tell sends the text of one worker to all. own is this one's.
func (t *Team) tell(from int, own string) (string, error) {
	const longest = 4096
	text := make([]float32, longest)
	if t.rank() == from {
		for i, c := range []byte(own)[:min(longest, len(own))] {
			text[i] = float32(c)
		}
	}
	if err := t.NewReducer(longest, false).Run(text); err != nil {
		return "", err
	}
	var out []byte
	for _, c := range text {
		if c != 0 {
			out = append(out, byte(c))
		}
	}
	return string(out), nil
}
