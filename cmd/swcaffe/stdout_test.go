package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/glog"
)

// fullDisk is where nothing can be written.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestFullStdout: a table that cannot be written to standard output is an error, in every command that prints one.
func TestFullStdout(t *testing.T) {
	const lenet = "../../models/lenet/deploy.prototxt"
	for _, line := range []string{
		"-h", "help train", "version", "device_query", "bandwidth -machine sw26010", "time -dry_run -model " + lenet, "fmt " + lenet,
		"time -machine sw26010 -model " + lenet, "explore -vary ldm_kb=64 -model " + lenet, "scale -nodes 1 -model " + lenet,
		"allreduce -cluster taihulight -nodes 2",
	} {
		var log strings.Builder
		e := &cli.Env{Log: glog.New(&log), Stdout: fullDisk{}, Stderr: io.Discard}
		if code := commands.Run(e, strings.Fields(line)); code != 1 || !strings.Contains(log.String(), "no space left on device") {
			t.Errorf("%s: exit code %d, log %q", line, code, log.String())
		}
	}
}
