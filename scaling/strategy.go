package scaling

import "github.com/swcaffe/swcaffe/internal/base/suggest"

// Strategy is the way in which workers, one on each node, train together. [SC17] is Y. You, A. Buluc, J. Demmel, "Scaling deep learning on
// GPU and Knights Landing clusters", SC 2017.
type Strategy string

const (
	// Sync sums the gradients over all workers before every update.
	Sync Strategy = "sync"
	// SyncEASGD3 is [SC17]'s algorithm 4: weights are reduced and the centre is broadcast concurrently with the passes.
	SyncEASGD3 Strategy = "sync_easgd3"
)

// method holds the properties of a strategy that determine its time.
type method struct {
	name Strategy
	// collective is the all-reduce of weights or gradients if all workers communicate at once; "" if each exchanges with a server.
	collective string
	periodic   bool // communicates every tau iterations, not in each
	master     bool // a node that does not train holds the centre
	overlapped bool // the collective runs beside the passes of an iteration
	hogwild    bool // the server has no lock: it sends, receives and adds at the same time
}

// methods lists the strategies in the order of their names' list.
var methods = suggest.Table[method]{Kind: "strategy", Kinds: "strategies", Name: func(m method) string { return string(m.name) }, Entries: []method{
	{name: Sync, collective: "topology"},
	{name: "easgd", periodic: true, master: true},
	{name: "async_sgd", master: true},
	{name: "async_msgd", master: true},
	{name: "hogwild_sgd", master: true, hogwild: true},
	{name: "async_easgd", periodic: true, master: true},
	{name: "async_measgd", periodic: true, master: true},
	{name: "hogwild_easgd", periodic: true, master: true, hogwild: true},
	{name: "sync_easgd1", collective: "binomial_tree", periodic: true, master: true},
	{name: "sync_easgd2", collective: "binomial_tree", periodic: true},
	{name: SyncEASGD3, collective: "binomial_tree", periodic: true, overlapped: true},
	{name: "decentralised_easgd", collective: "topology", periodic: true, overlapped: true},
}}

// Strategies returns the names of all strategies.
func Strategies() []string { return methods.Names() }

// ParseStrategy returns the strategy with the given name.
func ParseStrategy(name string) (Strategy, error) {
	m, err := methods.Find(name)
	return m.name, err
}

// Collective returns the all-reduce that the strategy uses by default; "" if its workers exchange with a server one by one.
func (s Strategy) Collective() string { return s.method().collective }

func (s Strategy) method() method {
	m, err := methods.Find(string(s))
	if err != nil {
		panic("scaling: " + err.Error())
	}
	return m
}
