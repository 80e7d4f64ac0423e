//go:build unix

package main

import (
	"bytes"
	"crypto/md5"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// How many faults of each kind TestFaults makes; scripts/faults.sh sets them.
var (
	faultKills = flag.Int("faults.kills", 2, "the number of trainings killed by SIGKILL")
	faultDisks = flag.Int("faults.disks", 2, "the number of trainings whose files cannot grow or be stored")
	faultPairs = flag.Int("faults.pairs", 3, "the number of trainings that get two signals")
	faultMPI   = flag.Int("faults.mpi", 0, "the number of faults in MPI jobs")
	faultSeed  = flag.Uint64("faults.seed", 1, "the seed of the first case; each further one has the next")
)

// faultSolver trains for some tenths of a second, with a snapshot every few milliseconds.
const faultSolver = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t"
    dummy_data_param { shape { dim: 12 dim: 2 dim: 9 dim: 9 } shape { dim: 12 } data_filler { type: "gaussian" } data_filler { type: "uniform" max: 0.999 } } }
  layer { name: "conv" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 5 kernel_size: 3 weight_filler { type: "xavier" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "c" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "loss" }
}
base_lr: 0.05 momentum: 0.9 lr_policy: "fixed" random_seed: 5 snapshot_prefix: "s" snapshot: 20 max_iter: 200 display: 50
`

const faultLast = 200 // its max_iter

// faultWays are the ways to train that give the same bits each time.
var faultWays = []string{"", "-workers 2", "-core_groups 2", "-workers 2 -strategy sync_easgd3", "-workers 2 -strategy easgd -tau 2"}

// faultRun is what all cases share: the binary, and by way the digests of the files that a training without faults leaves, and its duration.
type faultRun struct {
	binary string
	whole  map[string]map[string][16]byte
	took   map[string]time.Duration
}

// faultCase is one training that a fault happens to.
type faultCase struct {
	*faultRun
	t    *testing.T
	way  string
	dir  string
	rng  *rand.Rand
	note string // what happened to it
}

// TestFaults makes faults at random moments and holds what is left against a training without them: exit codes, no dump of goroutines, every
// file that has its final name equal to that of the whole training, no temporary files, and a resumed training with the same result.
func TestFaults(t *testing.T) {
	r := &faultRun{buildBinary(t), map[string]map[string][16]byte{}, map[string]time.Duration{}}
	seed := *faultSeed
	for _, kind := range []struct {
		name  string
		count int
		do    func(c *faultCase)
	}{{"kills", *faultKills, (*faultCase).kill}, {"disks", *faultDisks, (*faultCase).fillDisk}, {"pairs", *faultPairs, (*faultCase).signalPair}} {
		for range kind.count {
			rng := rand.New(rand.NewPCG(seed, 0))
			c := &faultCase{faultRun: r, t: t, way: faultWays[rng.IntN(len(faultWays))], dir: t.TempDir(), rng: rng}
			write(t, filepath.Join(c.dir, "solver.prototxt"), faultSolver)
			r.reference(t, c.way)
			failed := t.Failed()
			kind.do(c)
			if t.Failed() && !failed {
				t.Logf("repeat: go test ./cmd/swcaffe -run TestFaults -args -faults.kills 0 -faults.disks 0 -faults.pairs 0 -faults.%s 1 -faults.seed %d", kind.name, seed)
			}
			os.RemoveAll(c.dir)
			seed++
		}
	}
	if *faultMPI > 0 {
		testMPIFaults(t, r, seed, *faultMPI)
	}
}

// reference trains without faults, once for each way.
func (r *faultRun) reference(t *testing.T, way string) {
	if r.whole[way] != nil {
		return
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "solver.prototxt"), faultSolver)
	begin := time.Now()
	cmd := exec.Command(r.binary, append([]string{"train", "-solver", "solver.prototxt"}, strings.Fields(way)...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", way, err, out)
	}
	r.took[way], r.whole[way] = time.Since(begin), digests(t, dir)
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
func (c *faultCase) command(out *bytes.Buffer, behind []string, args ...string) *exec.Cmd {
	line := append(append(behind, c.binary, "train", "-solver", "solver.prototxt"), strings.Fields(c.way)...)
	line = append(line, args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, out, out
	return cmd
}

// start starts one and waits for a random part of the time that it takes.
func (c *faultCase) start(out *bytes.Buffer) *exec.Cmd {
	cmd := c.command(out, nil)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	time.Sleep(time.Duration(c.rng.Int64N(int64(c.took[c.way]))))
	return cmd
}

func (c *faultCase) errorf(out string, format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("%s (train %s): %s\n%.4000s", c.note, c.way, fmt.Sprintf(format, args...), out)
}

func (c *faultCase) kill() {
	c.note = "SIGKILL"
	var out bytes.Buffer
	cmd := c.start(&out)
	cmd.Process.Kill()
	cmd.Wait()
	c.judge(out.String(), true)
}

// fillDisk lets files grow to a random size only, or, where strace is there, has a random fsync or rename fail.
func (c *faultCase) fillDisk() {
	var out bytes.Buffer
	behind := []string{"sh", "-c", fmt.Sprintf(`ulimit -f %d; exec "$@"`, 1+c.rng.IntN(16)), "sh"}
	if _, err := exec.LookPath("strace"); err == nil && c.rng.IntN(2) == 0 {
		call := []string{"fsync", "renameat"}[c.rng.IntN(2)]
		behind = []string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", fmt.Sprintf("inject=%s:error=ENOSPC:when=%d", call, 1+c.rng.IntN(30))}
	}
	c.note = strings.Join(behind, " ")
	err := c.command(&out, behind).Run()
	code := (*exec.ExitError)(nil)
	switch text := out.String(); {
	case err == nil:
		if c.whole[c.way] == nil || digests(c.t, c.dir)["s_iter_200.solverstate"] != c.whole[c.way]["s_iter_200.solverstate"] {
			c.errorf(text, "it succeeds with another result")
		}
	case !errors.As(err, &code) || code.ExitCode() != 1:
		c.errorf(text, "%v, want exit code 1", err)
	case !strings.Contains(text, "s_iter_") || !strings.Contains(text, "no space left") && !strings.Contains(text, "file too large"):
		c.errorf(text, "the error does not name the file and the cause")
	}
	c.judge(out.String(), false)
}

// signalPair sends two signals, one soon after the other; a stop must end the training.
func (c *faultCase) signalPair() {
	all := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGSTOP}
	pair := [2]syscall.Signal{all[c.rng.IntN(4)], all[c.rng.IntN(4)]}
	apart := time.Duration(c.rng.IntN(20_000)) * time.Microsecond
	c.note = fmt.Sprintf("%v, %v after %v", pair[0], pair[1], apart)
	var out bytes.Buffer
	cmd := c.start(&out)
	cmd.Process.Signal(pair[0])
	time.Sleep(apart)
	cmd.Process.Signal(pair[1])
	time.Sleep(apart)
	cmd.Process.Signal(syscall.SIGCONT)
	err := cmd.Wait()
	text := out.String()
	stops := pair[0] == syscall.SIGINT || pair[0] == syscall.SIGTERM || pair[1] == syscall.SIGINT || pair[1] == syscall.SIGTERM
	early, done := strings.Contains(text, "Optimization stopped early."), strings.Contains(text, "Optimization Done.")
	died := (*exec.ExitError)(nil)
	switch {
	case err == nil && (done || stops && early):
	case errors.As(err, &died) && died.Sys().(syscall.WaitStatus).Signaled() && !strings.Contains(text, "Starting Optimization"):
	default:
		c.errorf(text, "%v", err)
	}
	c.judge(text, false)
}

// complete reports whether a snapshot has every file that the whole training's has: where workers differ, one may be stopped before it has
// written what it has of its own, and a training that is resumed from there says that it starts from the centre.
func (c *faultCase) complete(iteration int) bool {
	for name := range c.whole[c.way] {
		if strings.HasPrefix(name, fmt.Sprintf("s_iter_%d.", iteration)) && !exists(filepath.Join(c.dir, name)) {
			return false
		}
	}
	return true
}

// judge looks at what a fault has left, and resumes. Temporary files may be left by what had no chance to remove them, until then.
func (c *faultCase) judge(out string, mayLeave bool) {
	c.t.Helper()
	if strings.Contains(out, "goroutine ") || strings.Contains(out, "panic") {
		c.errorf(out, "goroutines are dumped")
	}
	last := 0
	for name, digest := range digests(c.t, c.dir) {
		temporary := strings.HasPrefix(name, ".")
		want, known := c.whole[c.way][name]
		switch {
		case temporary && !mayLeave:
			c.errorf(out, "%s is left", name)
		case !temporary && known && digest != want:
			c.errorf(out, "%s is not as in a training without faults", name)
		}
		if n, ok := strings.CutSuffix(strings.TrimPrefix(name, "s_iter_"), ".solverstate"); ok && !temporary {
			if iteration, err := strconv.Atoi(n); err == nil && c.complete(iteration) {
				last = max(last, iteration)
			}
		}
	}
	var args []string
	if last > 0 {
		args = []string{"-snapshot", fmt.Sprintf("s_iter_%d.solverstate", last)}
	}
	var again bytes.Buffer
	if err := c.command(&again, nil, args...).Run(); err != nil {
		c.errorf(out+"\nresumed:\n"+again.String(), "cannot be resumed from %d: %v", last, err)
		return
	}
	now := digests(c.t, c.dir)
	for _, name := range []string{fmt.Sprintf("s_iter_%d.caffemodel", faultLast), fmt.Sprintf("s_iter_%d.solverstate", faultLast)} {
		if now[name] != c.whole[c.way][name] {
			c.errorf(out+"\nresumed:\n"+again.String(), "resumed from %d, %s is not as in a training without faults", last, name)
		}
	}
	for name := range now {
		if strings.HasPrefix(name, ".") {
			c.errorf(out, "%s is left after the resumed training", name)
		}
	}
}
