package randomtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// request and answer are the messages between parent and child, one JSON value per line.
type request struct{ Kind, Text string }

type answer struct{ Failure string }

// Serve runs in the child: it checks each problem from in and answers on out, until in ends.
func Serve(kinds []Kind, in io.Reader, out io.Writer) error {
	requests, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var r request
		if err := requests.Decode(&r); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		var a answer
		if err := check(kinds, r); err != nil {
			a.Failure = err.Error()
		}
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
	level    string
	timeout  time.Duration
	cmd      *exec.Cmd
	requests io.WriteCloser
	answers  *bufio.Reader
	stderr   *head
}

func (c *child) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c.stderr = &head{}
	c.cmd = exec.Command(self, "-child")
	c.cmd.Env = append(os.Environ(), "SWCAFFE_SIMD="+c.level)
	c.cmd.Stderr = c.stderr
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

// check returns the failure of a problem, "" if it passes. An error concerns the processes, not the problem.
func (c *child) check(kind, text string) (failure string, err error) {
	if c.cmd == nil {
		if err := c.start(); err != nil {
			return "", err
		}
	}
	line, err := json.Marshal(request{kind, text})
	if err != nil {
		return "", err
	}
	hangs := time.AfterFunc(c.timeout, func() { c.cmd.Process.Kill() })
	c.requests.Write(append(line, '\n')) // if the child is dead, the read below reports it
	reply, err := c.answers.ReadBytes('\n')
	inTime := hangs.Stop()
	if err == nil {
		var a answer
		return a.Failure, json.Unmarshal(reply, &a)
	}
	died := c.stop()
	if !inTime {
		return fmt.Sprintf("takes longer than %v", c.timeout), nil
	}
	return fmt.Sprintf("the process ends: %v\n%s", died, c.stderr), nil
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
