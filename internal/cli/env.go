package cli

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/glog"
)

// Env is the surroundings of a running command: its log, its streams and the name that the program was called by.
type Env struct {
	Log            *logrus.Logger
	Stdout, Stderr io.Writer
	// Tables takes the figures that are printed for people: stdout, or nothing where a file is written to stdout.
	Tables io.Writer
	// Resume returns the command line that goes on from a solver state.
	Resume func(state string) string
	// Pulse draws on the terminal that stderr is; nil if stderr is no terminal.
	Pulse *pulse

	program program // the name that the binary was called by, and its meaning
	called  string  // the path that the binary was called by
}

// osEnv is the environment of this process.
func osEnv() *Env {
	e := &Env{Stdout: os.Stdout, Stderr: os.Stderr, program: programNamed(os.Args[0]), called: os.Args[0], Pulse: newPulse(os.Stderr)}
	if e.Pulse != nil {
		e.Stderr = e.Pulse
	}
	e.Log = glog.New(e.Stderr)
	return e
}

// stream keeps the first error of its writes, so that commands can print tables without a check at every line and a full disk is still
// reported. When the reader of a pipe is gone, the process ends as if by SIGPIPE: nobody wants the rest.
type stream struct {
	to    io.Writer
	err   error
	pulse *pulse // its terminal may show the stream too
}

func (s *stream) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	s.pulse.printed()
	n, err := s.to.Write(b)
	s.err = err
	if errors.Is(err, syscall.EPIPE) {
		EndBySignal(brokenPipe)
	}
	return n, err
}
