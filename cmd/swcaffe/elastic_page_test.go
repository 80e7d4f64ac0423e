//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/timeline"
)

// elasticStart matches the log of an epoch's first worker: the process of the line.
var elasticStart = regexp.MustCompile(`(?m)^\w+ \S+ +(\d+) .*\] Starting Optimization`)

// elasticWorkers matches the number of workers of an epoch.
var elasticWorkers = regexp.MustCompile(`Workers: (\d+); training from`)

// TestElasticPage: the page and the file of -trace have all workers of an elastic training, and whom they waited for; when the first worker is killed another
// one goes on with the page at the same address, by the same word, with the whole curve where -log_json has it. A worker that is stopped is named in the log
// within five seconds.
func TestElasticPage(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a worker that is stopped")
	}
	cmd, dir, log, done := start(t, endless, "Iteration 20 ", "-elastic", "1:3", "-http", "127.0.0.1:0", "-log_json", "e.jsonl", "-trace", "t.json", "-trace_iterations", "4")
	checkElasticPage(t, log, 0)
	eventually(t, "a trace", func() bool { return exists(filepath.Join(dir, "t.json")) })
	checkElasticTrace(t, filepath.Join(dir, "t.json"), 3)
	if err := os.Remove(filepath.Join(dir, "t.json")); err != nil {
		t.Fatal(err)
	}

	first := elasticStart.FindAllStringSubmatch(log.String(), -1)
	signalWorker(t, first[len(first)-1][1], syscall.SIGKILL)
	all := func() bool {
		list := elasticWorkers.FindAllStringSubmatch(log.String(), -1)
		return len(list) > 2 && list[len(list)-1][1] == "3"
	}
	eventually(t, "all workers again", all)
	checkElasticPage(t, log, 1)
	eventually(t, "the next first worker's trace", func() bool { return exists(filepath.Join(dir, "t.json")) })
	checkElasticTrace(t, filepath.Join(dir, "t.json"), 2) // of the two that were left, or of all

	// The worker that started again is the last rank.
	last := regexp.MustCompile(`Lost rank 0 on .* \(process (\d+)\)`).FindStringSubmatch(log.String())
	if last == nil || last[1] != first[len(first)-1][1] {
		t.Fatalf("the log does not say that the first worker was lost:\n%s", log)
	}
	named := regexp.MustCompile(`(?m)^.*(?:has waited \S+ for rank 2: |Lost rank 2 on ).*$`)
	stopped := time.Now()
	signalWorker(t, workerOf(t, cmd.Process.Pid, log.String()), syscall.SIGSTOP)
	eventually(t, "the stopped worker", func() bool { return named.MatchString(log.String()) })
	if took := time.Since(stopped); took > 5*time.Second+time.Second/2 { // half a second for a busy machine
		t.Errorf("the stopped worker was named after %v", took)
	}
	eventually(t, "its loss", func() bool { return strings.Contains(log.String(), "Lost rank 2 on ") })
	cmd.Process.Signal(syscall.SIGTERM)
	<-done
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
}

// workerOf is the process of the newest worker that a command has started: of those with the largest number, which no log line names as lost.
func workerOf(t *testing.T, command int, log string) string {
	t.Helper()
	newest := 0
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(command) + "/task/*/children")
	for _, file := range tasks {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				newest = max(newest, pid)
			}
		}
	}
	if newest == 0 {
		t.Skip("this system does not tell a process's children")
	}
	return strconv.Itoa(newest)
}

func signalWorker(t *testing.T, process string, sig syscall.Signal) {
	t.Helper()
	pid, err := strconv.Atoi(process)
	if err == nil {
		err = syscall.Kill(pid, sig)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkElasticTrace: at least so many workers, each with its iterations and messages.
func checkElasticTrace(t *testing.T, path string, workers int) {
	t.Helper()
	note, spans := traceOf(t, path)
	for rank := range workers {
		name := "1 worker " + strconv.Itoa(rank)
		if len(spans[name]) == 0 || len(spans[name+": sends"]) == 0 {
			t.Errorf("the trace has %d spans of %s, %d messages; note %q", len(spans[name]), name, len(spans[name+": sends"]), note)
		}
	}
}

// checkElasticPage asks the page, which has moved some times, for an iteration.
func checkElasticPage(t *testing.T, log *logLines, moved int) {
	t.Helper()
	var found [][]string
	eventually(t, "a page", func() bool {
		found = pageAt.FindAllStringSubmatch(log.String(), -1)
		return len(found) > moved
	})
	if found[moved][2] != found[0][2] {
		t.Errorf("the page moves from the word %s to %s", found[0][2], found[moved][2])
	}
	client := http.Client{Timeout: patience}
	var got struct {
		Rows []timeline.Row
		Uses []timeline.Use
	}
	// An iteration that a lost or a new worker cuts is none.
	eventually(t, "an iteration of three workers", func() bool {
		answer, err := client.Get(found[moved][1] + "api/timeline")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK && json.NewDecoder(answer.Body).Decode(&got) == nil && len(got.Uses) == 3
	})
	for _, u := range got.Uses {
		if parts := u.Computing + u.Waiting + u.Communicating; u.Computing <= 0 || parts > 1.01*u.Whole {
			t.Errorf("%s's time is %+v", u.Name, u)
		}
		for _, w := range u.For {
			if !strings.HasPrefix(w.Name, "worker ") || w.Name == u.Name {
				t.Errorf("%s waits for %q", u.Name, w.Name)
			}
		}
	}
	stream, err := client.Get(found[moved][1] + "api/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	text := make([]byte, 4096)
	if n, err := stream.Body.Read(text); err != nil || !strings.Contains(string(text[:n]), "started") {
		t.Errorf("the page's stream begins with %q, %v", text[:n], err)
	}
}
