package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// CanAsk reports whether the standard input is a terminal, where questions find somebody to answer.
func CanAsk() bool { return term.IsTerminal(int(os.Stdin.Fd())) }

// Ask prints a question on the standard error stream and returns the line typed as its answer. An empty line stands for the standard
// answer; without one, Ask repeats the question. So it does if check, which may be nil, refuses the answer.
func (e *Env) Ask(question, standard string, check func(answer string) error) (string, error) {
	e.Pulse.hold(true)
	defer e.Pulse.hold(false)
	if standard != "" {
		question += " [" + standard + "]"
	}
	to := e.Stderr
	if e.Pulse != nil {
		to = e.Pulse.to
	}
	for {
		fmt.Fprintf(to, "%s: ", question)
		line, err := answers.ReadString('\n')
		answer := strings.TrimSpace(line)
		if answer == "" {
			answer = standard
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the input has ended")
			}
			return "", fmt.Errorf("no answer to %q: %w", question, err)
		}
		if answer == "" {
			continue
		}
		if check == nil {
			return answer, nil
		}
		if err := check(answer); err == nil {
			return answer, nil
		} else {
			fmt.Fprintf(to, "%v\n", err)
		}
	}
}

// answers reads the standard input for Ask, with one buffer for all questions.
var answers = bufio.NewReader(os.Stdin)

// CommandLine returns a command line for a shell that calls this program with some words.
func (e *Env) CommandLine(words ...string) string {
	called := e.called
	if called == "" {
		called = "swcaffe"
	}
	line := []string{shellWord(called)}
	for _, w := range words {
		line = append(line, shellWord(w))
	}
	return strings.Join(line, " ")
}
