//go:build unix

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// fullDisk wraps a command line so that files can only grow to a random size or, with strace, so that one of some system calls
// fails.
func (c *faultCase) fullDisk(blocks, when int, calls ...string) []string {
	if _, err := exec.LookPath("strace"); err == nil && c.rng.IntN(2) == 0 {
		call := calls[c.rng.IntN(len(calls))]
		return []string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", fmt.Sprintf("inject=%s:error=ENOSPC:when=%d", call, 1+c.rng.IntN(when))}
	}
	return []string{"sh", "-c", fmt.Sprintf(`ulimit -f %d; exec "$@"`, 1+c.rng.IntN(blocks)), "sh"}
}

// saysDiskFull requires exit code 1, and a text that names one of the files and the cause.
func (c *faultCase) saysDiskFull(out string, err error, file string) {
	c.t.Helper()
	code := (*exec.ExitError)(nil)
	switch {
	case !errors.As(err, &code) || code.ExitCode() != 1:
		c.errorf(out, "%v, want exit code 1", err)
	case !strings.Contains(out, file) || !strings.Contains(out, "no space left") && !strings.Contains(out, "file too large"):
		c.errorf(out, "the error does not name the file and the cause")
	}
}

func (c *faultCase) fillDisk() {
	c.prepare()
	behind := c.fullDisk(16, 30, "fsync", "renameat", "write")
	c.note = strings.Join(behind, " ")
	text, err := c.command(behind).CombinedOutput()
	out := string(text)
	c.end = ending(err)
	if err != nil {
		c.saysDiskFull(out, err, "s_iter_")
	} else if digests(c.t, c.dir)[faultState(faultLast)] != c.want[faultState(faultLast)] {
		c.errorf(out, "it succeeds with another result")
	}
	c.judge(out, false)
}
