package events

// Value is one value of a net's output. An output with several values has a Value for each, named NAME[0], NAME[1] and so on.
type Value struct {
	Name   string `json:"name"`
	Value  Number `json:"value"`
	Weight Number `json:"weight,omitempty"` // its weight in the loss
}

// Started is published before the first iteration, and again when a stopped run continues in another process.
type Started struct {
	Solver    string `json:"solver"`             // path of the solver's file
	Net       string `json:"net"`                // name of the training net
	Iteration int    `json:"iteration"`          // iterations done before; more than 0 in a resumed run
	MaxIter   int    `json:"max_iter"`           //
	Items     Number `json:"items"`              // items of an iteration, of all workers together
	Workers   int    `json:"workers"`            //
	Seed      uint64 `json:"seed"`               //
	Snapshot  string `json:"snapshot,omitempty"` // the state that a resumed run started from
	// SolverText and NetText are the solver and the training net as prototxts, so that runs can be compared.
	SolverText string `json:"solver_prototxt"`
	NetText    string `json:"net_prototxt"`
	// MachineText is the modelled machine on which the net runs, as a prototxt; "" on this computer.
	MachineText string `json:"machine_prototxt,omitempty"`
	// Layers are those of the training net, in their order.
	Layers []Layer `json:"layers,omitempty"`
}

// Layer is a layer with its shapes, of the first worker's part.
type Layer struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Tops    []string `json:"tops"`    // their shapes, as in the log
	Weights int      `json:"weights"` // how many values
}

// Iteration is published after the update of an iteration. The first iteration has number 0, as in Caffe's log.
type Iteration struct {
	Iteration int     `json:"iteration"`
	Loss      Number  `json:"loss"`             // mean of the iteration's iter_size passes
	Smoothed  Number  `json:"smoothed_loss"`    // mean of the last average_loss losses, as in the log
	Rate      Number  `json:"lr"`               //
	Speed     Number  `json:"items_per_second"` // since the last Iteration, without tests and snapshots
	Wait      Number  `json:"data_wait"`        // share of that time spent waiting for data, from 0 to 1
	Outputs   []Value `json:"outputs"`          // of the training net, in its last pass
	// Simulated is the virtual time since the start, in seconds, of a run on modelled machines; the true one probably lies between
	// SimulatedLow and SimulatedHigh. 0: no virtual time, or not known.
	Simulated     Number `json:"simulated_s,omitempty"`
	SimulatedLow  Number `json:"simulated_low_s,omitempty"`
	SimulatedHigh Number `json:"simulated_high_s,omitempty"`
}

// Test is published after a test net has run.
type Test struct {
	Iteration int     `json:"iteration"`
	Net       int     `json:"net"`     // number of the test net
	Loss      Number  `json:"loss"`    // mean loss of a batch
	Outputs   []Value `json:"outputs"` // means over the test's batches
}

// Snapshot is published after a snapshot has been written in full.
type Snapshot struct {
	Iteration int    `json:"iteration"`
	State     string `json:"state"` // file of the solver's state
}

// Stopped is published when a run ends without an error.
type Stopped struct {
	Iteration int  `json:"iteration"` // iterations done
	Early     bool `json:"early"`     // a signal or a request ended it before max_iter
}

// Crashed is published when a run ends with an error.
type Crashed struct {
	Iteration int    `json:"iteration"` // iterations done
	Error     string `json:"error"`
	Stack     string `json:"stack,omitempty"` // of the goroutine that panicked, if a panic ended the run
}

// Names of the kinds.
const (
	KindStarted   = "started"
	KindIteration = "iteration"
	KindTest      = "test"
	KindSnapshot  = "snapshot"
	KindStopped   = "stopped"
	KindCrashed   = "crashed"
)

func (*Started) Kind() string   { return KindStarted }
func (*Iteration) Kind() string { return KindIteration }
func (*Test) Kind() string      { return KindTest }
func (*Snapshot) Kind() string  { return KindSnapshot }
func (*Stopped) Kind() string   { return KindStopped }
func (*Crashed) Kind() string   { return KindCrashed }

// newBody returns an empty body of a kind, or nil for a kind that this version does not know.
func newBody(kind string) Body {
	switch kind {
	case KindStarted:
		return &Started{}
	case KindIteration:
		return &Iteration{}
	case KindTest:
		return &Test{}
	case KindSnapshot:
		return &Snapshot{}
	case KindStopped:
		return &Stopped{}
	case KindCrashed:
		return &Crashed{}
	}
	return nil
}
