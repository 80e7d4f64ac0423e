//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// noDump searches for the crash output of a Go program.
func (c *faultCase) noDump(out string) {
	c.t.Helper()
	if strings.Contains(out, "goroutine ") || strings.Contains(out, "panic") || strings.Contains(out, "fatal error") {
		c.errorf(out, "goroutines are dumped")
	}
}

// iterations returns the iterations of the states with their final names.
func (c *faultCase) iterations() (all []int) {
	c.t.Helper()
	for name := range digests(c.t, c.dir) {
		n, isState := strings.CutSuffix(strings.TrimPrefix(name, "s_iter_"), ".solverstate")
		if iteration, err := strconv.Atoi(n); isState && err == nil {
			all = append(all, iteration)
		}
	}
	return all
}

// newestState returns the iteration of the newest state, 0 if there is none. A state is written last. A snapshot with a state
// must therefore have all the files that the last snapshot of the whole training has.
func (c *faultCase) newestState(out string) (newest int) {
	c.t.Helper()
	for _, iteration := range c.iterations() {
		newest = max(newest, iteration)
		for whole := range c.want {
			if part, ok := strings.CutPrefix(whole, fmt.Sprintf("s_iter_%d.", c.last)); ok {
				if part = fmt.Sprintf("s_iter_%d.%s", iteration, part); !exists(filepath.Join(c.dir, part)) {
					c.errorf(out, "there is %s without %s", faultState(iteration), part)
				}
			}
		}
	}
	return newest
}

// judge checks the files after a fault, and resumes. Until then, temporary files may remain from processes that could not remove
// them.
func (c *faultCase) judge(out string, mayLeave bool) {
	c.t.Helper()
	c.noDump(out)
	for name, digest := range digests(c.t, c.dir) {
		temporary := strings.HasPrefix(name, ".")
		want, known := c.want[name]
		switch {
		case temporary && !mayLeave:
			c.errorf(out, "%s is left", name)
		case !temporary && known && digest != want:
			c.errorf(out, "%s is not as in a training without faults", name)
		}
	}
	var args []string
	newest := c.newestState(out)
	if newest > 0 {
		args = []string{"-snapshot", faultState(newest)}
	}
	again, err := c.command(nil, args...).CombinedOutput()
	out += "\nresumed:\n" + string(again)
	if err != nil {
		c.errorf(out, "cannot be resumed from %d: %v", newest, err)
		return
	}
	now := digests(c.t, c.dir)
	for _, name := range []string{fmt.Sprintf("s_iter_%d.caffemodel", c.last), faultState(c.last)} {
		if now[name] != c.want[name] {
			c.errorf(out, "resumed from %d, %s is not as in a training without faults", newest, name)
		}
	}
	for name := range now {
		if strings.HasPrefix(name, ".") {
			c.errorf(out, "%s is left after the resumed training", name)
		}
	}
}
