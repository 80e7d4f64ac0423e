package infer

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"math/bits"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/serve"
	"github.com/swcaffe/swcaffe/predict"
)

// Serve is the command serve.
var Serve = cli.Command{
	Name:     "serve",
	Synopsis: "answer requests for trained nets over HTTP and gRPC",
	Args:     "-model DEPLOY -weights FILES [-labels FILE] [-name NAME] [-model ...] | -repository DIR",
	Example:  "swcaffe serve -model deploy.prototxt -weights net.caffemodel -labels labels.txt -http 127.0.0.1:8000",
	Help: `Answers requests of the Open Inference Protocol (KServe's v2) over HTTP, with JSON and binary tensors, and over gRPC, and images with labels or
boxes: docs/serve.md has the calls with commands to paste. Requests for one model are joined to runs of up to -batch items. The address of -http
answers gRPC too; -grpc adds a second one, as clients may expect.

-model may be given several times: -weights, -labels, -name, -mean, -mean_value and -scale are of the -model before them (and before the first -model,
of that one). Several models need a -name each.

-repository serves all models of a folder: DIR/NAME/VERSION/ has deploy.prototxt (or one other .prototxt), one file of weights, and if wanted
labels.txt and train_val.prototxt, which says how images become input. VERSION is a number; requests that name none get the highest. A model that
cannot be loaded is named in the log, and the others are served. The call load takes in changed files; requests under way end with the old version.

An interrupt (Ctrl-C) or SIGTERM ends the command after the requests that it has; a second one ends it at once. SIGHUP loads what is new or has changed
in the folder of -repository, and unloads what is gone.`,
	Do: cli.With(serveFlags, serveModels),
}

func serveFlags(fs *flag.FlagSet, o *serveOptions) {
	cli.FuncVar(fs, o.begin, "model", "the net definition `FILE` for deployment (prototxt); the flags of this model follow it", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.StringVar(fs, &o.labels, "labels", "", "the `FILE` of labels: one a line, or SSD's LabelMap", cli.AnyFile)
	fs.Func("name", "the `NAME` of the model in requests (default: model)", func(name string) error {
		o.name = name
		return serve.CheckName(name)
	})
	cli.StringVar(fs, &o.repository, "repository", "", "the `FOLDER` of models, in the place of -model", cli.Folder)
	fs.StringVar(&o.http, "http", "127.0.0.1:8000", "the `ADDRESS` to answer at; port 0 takes a free one")
	fs.StringVar(&o.grpc, "grpc", "", "a second `ADDRESS` to answer at, for clients of gRPC, as 127.0.0.1:8001")
	fs.StringVar(&o.token, "token", "", "the `WORD` that requests need, but for those about health (default: the environment variable "+cli.HTTPTokenVariable+")")
	cli.StringVar(fs, &o.cert, "tls_cert", "", "the `FILE` of the certificate (PEM, with those between it and its root): clients connect by TLS", cli.AnyFile)
	cli.StringVar(fs, &o.key, "tls_key", "", "the `FILE` of the certificate's private key (PEM)", cli.AnyFile)
	fs.IntVar(&o.batch, "batch", 8, "the most items of a run; runs have 1, 2, 4 ... items up to it")
	fs.DurationVar(&o.delay, "batch_delay", 0, "how long a run that is not full waits for more items")
	fs.IntVar(&o.queue, "queue", 64, "how many requests wait for a model; more are refused with status 429")
	fs.IntVar(&o.requests, "requests", 256, "how many requests the server holds at a time; more are refused with status 429")
	fs.DurationVar(&o.timeout, "timeout", time.Minute, "how long a request may take, and requests under way after SIGTERM")
	fs.Int64Var(&o.maxBody, "max_body", 64<<20, "the most bytes of a request's body")
	fs.Int64Var(&o.maxBodies, "max_bodies", 512<<20, "the most bytes of the bodies of all requests that the server holds at a time; more are refused with status 429")
	fs.IntVar(&o.connections, "connections", 1024, "how many connections clients may have; more are closed at once")
	fs.DurationVar(&o.headerTime, "header_time", 10*time.Second, "how long a client may take for sending a request's headers")
	fs.DurationVar(&o.idleTime, "idle_time", 2*time.Minute, "how long a connection may have no request")
	fs.IntVar(&o.maxPixels, "max_pixels", 64<<20, "the most pixels of an image, of which each takes 3 bytes when it is decoded")
	fs.IntVar(&o.cores, "cores", 0, "cores for each version of a model; 0: all for one model, of several each has its share")
	fs.IntVar(&o.sessions, "sessions", 4, "how many runs of a version go on at once when requests wait, each on its share of the version's cores, at least one; a run with none beside it has them all")
	fs.StringVar(&o.logRequests, "log_requests", "", "append a line of JSON to a `FILE` for each request: when, for what, its stages' times, sizes and status; -: to standard output")
	cli.OutputVar(fs, &o.trace, "trace", "write when the first requests waited and ran, and their layers, to a `FILE` for Perfetto (ui.perfetto.dev) or chrome://tracing")
	fs.IntVar(&o.traceRequests, "trace_requests", 1000, "how many requests -trace records; then it writes its file")
	o.register(fs)
	o.device.Register(fs)
}

// modelFlags are the flags of one model.
type modelFlags struct {
	net, weights, labels, name string
	preprocessing
}

type serveOptions struct {
	modelFlags              // of the last -model
	before     []modelFlags // those of the models before it

	repository             string
	http, grpc, token      string
	cert, key              string
	batch, queue, requests int
	delay, timeout         time.Duration
	maxBody, maxBodies     int64
	cores, sessions        int
	connections, maxPixels int
	headerTime, idleTime   time.Duration
	logRequests, trace     string
	traceRequests          int
	device                 cli.DeviceFlags
}

// begin is -model: the flags behind it are those of this model.
func (o *serveOptions) begin(net string) {
	if o.net != "" {
		o.before = append(o.before, o.modelFlags)
		o.modelFlags = modelFlags{}
	}
	o.net = net
}

// models lists the models of the flags.
func (o *serveOptions) models() []modelFlags { return append(slices.Clone(o.before), o.modelFlags) }

// checkModels validates the flags of models.
func (o *serveOptions) checkModels() error {
	list := o.models()
	for i := range list {
		m := &list[i]
		switch {
		case o.repository != "":
			if *m != (modelFlags{}) {
				return cli.Usagef("-repository %s: the folder states the models' files; -model, -weights, -labels, -name, -mean, -mean_value and -scale are for models without one", o.repository)
			}
			continue
		case len(list) == 1 && (m.net == "" || m.weights == ""):
			return cli.Usagef("need a net and weights, or a folder of models: swcaffe serve -model DEPLOY -weights FILES, or -repository DIR")
		case m.weights == "":
			return cli.Usagef("-model %s has no -weights: the flags of a model follow its -model", m.net)
		case len(list) > 1 && m.name == "":
			return cli.Usagef("-model %s: of %d models, each needs a -name behind its -model", m.net, len(list))
		case slices.ContainsFunc(list[:i], func(other modelFlags) bool { return other.name == m.name }):
			return cli.Usagef("-name %s: two models have this name", m.name)
		}
		if err := m.preprocessing.check(); err != nil {
			return err
		}
	}
	return nil
}

// check validates the flags.
func (o *serveOptions) check() error {
	if err := o.checkModels(); err != nil {
		return err
	}
	if o.delay < 0 {
		return cli.Usagef("-batch_delay %v: it must be at least 0s", o.delay)
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{{"timeout", o.timeout}, {"header_time", o.headerTime}, {"idle_time", o.idleTime}} {
		if d.value <= 0 {
			return cli.Usagef("-%s %v: it must be more than 0s", d.flag, d.value)
		}
	}
	if (o.cert == "") != (o.key == "") {
		return cli.Usagef("-tls_cert and -tls_key: a certificate and its key are needed, or neither")
	}
	for _, n := range []struct {
		flag        string
		value, from int64
	}{{"batch", int64(o.batch), 1}, {"queue", int64(o.queue), 1}, {"requests", int64(o.requests), 1}, {"max_body", o.maxBody, 1}, {"max_bodies", o.maxBodies, o.maxBody}, {"cores", int64(o.cores), 0}, {"sessions", int64(o.sessions), 1}, {"trace_requests", int64(o.traceRequests), 1}, {"connections", int64(o.connections), 1}, {"max_pixels", int64(o.maxPixels), 1}} {
		if n.value < n.from {
			return cli.Usagef("-%s %d: it must be at least %d", n.flag, n.value, n.from)
		}
	}
	for _, a := range []struct{ flag, address string }{{"http", o.http}, {"grpc", o.grpc}} {
		if a.flag == "grpc" && a.address == "" {
			continue
		}
		if err := serve.CheckAddress(a.address, cli.HTTPToken(o.token) != "" || o.cert != ""); err != nil {
			return cli.Usagef("-%s %w", a.flag, err)
		}
	}
	return nil
}

// config returns what the server needs to know.
func (o *serveOptions) config(e *cli.Env) (serve.Config, error) {
	machine, err := o.device.Spec(e)
	if err != nil {
		return serve.Config{}, err
	}
	warnings := cli.WarningsOf(e.Log) // a thousand lines a net would delay the first answer
	cfg := serve.Config{
		Address: o.http, GRPC: o.grpc, Token: cli.HTTPToken(o.token), Cert: o.cert, Key: o.key, Folder: o.repository,
		Cores: o.cores, Sessions: o.sessions, AllCores: coresOf(machine), Queue: o.queue, Requests: o.requests, Delay: o.delay, Timeout: o.timeout, MaxBody: o.maxBody, MaxBodies: o.maxBodies,
		Connections: o.connections, HeaderTime: o.headerTime, IdleTime: o.idleTime, MaxPixels: o.maxPixels,
		Errorf: e.Log.Errorf,
		Load: func(opt predict.Options) (*predict.Model, error) {
			opt.Batch = o.batch
			opt.Plans = max(8, bits.Len(uint(o.batch))+1) // one for each size of run: 1, 2, 4 ... and -batch
			began := time.Now()
			m, err := loadModel(warnings, &o.device, machine, opt)
			if err == nil {
				e.Log.Infof("Loaded %s, weights %s, in %v", opt.Net, cmp.Or(opt.Weights, "none"), time.Since(began).Round(time.Millisecond))
			}
			return m, err
		},
	}
	if o.repository != "" {
		return cfg, nil
	}
	for _, m := range o.models() {
		source := serve.Source{Name: cmp.Or(m.name, "model"), Version: "1", Options: predict.Options{Net: m.net, Weights: m.weights, Labels: m.labels}}
		if err := m.apply(&source.Options); err != nil {
			return cfg, err
		}
		cfg.Models = append(cfg.Models, source)
	}
	return cfg, nil
}

// coresOf returns the cores that models share, 0 on a modelled machine.
func coresOf(machine cpe.Spec) int {
	if cpe.DefaultMode(machine) != cpe.Native {
		return 0
	}
	return runtime.GOMAXPROCS(0)
}

func serveModels(e *cli.Env, o *serveOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	cfg, err := o.config(e)
	if err != nil {
		return err
	}
	endRecords, err := o.record(e, &cfg)
	if err != nil {
		return err
	}
	defer endRecords()
	server, err := serve.Listen(cfg)
	if err != nil {
		return err
	}
	ended, loaded := make(chan error, 1), make(chan error, 1)
	go func() { ended <- server.Serve() }()
	go func() { loaded <- server.Load() }()
	select {
	case err = <-loaded:
		if err == nil || o.repository != "" && server.Ready() {
			o.welcome(e, server, err)
			err = o.until(ctx, e, server, hangups, ended)
		}
	case err = <-ended:
	case <-ctx.Done():
		e.Log.Info("Stopping before the models are loaded")
	}
	stop() // a second signal ends the process
	patience, cancel := context.WithTimeout(context.Background(), o.timeout)
	defer cancel()
	return errors.Join(err, server.Close(patience))
}

// welcome says where the server is and which models failed.
func (o *serveOptions) welcome(e *cli.Env, server *serve.Server, failed error) {
	switch {
	case failed != nil:
		e.Log.Errorf("Some models are not served: %v", failed)
	case !server.Ready():
		e.Log.Warnf("-repository %s has no models; SIGHUP and the call load take in those that come", o.repository)
	}
	also := ""
	if o.grpc != "" {
		also = " and, for gRPC, " + server.GRPC()
	}
	e.Log.Infof("Ready; the server: %s%s", server.URL(), also)
}

// until waits for a signal that ends the server, or for its end.
func (o *serveOptions) until(ctx context.Context, e *cli.Env, server *serve.Server, hangups <-chan os.Signal, ended chan error) error {
	for {
		select {
		case err := <-ended:
			return err
		case <-hangups:
			go o.reload(e, server)
		case <-ctx.Done():
			e.Log.Info("Stopping: requests under way are answered, new ones are refused")
			return nil
		}
	}
}

// reload is what SIGHUP does.
func (o *serveOptions) reload(e *cli.Env, server *serve.Server) {
	if o.repository == "" {
		e.Log.Info("SIGHUP: there is nothing to reload without -repository")
		return
	}
	if err := server.Load(); err != nil {
		e.Log.Errorf("SIGHUP: some models are not loaded: %v", err)
		return
	}
	e.Log.Infof("SIGHUP: -repository %s was read again", o.repository)
}
