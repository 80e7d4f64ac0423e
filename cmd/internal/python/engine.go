package python

import (
	"flag"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/glog"
	"github.com/swcaffe/swcaffe/layers"
)

// engine is what all nets share. It is made at the first use.
var engine struct {
	mu        sync.Mutex
	machines  map[string]*cpe.Machine // by precision
	precision string                  // that of later nets
	log       *logrus.Logger
	random    *layers.Random
}

// host returns the machine of this computer, in the precision of setPrecision.
func host() (*cpe.Machine, error) {
	engine.mu.Lock()
	defer engine.mu.Unlock()
	precision := engine.precision
	if m := engine.machines[precision]; m != nil {
		return m, nil
	}
	spec, err := cpe.Load("host")
	if err != nil {
		return nil, err
	}
	if spec, err = spec.WithPrecision(precision); err != nil {
		return nil, err
	}
	m, err := cpe.New(spec, cpe.DefaultMode(spec))
	if err != nil {
		return nil, err
	}
	if engine.machines == nil {
		engine.machines = map[string]*cpe.Machine{}
	}
	engine.machines[precision] = m
	return m, nil
}

// isShared reports whether a machine is one that host has returned.
func isShared(m *cpe.Machine) bool {
	engine.mu.Lock()
	defer engine.mu.Unlock()
	for _, shared := range engine.machines {
		if m == shared {
			return true
		}
	}
	return false
}

// setPrecision gives later nets and solvers a precision, "" leaves it to nets.
func setPrecision(name string) error {
	if _, err := (cpe.Spec{}).WithPrecision(name); err != nil {
		return err
	}
	engine.mu.Lock()
	defer engine.mu.Unlock()
	engine.precision = name
	return nil
}

// stderr writes to the standard error stream. Unlike os.Stderr it does not end the process if the reader of a pipe has gone.
type stderr struct{}

func (stderr) Write(b []byte) (int, error) { return writeFD2(b) }

// logger returns the log.
func logger() *logrus.Logger {
	engine.mu.Lock()
	defer engine.mu.Unlock()
	if engine.log == nil {
		engine.log = glog.New(stderr{})
		configure(engine.log, nil)
	}
	return engine.log
}

// configure sets glog's flags from the environment, and then from set.
func configure(log *logrus.Logger, set map[string]string) {
	var flags glog.Flags
	fs := flag.NewFlagSet("python", flag.ContinueOnError)
	flags.Register(fs, false)
	if err := flags.ReadEnvironment(fs, os.LookupEnv); err != nil {
		log.Warn(err)
	}
	for name, value := range set {
		if err := fs.Set(name, value); err != nil {
			log.Warnf("-%s: %v", name, err)
		}
	}
	flags.Apply(log, "python")
	text, ok := set["minloglevel"]
	if !ok {
		text = os.Getenv("GLOG_minloglevel")
	}
	log.SetLevel(logrus.InfoLevel)
	if least, err := strconv.Atoi(text); err == nil && least > 0 { // lines that are not shown need not be made
		log.SetLevel([]logrus.Level{logrus.WarnLevel, logrus.ErrorLevel}[min(least, 2)-1])
	}
}

// setEnvironment takes over Python's environment variables: the library has the ones with which the process began.
func setEnvironment(variables map[string]string) error {
	for name, value := range variables {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// initLog sets flags of glog by name.
func initLog(flags map[string]string) { configure(logger(), flags) }

// setSeed makes the random numbers of later nets and solvers start from a seed.
func setSeed(seed uint64) {
	engine.mu.Lock()
	defer engine.mu.Unlock()
	engine.random = layers.NewRandom(seed)
}

// nextSeed draws the seed of a net or solver.
func nextSeed() uint64 {
	engine.mu.Lock()
	defer engine.mu.Unlock()
	if engine.random == nil {
		engine.random = layers.NewRandom(uint64(time.Now().UnixNano()))
	}
	return engine.random.Uint64()
}

// newDevice returns the device of a net.
func newDevice() (*layers.Device, error) {
	m, err := host()
	if err != nil {
		return nil, err
	}
	return &layers.Device{Machine: m, Random: layers.NewRandom(nextSeed()), Log: logger()}, nil
}

// typeNames lists the layer types.
func typeNames() (names []string) {
	for _, t := range layers.Types() {
		names = append(names, t.Name)
	}
	return names
}
