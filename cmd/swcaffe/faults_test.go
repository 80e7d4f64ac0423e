//go:build unix

package main

import (
	"bytes"
	"crypto/md5"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// faultKind is a kind of fault that TestFaults makes; scripts/faults.sh sets how many of each.
type faultKind struct {
	name  string
	count *int
	do    func(c *faultCase)
}

var faultKinds = []faultKind{
	{"kills", flag.Int("faults.kills", 2, "the number of trainings killed by SIGKILL"), (*faultCase).kill},
	{"disks", flag.Int("faults.disks", 2, "the number of trainings whose files cannot grow or be stored"), (*faultCase).fillDisk},
	{"signals", flag.Int("faults.signals", 3, "the number of trainings that get one or two signals"), (*faultCase).signals},
	{"readers", flag.Int("faults.readers", 1, "the number of trainings whose log loses its reader"), (*faultCase).loseReader},
	{"conversions", flag.Int("faults.conversions", 2, "the number of new databases and sets that are killed, interrupted or find the disk full"), (*faultCase).convert},
	{"sources", flag.Int("faults.sources", 2, "the number of files that get shorter while they are read"), (*faultCase).shorten},
	{"errors", flag.Int("faults.errors", 2, "the number of trainings that an error ends"), (*faultCase).errors},
	{"mpi", flag.Int("faults.mpi", 0, "the number of faults in MPI jobs"), (*faultCase).mpi},
}

var faultSeed = flag.Uint64("faults.seed", 1, "the seed of the first case; each further one has the next")

// faultSolver trains for some tenths of a second, with a snapshot every few milliseconds.
const faultSolver = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 12 dim: 2 dim: 9 dim: 9 } shape { dim: 12 } data_filler { type: "gaussian" } data_filler { type: "uniform" max: 2.999 } } }
  layer { name: "conv" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 5 kernel_size: 3 weight_filler { type: "xavier" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "c" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "loss" }
}
base_lr: 0.05 momentum: 0.9 lr_policy: "fixed" random_seed: 5 snapshot_prefix: "s" snapshot: 20 max_iter: 200 display: 1
`

const faultLast = 200 // its max_iter

// faultEndless is the max_iter of trainings that only a signal ends. They take many times as long as a busy computer lets signals wait.
const faultEndless = 20000

// faultWays are the ways to train that give the same bits each time.
var faultWays = []string{"", "-workers 2", "-core_groups 2", "-workers 2 -workers_strategy sync_easgd3", "-workers 2 -workers_strategy easgd -tau 2"}

// faultRun is the common part of all cases: the binary and, for each way of training, the digests of the files and the duration
// of a training without faults.
type faultRun struct {
	binary string
	whole  map[string]map[string][16]byte
	took   map[string]time.Duration

	conversions map[string]*conversion
	mpiBinary   string
}

// faultCase is one command with one fault.
type faultCase struct {
	*faultRun
	t    *testing.T
	way  string // how it trains, or what else it does
	dir  string
	rng  *rand.Rand
	note string              // what happened to it
	end  string              // how it ended
	last int                 // the max_iter of the training that is resumed
	want map[string][16]byte // the digests of the files that it would have left without the fault
}

// TestFaults injects faults at random moments, and compares the results with a run without faults. It checks exit codes, that
// there is no dump of goroutines, that every file with a final name equals the file of the whole run, that no temporary files
// remain, and that a resumed training gives the same result.
func TestFaults(t *testing.T) {
	r := &faultRun{binary: buildBinary(t), whole: map[string]map[string][16]byte{}, took: map[string]time.Duration{}, conversions: map[string]*conversion{}}
	seed, done := *faultSeed, map[string]int{}
	for _, kind := range faultKinds {
		for range *kind.count {
			rng := rand.New(rand.NewPCG(seed, 0))
			c := &faultCase{faultRun: r, t: t, way: faultWays[rng.IntN(len(faultWays))], dir: t.TempDir(), rng: rng}
			failed := t.Failed()
			kind.do(c)
			if t.Failed() && !failed {
				t.Logf("repeat: %s", repetition(kind.name, seed))
			}
			done[fmt.Sprintf("%-12s%s: %s", kind.name, c.way, c.end)]++
			os.RemoveAll(c.dir)
			seed++
		}
	}
	for _, what := range slices.Sorted(maps.Keys(done)) {
		t.Logf("%4d %s", done[what], what)
	}
}

// repetition returns the command line that repeats one fault.
func repetition(kind string, seed uint64) string {
	line := "go test ./cmd/swcaffe -run TestFaults -args"
	for _, k := range faultKinds {
		n := 0
		if k.name == kind {
			n = 1
		}
		line += fmt.Sprintf(" -faults.%s %d", k.name, n)
	}
	return fmt.Sprintf("%s -faults.seed %d", line, seed)
}

// prepare writes the solver, and trains without faults, once for each way.
func (c *faultCase) prepare() {
	c.writeSolver(c.dir, faultLast)
	if c.whole[c.way] == nil {
		begin := time.Now()
		c.whole[c.way] = c.trainWhole(faultLast)
		c.took[c.way] = time.Since(begin)
	}
	c.last, c.want = faultLast, c.whole[c.way]
}

// prolong lets what prepare has prepared train until a signal ends it.
func (c *faultCase) prolong() { c.writeSolver(c.dir, faultEndless) }

// goOn resumes a prolonged training that a signal has ended, for 20 iterations after its newest snapshot.
func (c *faultCase) goOn() {
	c.t.Helper()
	c.last = slices.Max(append(c.iterations(), 0)) + 20
	c.writeSolver(c.dir, c.last)
	c.want = c.trainWhole(c.last)
}

func (c *faultCase) writeSolver(dir string, iterations int) {
	c.t.Helper()
	write(c.t, filepath.Join(dir, "solver.prototxt"), strings.Replace(faultSolver, fmt.Sprint("max_iter: ", faultLast), fmt.Sprint("max_iter: ", iterations), 1))
}

// trainWhole trains without faults and returns the digests of all files.
func (c *faultCase) trainWhole(iterations int) map[string][16]byte {
	c.t.Helper()
	dir := c.t.TempDir()
	defer os.RemoveAll(dir)
	c.writeSolver(dir, iterations)
	cmd := c.command(nil)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%q: %v\n%s", c.way, err, out)
	}
	return digests(c.t, dir)
}

// digests are those of a folder's files, but the solver.
func digests(t *testing.T, dir string) map[string][16]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][16]byte{}
	for _, e := range entries {
		if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil && e.Name() != "solver.prototxt" {
			all[e.Name()] = md5.Sum(text)
		}
	}
	return all
}

// command is a training; behind wraps its command line.
func (c *faultCase) command(behind []string, args ...string) *exec.Cmd {
	line := append(append(slices.Clone(behind), c.binary, "train", "-solver", "solver.prototxt"), strings.Fields(c.way)...)
	line = append(line, args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = c.dir
	return cmd
}

// start starts a command and waits for a random part of the time that it takes.
func (c *faultCase) start(cmd *exec.Cmd, took time.Duration) {
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	time.Sleep(time.Duration(c.rng.Int64N(int64(took))))
}

func (c *faultCase) errorf(out string, format string, args ...any) {
	c.t.Helper()
	if len(out) > 8000 {
		out = out[:2000] + "\n...\n" + out[len(out)-6000:]
	}
	c.t.Errorf("%s (%s): %s\n%s", c.note, c.way, fmt.Sprintf(format, args...), out)
}

// ending says how a process has ended.
func ending(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

func (c *faultCase) kill() {
	c.note = "SIGKILL"
	c.prepare()
	var out bytes.Buffer
	cmd := c.command(nil)
	cmd.Stdout, cmd.Stderr = &out, &out
	c.start(cmd, c.took[c.way])
	cmd.Process.Kill()
	switch err := cmd.Wait(); {
	case err == nil:
		c.end = "had ended"
	case len(c.iterations()) > 0:
		c.end = "killed after a snapshot"
	default:
		c.end = "killed before a snapshot"
	}
	c.judge(out.String(), true)
}

func faultState(iteration int) string { return fmt.Sprintf("s_iter_%d.solverstate", iteration) }
