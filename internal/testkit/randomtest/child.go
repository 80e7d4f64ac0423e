package randomtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// request and answer are the messages between parent and child, one JSON value per line.
type request struct{ Kind, Text string }

// Took is the processor time of the check.
type answer struct {
	Failure string
	Took    time.Duration
}

// Serve runs in the child: it checks each problem from in and answers on out, until in ends. An interrupt on the terminal reaches the parent
// too, which stops its children.
func Serve(kinds []Kind, in io.Reader, out io.Writer) error {
	signal.Ignore(os.Interrupt)
	requests, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		if err := requests.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var a answer
		before := processorTime()
		if err := check(kinds, r); err != nil {
			a.Failure = err.Error()
		}
		a.Took = processorTime() - before
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

func check(kinds []Kind, r request) error {
	for _, k := range kinds {
		if k.Name != r.Kind {
			continue
		}
		p, err := k.Parse(r.Text)
		if err != nil {
			return fmt.Errorf("a problem does not read what it wrote: %w", err)
		}
		return p.Check()
	}
	return fmt.Errorf("no kind %q", r.Kind)
}

// child is a process that checks problems with one level of vector instructions. The first use starts it; the next use after its
// death restarts it.
type child struct {
	program  []string
	level    string
	timeout  time.Duration
	cmd      *exec.Cmd
	requests io.WriteCloser
	answers  *bufio.Reader
	stderr   *head
}

func (c *child) start() error {
	program := c.program
	if len(program) == 0 {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		program = []string{self}
	}
	c.stderr = &head{}
	c.cmd = exec.Command(program[0], append(slices.Clip(program[1:]), "-child")...)
	c.cmd.Env = append(os.Environ(), "SWCAFFE_SIMD="+c.level)
	c.cmd.Stderr = c.stderr
	var err error
	if c.requests, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	c.answers = bufio.NewReader(out)
	return c.cmd.Start()
}

// check returns the failure of a problem, "" if it passes, and the processor time that the check took; of a problem that ends the process, the
// time by the clock. An error concerns the processes, not the problem. It is context.Canceled if ctx ends before the check does.
func (c *child) check(ctx context.Context, kind, text string) (failure string, took time.Duration, err error) {
	if c.cmd == nil {
		if err := c.start(); err != nil {
			return "", 0, err
		}
	}
	line, err := json.Marshal(request{kind, text})
	if err != nil {
		return "", 0, err
	}
	kill := c.cmd.Process.Kill
	start := time.Now()
	hangs := time.AfterFunc(c.timeout, func() { kill() })
	defer context.AfterFunc(ctx, func() { kill() })()
	c.requests.Write(append(line, '\n')) // if the child is dead, the read below reports it
	reply, err := c.answers.ReadBytes('\n')
	inTime := hangs.Stop()
	if err == nil {
		var a answer
		err = json.Unmarshal(reply, &a)
		return a.Failure, a.Took, err
	}
	died := c.stop()
	took = time.Since(start)
	switch {
	case ctx.Err() != nil:
		return "", took, context.Canceled
	case !inTime:
		return fmt.Sprintf("takes longer than %v", c.timeout), took, nil
	}
	return fmt.Sprintf("the process ends: %v\n%s", died, c.stderr), took, nil
}

// stop ends the process, if it runs, and waits for it.
func (c *child) stop() error {
	if c.cmd == nil {
		return nil
	}
	c.requests.Close()
	err := c.cmd.Wait()
	c.cmd = nil
	return err
}

// head keeps the first lines of a process's output, among them the place of a panic.
type head struct{ text strings.Builder }

func (t *head) Write(p []byte) (int, error) {
	if room := 4000 - t.text.Len(); room > 0 {
		t.text.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (t *head) String() string { return strings.TrimSpace(t.text.String()) }
