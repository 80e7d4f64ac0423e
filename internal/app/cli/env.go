package cli

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/internal/app/glog"
	"github.com/swcaffe/swcaffe/internal/app/launch"
)

// Env is the environment of a running command: its log, its streams and the name by which the program was called.
type Env struct {
	Log            *logrus.Logger
	Stdout, Stderr io.Writer
	// Tables receives figures for people: stdout, or nothing if a file is written to stdout.
	Tables io.Writer
	// Resume returns the command line that continues from a solver state.
	Resume func(state string) string
	// Pulse draws on the terminal behind stderr; nil if stderr is no terminal.
	Pulse *pulse

	reads    inputs       // files that the command reads and must not replace
	writes   []output     // files that its flags ask for
	commands Commands     // the program's
	whole    bool         // the command line is that of this process
	world    launch.World // the processes of which this is one

	program program // the name by which the binary was called, and its meaning
	called  string  // the path by which the binary was called
}

// osEnv is the environment of this process, whose program was called by a path.
func osEnv(called string) *Env {
	e := &Env{Stdout: os.Stdout, Stderr: os.Stderr, program: programNamed(called), called: called, Pulse: newPulse(os.Stderr)}
	if e.Pulse != nil {
		e.Stderr = e.Pulse
	}
	e.Log = glog.New(e.Stderr)
	return e
}

// stream keeps the first error of its writes. Commands can print tables without checking every line, and a full disk is still
// reported. If the reader of a pipe has gone, the process ends as if by SIGPIPE.
type stream struct {
	to    io.Writer
	err   error
	pulse *pulse // the pulse of the terminal that may show this stream
}

func (s *stream) Write(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	s.pulse.printed()
	n, err := s.to.Write(b)
	s.err = err
	if errors.Is(err, syscall.EPIPE) {
		s.pulse.hold(true)
		EndBySignal(brokenPipe)
	}
	return n, err
}
