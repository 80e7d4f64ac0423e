package train

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/timeline"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

// trainTwo trains two workers of this process with a tracer until stop is closed, with their gradients in buckets.
func trainTwo(t *testing.T, tr *tracer, stop chan struct{}) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "solver.prototxt")
	if err := os.WriteFile(path, []byte(strings.Replace(disturbed, "max_iter: 7", "max_iter: 1000000", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	w := &workerFlags{workers: 2, strategy: solver.Sync, tau: 1, transport: cli.TransportLocal, allreduce: topology.Auto, bucketMB: 0.0005}
	return topology.NewLocal(2).Run(func(transport topology.Transport) error {
		file, err := swproto.ReadSolver(path)
		if err != nil {
			return err
		}
		spec, err := cpe.Load("host")
		if err != nil {
			return err
		}
		m, err := cpe.New(spec, cpe.DefaultMode(spec))
		if err != nil {
			return err
		}
		defer m.Close()
		var s *solver.Solver
		opt := solver.Options{Machine: m, Team: w.team(transport, topology.Flat(2), sinceNow()), Action: func() solver.Action {
			select {
			case <-stop:
				return solver.Stop
			default:
				return solver.None
			}
		}}
		tr.attach(&opt, func() *solver.Solver { return s })
		if s, err = solver.New(file, opt); err != nil {
			return err
		}
		defer s.Close()
		return s.Solve()
	})
}

// TestTimelines: a page gets one iteration of both workers at a time, with the layers in order, inside of the iteration, and their lanes; several
// pages may ask at once; after the run there is none.
func TestTimelines(t *testing.T) {
	tr, stop, ended := newTracer(0), make(chan struct{}), make(chan error, 1)
	go func() { ended <- trainTwo(t, tr, stop) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	results := make(chan error, 3)
	for range cap(results) {
		go func() { results <- checkTimeline(ctx, tr) }()
	}
	for range cap(results) {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	cut, cancelCut := context.WithCancel(context.Background())
	cancelCut()
	if _, err := tr.Timeline(cut); err == nil || len(tr.captures) != 0 {
		t.Errorf("%v; %d captures are left", err, len(tr.captures))
	}
}

// checkTimeline asks for an iteration.
func checkTimeline(ctx context.Context, tr *tracer) error {
	got, err := tr.Timeline(ctx)
	if err != nil {
		return err
	}
	names := map[string][]timeline.Mark{}
	for _, r := range got.Rows {
		names[r.Name] = r.Marks
	}
	for rank := range 2 {
		row := names[fmt.Sprintf("worker %d", rank)]
		var layers []string
		for _, m := range row {
			switch m.Category {
			case "forward", "backward":
				layers = append(layers, m.Category[:1]+" "+m.Name)
			case "iteration":
				if want := fmt.Sprintf("iteration %d", got.Iteration); m.Name != want {
					return fmt.Errorf("worker %d has %s, want %s", rank, m.Name, want)
				}
			}
		}
		if len(row) < 8 || layers[0] != "f x" || !slices.IsSorted([]int{slices.Index(layers, "f conv"), slices.Index(layers, "f ip"), slices.Index(layers, "b ip"), slices.Index(layers, "b conv")}) {
			return fmt.Errorf("worker %d has layers %q", rank, layers)
		}
		if len(names[fmt.Sprintf("worker %d: communication", rank)]) < 2 || len(names[fmt.Sprintf("worker %d: thread 0", rank)]) == 0 {
			return fmt.Errorf("worker %d lacks lanes: %d rows", rank, len(got.Rows))
		}
	}
	return nil
}
