package train

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/elastic"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/solver"
)

// elasticFlags are for trainings that outlive their workers. The command starts workers as processes of their own and starts them again when they are
// lost; the one with -elastic coordinates them.
type elasticFlags struct {
	span, at, join string
	least, most    int
	self           *elasticWorker // nil: this process is no such worker
}

// elasticWorker is what the command tells a worker that it starts.
type elasticWorker struct {
	Coordinator, Word string
	Parent            int // the process that coordinates and has started the worker; 0: another one coordinates
}

// elasticVariable has an elasticWorker, as JSON.
const elasticVariable = "SWCAFFE_ELASTIC_WORKER"

// wordVariable is the secret that workers on other computers must know, if it is not drawn.
const wordVariable = "SWCAFFE_ELASTIC_WORD"

func (f *elasticFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.span, cli.ElasticFlag, "", "start workers that may be lost and come back: `MIN:MAX`, the numbers with which the training goes on (docs/workers.md)")
	fs.StringVar(&f.at, "elastic_at", "", "with -elastic: the `ADDRESS` at which workers of other computers join, as node1:7000 (default: none do)")
	fs.StringVar(&f.join, cli.JoinFlag, "", "start workers that join the training of -elastic_at, `WORD@ADDRESS`, as its log shows it")
}

func (f *elasticFlags) used() bool { return f.span != "" || f.join != "" }

// check validates the flags.
func (f *elasticFlags) check(o *trainOptions) error {
	if text, ok := os.LookupEnv(elasticVariable); ok && f.used() {
		f.self = &elasticWorker{}
		if err := json.Unmarshal([]byte(text), f.self); err != nil {
			return fmt.Errorf("%s: %w", elasticVariable, err)
		}
	}
	w := &o.workers
	switch {
	case f.at != "" && f.span == "":
		return cli.Usagef("-elastic_at needs -elastic")
	case !f.used():
		return nil
	case f.span != "" && f.join != "":
		return cli.Usagef("-join joins the training that another command has started by -elastic: leave one of the two out")
	case w.transport != "":
		return cli.Usagef("-elastic has a transport of its own: leave -transport out")
	case w.expected != 0:
		return cli.Usagef("-elastic MIN:MAX says how many workers there are: leave -workers_expected out")
	}
	if f.join != "" {
		if word, address, ok := strings.Cut(f.join, "@"); !ok || word == "" || address == "" {
			return cli.Usagef("-join %q: must be WORD@ADDRESS, as the log of -elastic_at shows it", f.join)
		}
		w.workers = max(1, w.workers)
		return nil
	}
	if n, err := fmt.Sscanf(f.span+" ", "%d:%d ", &f.least, &f.most); n != 2 || err != nil || fmt.Sprintf("%d:%d", f.least, f.most) != f.span {
		return cli.Usagef("-elastic %q: must be MIN:MAX, as 2:4", f.span)
	}
	if f.least < 1 || f.most < f.least || f.most > cli.MaxLocalRanks {
		return cli.Usagef("-elastic %s: must be numbers from 1 to %d, the smaller one first", f.span, cli.MaxLocalRanks)
	}
	if w.workers > f.most {
		return cli.Usagef("-elastic %s: -workers %d starts more", f.span, w.workers)
	}
	if w.workers == 0 {
		w.workers = f.most
	}
	return nil
}

// supervise starts workers and waits for the end of the training. The command with -elastic coordinates all workers.
func (o *trainOptions) supervise(e *cli.Env) error {
	f := &o.elastic
	if err := o.events.check(); err != nil {
		return err
	}
	if o.events.http != "" && cli.HTTPToken(o.events.token) == "" {
		// The page of the next first worker opens by the same word.
		if err := os.Setenv(cli.HTTPTokenVariable, rand.Text()); err != nil {
			return err
		}
	}
	if f.join != "" {
		word, address, _ := strings.Cut(f.join, "@")
		return newNursery(e, elasticWorker{Coordinator: address, Word: word}).run(o.workers.workers, nil)
	}
	held, free, err := o.holdFiles()
	if err != nil {
		return err
	}
	defer free()
	word := os.Getenv(wordVariable)
	if word == "" {
		var random [8]byte
		_, _ = rand.Read(random[:]) // never fails
		word = hex.EncodeToString(random[:])
	}
	address := f.at
	if address == "" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("-elastic_at: %w", err)
	}
	program, err := cli.ProgramSum()
	if err != nil {
		return err
	}
	if f.at != "" {
		e.Log.Infof("Workers of other computers join by: swcaffe train -solver FILE -join %s@%s", word, f.at)
	}
	n := newNursery(e, elasticWorker{l.Addr().String(), word, os.Getpid()})
	n.holds = held
	c := elastic.New(elastic.Options{
		Min: f.least, Max: f.most, Word: word, Program: hex.EncodeToString(program), Flags: strings.Join(o.workers.terms(), " "),
		Tell: func(line string) { e.Log.Info(line) }, Lost: n.lost,
	})
	served := make(chan error, 1)
	go func() {
		err := c.Serve(l)
		n.finish()
		served <- err
	}()
	ran := n.run(o.workers.workers, c)
	err = <-served
	if err == nil {
		return ran
	}
	return err
}

// holdFiles reads the solver's file, and keeps other trainings from writing snapshots of the same names, until this command and the workers that have inherited held have
// ended: if the command is killed, they write what they have trained.
func (o *trainOptions) holdFiles() (held *os.File, free func(), err error) {
	file, err := o.read(layers.NoLog())
	if err != nil {
		return nil, nil, err
	}
	if err := solver.CheckWritable(file); err != nil {
		return nil, nil, err
	}
	return holdNames(solver.SnapshotPrefix(file))
}

// nursery are the workers that this command has started.
type nursery struct {
	e     *cli.Env
	self  elasticWorker
	holds *os.File // workers inherit it, if not nil
	host  string
	mu    sync.Mutex
	alive map[int]*os.Process
	over  bool // no worker is started any more
	fault error
	all   sync.WaitGroup
	ended chan struct{} // closed by finish
}

func newNursery(e *cli.Env, self elasticWorker) *nursery {
	host, _ := os.Hostname()
	return &nursery{e: e, self: self, host: host, alive: map[int]*os.Process{}, ended: make(chan struct{})}
}

// A worker that is lost is started again after firstRest, and after twice the time each time that it has lived for less than shortLife.
const (
	firstRest = 500 * time.Millisecond
	longRest  = time.Minute
	shortLife = time.Second
	// farewell is how long workers may take to end after the training.
	farewell = 30 * time.Second
)

// run starts a number of workers and returns when all have ended. c is the coordinator, if it is in this process.
func (n *nursery) run(workers int, c *elastic.Coordinator) error {
	stop := make(chan os.Signal, 8)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if launcherSignal != nil {
		signal.Notify(stop, launcherSignal)
	}
	defer signal.Stop(stop)
	go func() {
		for s := range stop {
			n.e.Log.Infof("Signal %d (%v) goes to all workers.", s, s)
			n.pass(s, c)
		}
	}()
	for range workers {
		n.all.Go(func() { n.raise(c) })
	}
	n.all.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fault
}

// raise starts a worker, again and again.
func (n *nursery) raise(c *elastic.Coordinator) {
	for rest := firstRest; ; {
		begun := time.Now()
		err := n.worker()
		var exit *exec.ExitError
		n.mu.Lock()
		over := n.over
		n.mu.Unlock()
		switch {
		case err == nil || over:
			return
		case errors.As(err, &exit) && exit.ExitCode() < 0: // by a signal
		default:
			n.mu.Lock()
			n.fault = fmt.Errorf("a worker has ended: %w", err)
			n.mu.Unlock()
			if c != nil {
				c.Fail(n.fault)
			}
			return
		}
		if time.Since(begun) < shortLife {
			rest = min(2*rest, longRest)
		} else {
			rest = firstRest
		}
		n.e.Log.Warnf("A worker on %s has ended (%v); it is started again in %v", n.host, err, rest)
		select {
		case <-time.After(rest):
		case <-n.ended:
			return
		}
	}
}

// worker runs a worker's process.
func (n *nursery) worker() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := json.Marshal(n.self)
	if err != nil {
		return err
	}
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), elasticVariable+"="+string(text))
	cmd.Stdout, cmd.Stderr = n.e.Stdout, n.e.Stderr
	if n.holds != nil {
		cmd.ExtraFiles = []*os.File{n.holds}
	}
	cli.ApartFromTerminal(cmd)
	n.mu.Lock()
	if err = cmd.Start(); err == nil {
		n.alive[cmd.Process.Pid] = cmd.Process
	}
	n.mu.Unlock()
	if err != nil {
		return err
	}
	err = cmd.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.alive, cmd.Process.Pid)
	return err
}

// lost ends a worker of this computer that counts as lost.
func (n *nursery) lost(host string, pid int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.alive[pid]; p != nil && host == n.host {
		_ = p.Kill()
	}
}

// pass gives a signal to all workers. After one that may stop them none is started again.
func (n *nursery) pass(s os.Signal, c *elastic.Coordinator) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s != syscall.SIGHUP {
		n.over = true
		if c != nil {
			go c.Stop()
		}
	}
	for _, p := range n.alive {
		_ = p.Signal(s)
	}
}

// finish says that the training has ended. Workers that do not end are ended.
func (n *nursery) finish() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.over = true
	close(n.ended)
	for _, p := range n.alive {
		time.AfterFunc(farewell, func() { _ = p.Kill() })
	}
}
