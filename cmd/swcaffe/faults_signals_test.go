//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// sentSignal is a signal sent to a training, and the value of the flag for its effect.
type sentSignal struct {
	number syscall.Signal
	effect string
}

// signals sends one signal, or two in short succession, with default or other effects.
func (c *faultCase) signals() {
	c.prepare()
	args, sent := c.drawSignals(1 + min(1, c.rng.IntN(4)))
	endless := c.endless(sent)
	log := filepath.Join(c.t.TempDir(), "log")
	file, err := os.Create(log)
	if err != nil {
		c.t.Fatal(err)
	}
	defer file.Close()
	cmd := c.command(nil, args...)
	cmd.Stdout, cmd.Stderr = file, file
	c.start(cmd, c.took[c.way])
	c.send(cmd.Process, sent)
	err = cmd.Wait()
	died := c.obeys(c.text(log), err, sent, endless)
	if endless {
		c.goOn()
	}
	c.judge(c.text(log), died)
}

// endless draws whether a training that signals stop has no other end; else the signals may come when it is near its end.
func (c *faultCase) endless(sent []sentSignal) bool {
	stops := slices.ContainsFunc(sent, func(s sentSignal) bool { return s.effect == "stop" })
	if !stops || c.rng.IntN(4) == 0 {
		return false
	}
	c.prolong()
	return true
}

// drawSignals draws signals and the flags for what they do.
func (c *faultCase) drawSignals(n int) (args []string, sent []sentSignal) {
	all := []sentSignal{{syscall.SIGINT, "stop"}, {syscall.SIGTERM, "stop"}, {syscall.SIGHUP, "snapshot"}, {syscall.SIGUSR1, "stop"}, {syscall.SIGSTOP, "none"}}
	if c.rng.IntN(2) == 0 {
		for i, name := range []string{"sigint", "sigterm", "sighup", "sigusr1"} {
			all[i].effect = []string{"none", "snapshot", "stop"}[c.rng.IntN(3)]
			args = append(args, fmt.Sprintf("-%s_effect=%s", name, all[i].effect))
		}
	}
	for range n {
		sent = append(sent, all[c.rng.IntN(len(all))])
	}
	c.note = fmt.Sprint(sent, " ", args)
	return args, sent
}

// send sends signals at random intervals of up to 20 ms, or all of them to a process stopped meanwhile, which receives them at
// once.
func (c *faultCase) send(to *os.Process, sent []sentSignal) {
	if len(sent) > 1 && c.rng.IntN(2) == 0 {
		c.note += " in one moment"
		to.Signal(syscall.SIGSTOP)
	}
	for _, s := range sent {
		to.Signal(s.number)
		time.Sleep(time.Duration(c.rng.IntN(20_000)) * time.Microsecond)
	}
	to.Signal(syscall.SIGCONT) // also ends the effect of a SIGSTOP among them
}

func (c *faultCase) text(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

var (
	shownLoss = regexp.MustCompile(`(?m)^.*\] Iteration (\d+)[ ,].*loss = .*$`)
	goOnLine  = regexp.MustCompile(`(?m)\] To go on: .* -snapshot s_iter_(\d+)\.solverstate$`)
	asksStop  = regexp.MustCompile(`(?m)\] Signal \d+ \(.*\) asks to stop\.$`)
	asksState = regexp.MustCompile(`(?m)\] Signal \d+ \(.*\) asks for a snapshot\.$`)
)

// obeys checks in the log that a training has done what the signals asked for. endless: only signals end it. died reports that
// they ended it before its first iteration.
func (c *faultCase) obeys(log string, err error, sent []sentSignal, endless bool) (died bool) {
	c.t.Helper()
	c.end = ending(err)
	stops := slices.ContainsFunc(sent, func(s sentSignal) bool { return s.effect == "stop" })
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) && failed.Sys().(syscall.WaitStatus).Signaled() {
		c.mayDie(log, failed.Sys().(syscall.WaitStatus).Signal(), sent)
		return true
	}
	early, done := strings.Contains(log, "] Optimization stopped early."), strings.Contains(log, "] Optimization Done.")
	if early {
		c.end = "stopped early"
	}
	switch {
	case err != nil:
		c.errorf(log, "%v, want exit code 0", err)
	case early == done:
		c.errorf(log, "stopped early: %t, done: %t", early, done)
	case early && (!stops || !asksStop.MatchString(log)):
		c.errorf(log, "nothing asked to stop")
	case early:
		c.stoppedWhere(log)
	case endless:
		c.errorf(log, "it is not stopped")
	}
	c.inTime(log, done)
	return false
}

// mayDie checks the end of a process by a signal, which must be one of those sent. A signal that does not ask for a stop ends the
// process only before it has a handler, and so before the first line of the log. A stop signal ends it only before the first
// iteration.
func (c *faultCase) mayDie(log string, by syscall.Signal, sent []sentSignal) {
	c.t.Helper()
	k := slices.IndexFunc(sent, func(s sentSignal) bool { return s.number == by && (s.effect == "stop" || log == "") })
	if k < 0 || strings.Contains(log, "Starting Optimization") || log != "" && !strings.Contains(log, fmt.Sprintf("] Stopped before the first iteration by signal %d ", by)) {
		c.errorf(log, "it dies by %v", by)
	}
}

// stoppedWhere checks that a stopped training names a snapshot of its last iteration, and that the snapshot exists.
func (c *faultCase) stoppedWhere(log string) {
	c.t.Helper()
	on, lines := goOnLine.FindStringSubmatch(log), shownLoss.FindAllStringSubmatch(log, -1)
	if on == nil || len(lines) == 0 {
		c.errorf(log, "the log does not say where it stopped and how it goes on")
		return
	}
	at, _ := strconv.Atoi(on[1])
	last, _ := strconv.Atoi(lines[len(lines)-1][1])
	if at != last+1 || !exists(filepath.Join(c.dir, faultState(at))) {
		c.errorf(log, "it stopped after iteration %d, with a snapshot said to be of %d", last, at)
	}
}

// inTime checks that a request is carried out as soon as possible. It counts the iterations in the log after a signal's line. A
// single worker looks for requests after each iteration. Several workers look before an iteration's line, and with easgd only in
// every second iteration.
func (c *faultCase) inTime(log string, done bool) {
	c.t.Helper()
	most, atEnd := 1, 0
	switch {
	case strings.Contains(c.way, "-tau 2"):
		most, atEnd = 3, 1
	case strings.Contains(c.way, "-workers"):
		most, atEnd = 2, 1
	}
	log = strings.Replace(log, fmt.Sprintf("Iteration %d,", faultLast), "", 1) // one additional forward pass
	if at := asksStop.FindStringIndex(log); at != nil {
		behind := len(shownLoss.FindAllString(log[at[1]:], -1))
		if done && behind > atEnd || behind > most {
			c.errorf(log, "after a signal to stop there are %d iterations", behind)
		}
		return
	}
	for _, at := range asksState.FindAllStringIndex(log, -1) {
		behind := log[at[1]:]
		if lines := shownLoss.FindAllStringIndex(behind, -1); len(lines) > most && !strings.Contains(behind[:lines[most][0]], "] Snapshotting solver state") {
			c.errorf(log, "after a signal for a snapshot %d iterations go by without one", most)
		}
	}
}

// loseReader closes the pipe that the log goes to, as at the end of tee. Training goes on to its end, or to a stop; a log file tells.
func (c *faultCase) loseReader() {
	c.prepare()
	var sent []sentSignal
	if c.note = "the log's reader ends"; c.rng.IntN(2) == 0 {
		sent = []sentSignal{{syscall.SIGTERM, "stop"}}
		c.note += fmt.Sprint(", then ", sent)
	}
	endless := c.endless(sent)
	r, w, err := os.Pipe()
	if err != nil {
		c.t.Fatal(err)
	}
	logs := c.t.TempDir()
	cmd := c.command(nil, "-log_dir", logs)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	w.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		buffer := make([]byte, 100)
		for {
			if _, err := r.Read(buffer); err != nil {
				return
			}
		}
	}()
	time.Sleep(time.Duration(c.rng.Int64N(int64(c.took[c.way]))))
	r.Close()
	<-read
	if len(sent) > 0 {
		c.send(cmd.Process, sent)
	}
	err = cmd.Wait()
	log := c.logFile(logs)
	died := c.obeys(log, err, sent, endless)
	if endless {
		c.goOn()
	}
	c.judge(log, died)
}

// logFile is the text of the log file in a folder; "" if there is none yet.
func (c *faultCase) logFile(dir string) string {
	files, err := filepath.Glob(filepath.Join(dir, "*.log.INFO.*"))
	if err != nil || len(files) > 1 {
		c.t.Fatal(files, err)
	}
	if len(files) == 0 {
		return ""
	}
	return c.text(files[0])
}
