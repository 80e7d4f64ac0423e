package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

// Exit codes of the program.
const (
	exitFailure = 1 // an error of a run
	exitUsage   = 2 // a UsageError: the command did not start
)

// UsageError is an error in the command line: an unknown flag or command, a value that a flag does not take, a missing flag, or
// flags that exclude each other. It ends the program with one line and exit code 2.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// FlagError wraps the error of a flag whose value is a name or a file. A name that is unknown is a UsageError; a fault in a file
// is not.
func FlagError(flag string, err error) error {
	wrapped := fmt.Errorf("-%s: %w", flag, err)
	if unknown := (*suggest.UnknownError)(nil); errors.As(err, &unknown) {
		return &UsageError{wrapped}
	}
	return wrapped
}

// refuse prints a UsageError: one plain line, without the log's prefix. command is the command that was called, "" if none.
func (e *Env) refuse(command string, err error) {
	text := strings.Join(strings.Fields(e.program.own(err.Error())), " ")
	end := ". "
	if strings.HasSuffix(text, "?") {
		end = " "
	}
	fmt.Fprintf(e.Stderr, "%s: %s%sSee '%s'\n", cmp.Or(e.program.name, "swcaffe"), text, end, e.program.help(command))
}

// help returns the command line that shows the help of a command, or the list of commands if command is "".
func (p program) help(command string) string {
	switch {
	case p.command != "":
		return p.name + " -help"
	case p.brew:
		return strings.TrimSpace(p.name + " help " + command)
	}
	return strings.TrimSpace("swcaffe help " + command)
}
