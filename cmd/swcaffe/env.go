package main

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/sirupsen/logrus"
)

// env is the surroundings of a running command: its log, its streams and the name that the program was called by.
type env struct {
	log            *logrus.Logger
	stdout, stderr io.Writer
	// tables takes the figures that are printed for people: stdout, or nothing where a file is written to stdout.
	tables io.Writer
	// resume returns the command line that goes on from a solver state.
	resume func(state string) string
	// pulse draws on the terminal that stderr is; nil if stderr is no terminal.
	pulse *pulse

	program program // the name that the binary was called by, and its meaning
	called  string  // the path that the binary was called by
}

// osEnv is the environment of this process.
func osEnv() *env {
	e := &env{stdout: os.Stdout, stderr: os.Stderr, program: programNamed(os.Args[0]), called: os.Args[0], pulse: newPulse(os.Stderr)}
	if e.pulse != nil {
		e.stderr = e.pulse
	}
	e.log = newLogger(e.stderr)
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
		endBy(brokenPipe)
	}
	return n, err
}
