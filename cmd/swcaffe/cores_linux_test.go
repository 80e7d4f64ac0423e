package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCoresOfProcess: the program uses the cores that its mask and the quota of its control group leave it, and as many threads, unless it is told a number.
func TestCoresOfProcess(t *testing.T) {
	all := runtime.NumCPU()
	if all < 2 {
		t.Skip("needs two cores")
	}
	for _, c := range []struct {
		quota     float64 // in cores; 0: none
		mask      int     // number of cores
		variable  string  // GOMAXPROCS
		threads   int     // -threads
		wantCores int
	}{
		{0, all, "", 0, all}, {0, 1, "", 0, 1}, {0, 1, "3", 0, 3}, {0, 1, "", 3, 3}, {0, all, "1", 0, 1}, {0, all, "1", 2, 2},
		{0.5, all, "", 0, 1}, {1, all, "", 0, 1}, {1.5, all, "", 0, 2}, {1.5, 1, "", 0, 1}, {1, all, "2", 0, 2}, {0.5, all, "", 2, 2},
	} {
		name := fmt.Sprintf("quota %v, mask of %d cores, GOMAXPROCS %q, -threads %d", c.quota, c.mask, c.variable, c.threads)
		t.Run(name, func(t *testing.T) {
			command := []string{buildBinary(t), "time", "-model", "../../models/lenet/deploy.prototxt", "-phase", "TEST", "-forward_only", "-batch", "1", "-iterations", "1",
				"-threads", strconv.Itoa(c.threads), "-json", "-"}
			if c.quota > 0 {
				command = append([]string{"sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, limited(t, c.quota)}, command...)
			}
			cmd := exec.Command(command[0], command[1:]...)
			var out, log bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &log
			cmd.Env = append(os.Environ(), "GOMAXPROCS="+c.variable)
			if err := startMasked(cmd, c.mask); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, &log)
			}
			var report struct{ Threads int }
			if err := json.Unmarshal(out.Bytes(), &report); err != nil {
				t.Fatal(err)
			}
			groups := "one core group"
			if c.wantCores > 1 {
				groups = fmt.Sprint(c.wantCores, " core groups")
			}
			if report.Threads != c.wantCores || !strings.Contains(log.String(), "machine host: "+groups+" of") {
				t.Errorf("%d threads, want %d; log:\n%s", report.Threads, c.wantCores, &log)
			}
		})
	}
}

// startMasked starts a command on the first cores of those that this process may use.
func startMasked(cmd *exec.Cmd, cores int) error {
	var before, mask unix.CPUSet
	runtime.LockOSThread() // the child has the mask of the thread that starts it
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	for i := 0; mask.Count() < cores; i++ {
		if before.IsSet(i) {
			mask.Set(i)
		}
	}
	if err := unix.SchedSetaffinity(0, &mask); err != nil {
		return err
	}
	defer unix.SchedSetaffinity(0, &before)
	return cmd.Start()
}

// limited makes a control group with a quota of cores, of version 1 or 2, and returns its folder. It skips the test where it may not.
func limited(t *testing.T, cores float64) string {
	t.Helper()
	for _, c := range []struct{ root, file, form string }{
		{"/sys/fs/cgroup", "cpu.max", "%d 100000"}, {"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "%d"},
	} {
		folder := filepath.Join(c.root, fmt.Sprint("swcaffe_test_", os.Getpid()))
		if os.Mkdir(folder, 0o777) != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(folder) })
		limit, err := os.OpenFile(filepath.Join(folder, c.file), os.O_WRONLY, 0) // which the system has made, if the folder is one of groups
		if err != nil {
			continue
		}
		defer limit.Close()
		if _, err := fmt.Fprintf(limit, c.form, int(100000*cores)); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	t.Skip("no control group with a quota can be made")
	return ""
}
