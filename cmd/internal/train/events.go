package train

import (
	"flag"
	"fmt"
	"net/http"
	"os"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/metrics"
	"github.com/swcaffe/swcaffe/internal/app/page"
	"github.com/swcaffe/swcaffe/internal/app/tensorboard"
	"github.com/swcaffe/swcaffe/internal/app/testreport"
	"github.com/swcaffe/swcaffe/solver/events"
)

// eventFlags say who receives the events of a run, and who looks into its net.
type eventFlags struct {
	logJSON, http, token string
	metrics              bool
	tensorboard          string // a folder
	summaries            int    // iterations from one histogram for TensorBoard to the next
	trace                string // a file
	traced               int    // iterations in it
	labels               string // a file with the names of the classes

	among  bool             // other processes write to the terminal too
	stream *events.Stream   // nil: nobody
	start  desk             // worked before an iteration; nil: nobody asks the solver for anything
	look   *looker          // nil: no page
	board  *tensorboard.Run // nil: none
	tracer *tracer          // nil: none
	status *status          // nil: stderr is no terminal
	close  []func()
}

func (f *eventFlags) register(fs *flag.FlagSet) {
	cli.OutputVar(fs, &f.logJSON, "log_json", "append every event of the run to a `FILE`, as a line of JSON each (docs/events.md); -: standard output")
	fs.StringVar(&f.http, "http", "", "show the run on a page at this `ADDRESS`, as 127.0.0.1:8080; port 0 takes a free one")
	fs.StringVar(&f.token, "http_token", "", "the `WORD` that permits the page's buttons and, on addresses open to other computers, the page itself (default: the environment variable "+cli.HTTPTokenVariable+", or a random one, shown in the log)")
	cli.StringVar(fs, &f.labels, "labels", "", "with -http: a `FILE` with the names of the classes, one a line, or SSD's LabelMap (default: one beside the data, as dataset and init write it)", cli.AnyFile)
	fs.BoolVar(&f.metrics, "metrics", false, "add Prometheus metrics to the page of -http, at /metrics (docs/metrics.md)")
	cli.StringVar(fs, &f.tensorboard, "tensorboard", "", "write event files for TensorBoard below a `FOLDER`", cli.Folder)
	fs.IntVar(&f.summaries, "tensorboard_histograms", 500, "write histograms and pictures for TensorBoard every `N` iterations; 0: none")
	cli.OutputVar(fs, &f.trace, "trace", "write when layers ran and workers exchanged messages in the first iterations, in all processes, to a `FILE` for Perfetto (ui.perfetto.dev) or chrome://tracing")
	fs.IntVar(&f.traced, "trace_iterations", 20, "the `NUMBER` of iterations in the file of -trace")
}

// check validates the flags.
func (f *eventFlags) check() error {
	switch {
	case f.token != "" && f.http == "":
		return cli.Usagef("-http_token is for the page of -http")
	case f.labels != "" && f.http == "":
		return cli.Usagef("-labels %s: it names the classes on the page of -http", f.labels)
	case f.metrics && f.http == "":
		return cli.Usagef("-metrics needs -http ADDRESS, where /metrics is")
	case f.traced < 1:
		return cli.Usagef("-trace_iterations %d: at least one iteration is needed", f.traced)
	case f.summaries < 0:
		return cli.Usagef("-tensorboard_histograms %d: cannot be negative", f.summaries)
	case f.http == "":
		return nil
	}
	if err := page.CheckAddress(f.http, cli.HTTPToken(f.token)); err != nil {
		return cli.Usagef("-http %w", err)
	}
	return nil
}

// open connects the receivers that the flags name, in the process whose first worker has rank 0; others help to trace. A resumed run's page shows the run
// from its beginning if -log_json has that. alone says that there is one worker.
func (f *eventFlags) open(e *cli.Env, rank int, resumed, alone bool, actions *signals) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.http != "" || f.trace != "" {
		f.tracer = newTracer(rank)
	}
	shows := canShow(e) && !f.among && f.logJSON != cli.StandardStream
	if f.logJSON == "" && f.http == "" && f.tensorboard == "" && f.trace == "" && !shows {
		return nil
	}
	if rank != 0 {
		if f.trace != "" {
			f.tracer.assist(f.traced)
		}
		return nil
	}
	f.stream = events.NewStream(nil)
	if shows {
		f.status = newStatus(e)
		f.subscribe(f.status.take, f.status.end)
	}
	if f.http != "" {
		if err := f.openPage(e, resumed, alone, actions); err != nil {
			return err
		}
	}
	if f.tensorboard != "" {
		if err := os.MkdirAll(f.tensorboard, 0o755); err != nil {
			return fmt.Errorf("-tensorboard: %w", err)
		}
		f.board = tensorboard.NewRun(f.tensorboard, func(err error) { e.Log.Warnf("-tensorboard: %v", err) })
		f.subscribe(f.board.Take, f.board.Close)
	}
	if f.trace != "" {
		f.tracer.write(e, f.trace, f.traced)
	}
	if f.tracer != nil {
		f.subscribe(f.tracer.take, f.tracer.end)
	}
	if f.logJSON != "" {
		file, err := f.openFile(func(err error) { e.Log.Warnf("-log_json %v", err) })
		if err != nil {
			return fmt.Errorf("-log_json: %w", err)
		}
		f.subscribe(file.Take, file.Close)
	}
	return nil
}

// subscribe adds a receiver with the function that closes it.
func (f *eventFlags) subscribe(take func(events.Event), end func() error) {
	f.stream.Subscribe(take)
	f.close = append(f.close, func() { _ = end() }) // each write has been checked
}

func (f *eventFlags) openFile(warn func(error)) (*events.File, error) {
	if f.logJSON == cli.StandardStream {
		return events.WriteTo(os.Stdout, "standard output", warn), nil
	}
	return events.Append(f.logJSON, warn)
}

// openPage starts the server of the page.
func (f *eventFlags) openPage(e *cli.Env, resumed, alone bool, actions *signals) error {
	past := &events.History{}
	if resumed && f.logJSON != "" && f.logJSON != cli.StandardStream {
		if err := readPast(past, f.logJSON); err != nil {
			return fmt.Errorf("-log_json: %w", err)
		}
	}
	if alone {
		f.start = newDesk()
	}
	x := newExaminer()
	if f.labels != "" {
		var err error
		if x.labels, err = testreport.ReadLabels(f.labels); err != nil {
			return cli.FlagError("labels", err)
		}
	}
	f.look = &looker{examiner: x, tracer: f.tracer, desk: newDesk()}
	var figures http.Handler
	if f.metrics {
		set := metrics.New()
		f.stream.Subscribe(set.Take)
		figures = set
	}
	one := []page.Run{{Name: "this run", History: past}}
	server, err := page.Listen(page.Config{
		Address: f.http, Token: cli.HTTPToken(f.token), Runs: func() []page.Run { return one }, Control: pageControl{actions, f.start}, Inspector: f.look, Metrics: figures,
	})
	if err != nil {
		return fmt.Errorf("-http %w", err)
	}
	f.subscribe(past.Take, server.Close)
	server.Serve()
	e.Log.Infof("The run's page: %s", server.URL())
	return nil
}

// done disconnects the receivers, the last one first.
func (f *eventFlags) done() {
	for i := len(f.close) - 1; i >= 0; i-- {
		f.close[i]()
	}
	f.stream, f.start, f.look, f.board, f.tracer, f.status, f.close = nil, nil, nil, nil, nil, nil, nil
}
