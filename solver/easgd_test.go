package solver

import (
	"fmt"
	"math"
	"testing"
)

// quadratic is a worker's net with one weight w and loss (w x - t)^2/2. With x = 1 and t = the worker's item the gradient is w - t.
const quadratic = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 1 dim: 1 } shape { dim: 1 dim: 1 } data_filler { type: "constant" value: 1 } data_filler { type: "constant" value: 3 } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 1 bias_term: false weight_filler { type: "constant" value: 1 } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "loss" }
}
base_lr: 0.1 lr_policy: "fixed" random_seed: 1 snapshot_after_train: false
`

// elasticOracle computes [SC17] equations 1, 2, 5 and 6 in float64 for one weight per worker: one worker after the other (turns), or all at
// once. It returns the workers' weights and the centre after n iterations.
func elasticOracle(workers, n, tau int, eta, rho, mu float64, turns bool) (w []float64, centre float64) {
	w, v := make([]float64, workers), make([]float64, workers)
	for i := range w {
		w[i] = 1
	}
	centre = 1
	for t := 1; t <= n; t++ {
		before, sum := centre, 0.0
		for i := range w {
			if turns {
				before = centre
			}
			v[i] = mu*v[i] - eta*(w[i]-3)
			pull := 0.0
			if t%tau == 0 {
				pull = eta * rho * (w[i] - before)
				sum += pull
			}
			w[i] += v[i] - pull
			if turns {
				centre += pull
			}
		}
		if !turns {
			centre += sum
		}
	}
	return w, centre
}

// TestElasticRules compares the deterministic EASGD strategies, and async_measgd with one worker, with the paper's equations.
func TestElasticRules(t *testing.T) {
	for _, c := range []struct {
		strategy string
		workers  int
		momentum float64 // the solver's
		mu       float64 // the momentum that the rule uses
		turns    bool
	}{
		{"easgd", 3, 0.5, 0, true}, {"async_easgd", 1, 0.5, 0, true}, {"async_measgd", 1, 0.5, 0.5, true}, {"hogwild_easgd", 1, 0.5, 0, true},
		{"sync_easgd1", 3, 0.5, 0, false}, {"sync_easgd2", 4, 0, 0, false}, {"sync_easgd3", 3, 0, 0, false}, {"decentralised_easgd", 2, 0, 0, false},
	} {
		for _, tau := range []int{1, 3} {
			const n, rho = 7, 0.7
			wantW, wantC := elasticOracle(c.workers, n, tau, 0.1, rho, c.mu, c.turns)
			k := crew{workers: c.workers, text: quadratic + fmt.Sprint("momentum: ", c.momentum), team: Team{Strategy: c.strategy, Tau: tau, Rho: rho, CheckEvery: 1}}
			if err := k.run(t, func(rank int, s *Solver) error {
				err := s.Step(n)
				if got := float64(weights(s)[0]); math.Abs(got-wantW[rank]) > 1e-6 {
					t.Errorf("%s, tau %d: W_%d = %g, want %g", c.strategy, tau, rank, got, wantW[rank])
				}
				if rank > 0 || err != nil {
					return err
				}
				return s.strategy.shown(func() error {
					if got := float64(weights(s)[0]); math.Abs(got-wantC) > 1e-6 {
						t.Errorf("%s, tau %d: W = %g, want %g", c.strategy, tau, got, wantC)
					}
					return nil
				})
			}); err != nil {
				t.Errorf("%s: %v", c.strategy, err)
			}
		}
	}
}

// TestDescendRules: with one worker, async_sgd and hogwild_sgd equal SGD, and async_msgd equals SGD with momentum at the centre.
func TestDescendRules(t *testing.T) {
	for _, c := range []struct {
		strategy string
		mu       float64
	}{{"async_sgd", 0}, {"async_msgd", 0.5}, {"hogwild_sgd", 0}} {
		for _, tau := range []int{1, 3} {
			want, local, v := 1.0, 1.0, 0.0
			for i := 1; i <= 9; i++ {
				local -= 0.1 * (local - 3)
				if i%tau == 0 {
					v = c.mu*v + local - want
					want += v
					local = want
				}
			}
			k := crew{workers: 1, text: quadratic + "momentum: 0.5", team: Team{Strategy: c.strategy, Tau: tau}}
			if err := k.run(t, func(_ int, s *Solver) error {
				err := s.Step(9)
				if got := float64(weights(s)[0]); math.Abs(got-want) > 1e-6 {
					t.Errorf("%s, tau %d: W = %g, want %g", c.strategy, tau, got, want)
				}
				return err
			}); err != nil {
				t.Errorf("%s: %v", c.strategy, err)
			}
		}
	}
}

// TestStrategiesLearn: every strategy lowers the loss of three workers, with statistics, and ends on all workers.
func TestStrategiesLearn(t *testing.T) {
	for _, name := range Strategies() {
		c := crew{workers: 3, text: normNet + "test_interval: 0", team: Team{Strategy: name, Tau: 2, CheckEvery: 4}}
		var first, last float64
		if err := c.run(t, func(rank int, s *Solver) error {
			loss := func(into *float64) error {
				before := make([]float32, s.group.stateSize())
				s.group.state(before)
				defer s.group.setState(before)
				return s.strategy.shown(func() (err error) {
					*into, err = s.net.Forward()
					return err
				})
			}
			if rank == 0 {
				if err := loss(&first); err != nil {
					return err
				}
			}
			for range 2 {
				if err := s.Step(40); err != nil {
					return err
				}
			}
			if rank > 0 {
				return nil
			}
			return loss(&last)
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !(last < first/2) {
			t.Errorf("%s: loss went from %g to %g", name, first, last)
		}
	}
}

// TestDeterministicStrategies: strategies with a fixed order give the same bits twice. The synchronous EASGD strategies over a tree give
// the same results, overlapped or not.
func TestDeterministicStrategies(t *testing.T) {
	var tree []float32
	for _, name := range []string{"easgd", "sync_easgd1", "sync_easgd2", "sync_easgd3", "decentralised_easgd"} {
		var runs [][]float32
		for range 2 {
			c := crew{workers: 3, text: normNet, team: Team{Strategy: name}}
			if err := c.run(t, func(rank int, s *Solver) error {
				if err := s.Step(8); err != nil || rank > 0 {
					return err
				}
				return s.strategy.shown(func() error {
					runs = append(runs, weights(s))
					return nil
				})
			}); err != nil {
				t.Fatal(err)
			}
		}
		sameBits(t, name, runs[1], runs[0])
		switch name {
		case "sync_easgd1":
			tree = runs[0]
		case "sync_easgd2", "sync_easgd3":
			sameBits(t, name, runs[0], tree)
		}
	}
}
