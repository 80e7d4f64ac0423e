package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/swcaffe/swcaffe/internal/page/pagetest"
)

// paged is endless with a test net, so that every kind of chart has values, and slow enough that its points are not thinned.
var paged = strings.Replace(endless, "random_seed: 1", "random_seed: 1 test_iter: 2 test_interval: 5 iter_size: 20", 1)

var pageAt = regexp.MustCompile(`The run's page: (http://127\.0\.0\.1:\d+/)#token=(\w+)`)

// TestPageOfARun: a browser shows a training's numbers, its buttons write a snapshot and stop the run, and a resumed run's page has the
// whole run.
func TestPageOfARun(t *testing.T) {
	b := pagetest.Open(t)
	cmd, dir, log, done := start(t, paged, "Iteration 12 ", "-http", "127.0.0.1:0", "-log_json", "e.jsonl")
	found := pageAt.FindStringSubmatch(log.String())
	if found == nil {
		t.Fatalf("the log names no page:\n%s", log)
	}
	b.Do(chromedp.Navigate(found[1] + "#token=" + found[2]))
	b.Holds(`charts.size === 5 && charts.get('l').u.data[0].length > 20`)
	b.Press("#test", "yes")
	eventually(t, "a test", func() bool {
		return regexp.MustCompile(`The page asks for a test\.\n.*Iteration \d+, Testing net`).MatchString(log.String())
	})
	b.Do(chromedp.Click("#rate"), chromedp.WaitVisible("#amount"), chromedp.Evaluate(`$('amount').value = '5e-5'`, nil), chromedp.Click("#confirm [value=yes]"))
	b.Holds(`!asking`)
	b.Holds(`lastRate() === '0.00005'`)
	b.Click("#tab-net")
	b.Holds(`$('layers').rows.length === 4 && [...$('layers').rows[2].cells].slice(0, 2).map(c => c.textContent).join() === 'ip,InnerProduct' && $('net-note').textContent === ''`)
	b.Click(`#places [title="ip"]`)
	b.Holds(`$('layer').querySelectorAll('h3').length === 3 && $('layer').textContent.includes('weights 0: 500 64')`)
	b.Click("#tab-data")
	b.Holds(`$('items').children.length === 8 && $('items-note').textContent.startsWith('8 of 8')`)
	b.Click("#tab-curves")
	b.Press("#snapshot", "yes")
	b.Holds(`run.snapshot`)
	if n := wholeSnapshots(t, dir); n != 1 {
		t.Errorf("%d snapshots, want 1\n%s", n, log)
	}
	b.Press("#stop", "yes")
	b.Holds(`run.stopped && run.stopped.early && !online`)
	<-done
	err := cmd.Wait()
	for _, want := range []string{
		"The page asks for a snapshot.", "The page asks to stop.", "The page asks for a test.", "The page asks for learning rate 5e-05.", "the learning rate is 5e-05 instead of 0.0001",
	} {
		if err != nil || !strings.Contains(log.String(), want) {
			t.Errorf("%v, want %q in\n%s", err, want, log)
		}
	}
	comparePage(t, b, filepath.Join(dir, "e.jsonl"))

	states, _ := filepath.Glob(filepath.Join(dir, "*.solverstate"))
	again := exec.Command(cmd.Path, "train", "-solver", "solver.prototxt", "-http", "127.0.0.1:0", "-log_json", "e.jsonl", "-snapshot", filepath.Base(states[0]))
	again.Dir = dir
	var second logLines
	again.Stderr = &second
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	defer again.Process.Kill()
	eventually(t, "a page", func() bool { return pageAt.MatchString(second.String()) })
	b.Do(chromedp.Navigate(pageAt.FindStringSubmatch(second.String())[1]))
	b.Holds(`run && run.started && run.started.iteration > 0 && charts.size === 5 && charts.get('l').u.data[0][0] === 0`)
	again.Process.Kill()
	b.Holds(`!online && $('state').textContent.startsWith('No connection to the run')`)
	again.Wait()
}

// comparePage compares every loss that the page has with the file of events. A run of that length is not thinned.
func comparePage(t *testing.T, b *pagetest.Browser, file string) {
	t.Helper()
	page := b.Value(`(() => { const t = tables.get('train'); return t.iterations.map((n, i) => n + ' ' + t.columns[0][i]).join('\n'); })()`)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	losses := map[string]bool{}
	for _, m := range regexp.MustCompile(`"event":"iteration".*?"iteration":(\d+),"loss":([^,]+),`).FindAllStringSubmatch(string(text), -1) {
		losses[m[1]+" "+m[2]] = true
	}
	lines := strings.Split(page, "\n")
	if len(lines) < 13 || len(lines) >= 2000 {
		t.Errorf("the page has %d points", len(lines))
	}
	for _, line := range lines {
		if !losses[line] {
			t.Errorf("the page has the point %q, the file has not", line)
			return
		}
	}
}

// TestPageBeforeTraining: a port in use, an address open to all and a token without a page are errors before training starts; a page is
// served while the run goes on.
func TestPageBeforeTraining(t *testing.T) {
	t.Setenv("SWCAFFE_HTTP_TOKEN", "word")
	_, dir, log, _ := start(t, endless, "Iteration 3 ", "-http", "127.0.0.1:0", "-metrics")
	t.Setenv("SWCAFFE_HTTP_TOKEN", "")
	found := pageAt.FindStringSubmatch(log.String())
	if found == nil || found[2] != "word" {
		t.Fatalf("the log names no page with the token:\n%s", log)
	}
	client := http.Client{Timeout: time.Minute}
	answer, err := client.Get(found[1])
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), "<title>swcaffe</title>") {
		t.Errorf("%v: %.200s", err, text)
	}
	answer.Body.Close()
	for path, want := range map[string]string{"metrics": "\nswcaffe_running 1\n", "healthz": "ok\n"} {
		if answer, err = client.Get(found[1] + path); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v: %.2000s", path, err, text)
		}
		answer.Body.Close()
	}
	taken := strings.TrimSuffix(strings.TrimPrefix(found[1], "http://"), "/")
	for want, flags := range map[string]string{
		"-http " + taken + ": another program uses this port; choose another one, or port 0": "-http " + taken,
		"-http 0.0.0.0:0: other computers could connect; give -http_token":                   "-http 0.0.0.0:0",
		"-metrics needs -http ADDRESS":                                                       "-metrics",
		"-trace_iterations 0: at least one iteration is needed":                              "-trace t.json -trace_iterations 0",
		"-tensorboard_histograms -1: cannot be negative":                                     "-tensorboard tb -tensorboard_histograms -1",
		"-tensorboard: mkdir solver.prototxt: not a directory":                               "-tensorboard solver.prototxt/tb",
		"-http_token is for the page of -http":                                               "-http_token word",
	} {
		cmd := exec.Command(buildBinary(t), append(strings.Fields("train -solver solver.prototxt"), strings.Fields(flags)...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "Creating training net") {
			t.Errorf("%s: %v\n%s\nwant %s", flags, err, out, want)
		}
	}
}

// TestPageOfWorkers: the page of several workers shows the first one's part of the net and has no buttons that workers would have to agree on.
func TestPageOfWorkers(t *testing.T) {
	b := pagetest.Open(t)
	cmd, _, log, done := start(t, paged, "Iteration 3 ", "-http", "127.0.0.1:0", "-workers", "4")
	found := pageAt.FindStringSubmatch(log.String())
	if found == nil {
		t.Fatalf("the log names no page:\n%s", log)
	}
	b.Do(chromedp.Navigate(found[0][len("The run's page: "):]))
	b.Holds(`charts.size === 5 && $('test').hidden && $('rate').hidden && !$('snapshot').hidden && !$('stop').hidden && $('facts').textContent.includes('4 workers')`)
	b.Click("#tab-net")
	b.Holds(`$('layers').rows.length === 4`)
	b.Click("#tab-data")
	b.Holds(`$('items').children.length === 2 && $('items-note').textContent.startsWith('2 of 2')`)
	b.Press("#stop", "yes")
	b.Holds(`run.stopped && run.stopped.early`)
	<-done
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
}

// TestPageOfACrash: the page keeps the last words of a run that fails.
func TestPageOfACrash(t *testing.T) {
	b := pagetest.Open(t)
	// gamma^0 is 1, so that the learning rate is NaN from iteration 300 on only.
	failing := strings.Replace(paged, `lr_policy: "fixed"`, `lr_policy: "step" gamma: nan stepsize: 300`, 1)
	cmd, _, log, done := start(t, failing, "Iteration 3 ", "-http", "127.0.0.1:0")
	found := pageAt.FindStringSubmatch(log.String())
	if found == nil {
		t.Fatalf("the log names no page:\n%s", log)
	}
	b.Do(chromedp.Navigate(found[1]))
	b.Holds(`!online && $('state').textContent.startsWith('Crashed at iteration 300') && $('words').textContent.includes('the learning rate is not a number')`)
	<-done
	if err := cmd.Wait(); err == nil {
		t.Errorf("no error:\n%s", log)
	}
}
