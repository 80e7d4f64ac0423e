package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/swcaffe/swcaffe/internal/app/page/pagetest"
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
	b.Holds(`charts.size === 4 && charts.get('l').u.data[0].length > 20`)
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
	b.Holds(`run && run.started && run.started.iteration > 0 && charts.size === 4 && charts.get('l').u.data[0][0] === 0`)
	b.Click("#tab-time")
	b.Holds(`timing && timing.iteration >= run.started.iteration && document.querySelectorAll('#timelines rect').length > 0`)
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
	cmd, dir, log, done := start(t, paged, "Iteration 3 ", "-http", "127.0.0.1:0", "-workers", "2", "-log_json", "e.jsonl")
	found := pageAt.FindStringSubmatch(log.String())
	if found == nil {
		t.Fatalf("the log names no page:\n%s", log)
	}
	b.Do(chromedp.Navigate(found[0][len("The run's page: "):]))
	b.Holds(`charts.size === 4 && $('test').hidden && $('rate').hidden && !$('snapshot').hidden && !$('stop').hidden && $('facts').textContent.includes('2 workers')`)
	b.Click("#tab-net")
	b.Holds(`$('layers').rows.length === 4`)
	b.Click("#tab-data")
	b.Holds(`$('items').children.length === 4 && $('items-note').textContent.startsWith('4 of 4')`)
	b.Click("#tab-tests")
	b.Holds(`$('tests-note').textContent.startsWith('Nothing to show: a report needs a layer of type Accuracy')`)
	b.Click("#tab-time")
	b.Holds(`document.querySelectorAll('#timelines rect').length > 0`)
	names := b.Value(`timing.rows.map(r => r.name).filter(n => !n.endsWith(': waits')).join()`)
	if want := "worker 0,worker 0: communication,worker 0: sends,worker 0: thread 0,worker 1,worker 1: communication,worker 1: sends,worker 1: thread 0"; names != want {
		t.Errorf("the timeline has rows %q, want %q", names, want)
	}
	inside := b.Value(`timing.rows.find(r => r.name === 'worker 1').spans.map(s => s.category + ' ' + s.name).slice(1, 12).join()`)
	if want := "forward x,forward ip,forward loss,backward loss,backward ip,"; !strings.HasPrefix(inside, want) {
		t.Errorf("worker 1's row begins with %q, want %q", inside, want)
	}
	uses := b.Value(`timing.uses.map(u => u.name + (u.computing > 0 && u.computing + u.waiting + u.communicating <= 1.001 * u.whole)).join()`)
	if want := "worker 0true,worker 1true"; uses != want {
		t.Errorf("the workers' uses of time are %q, want %q", uses, want)
	}
	b.Holds(`[...document.querySelectorAll('#timelines caption')].some(c => c.textContent.startsWith('Where the time of each worker went'))`)
	b.Press("#stop", "yes")
	b.Holds(`run.stopped && run.stopped.early`)
	<-done
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
	comparePage(t, b, filepath.Join(dir, "e.jsonl"))
}

// judged is a classification of constant images, of which the test net guesses as the weights say. MAX is the number of iterations.
const judged = `net_param { name: "judged"
  layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 6 dim: 3 dim: 4 dim: 4 } shape { dim: 6 } data_filler { type: "gaussian" } data_filler { type: "constant" value: 1 } } }
  layer { name: "conv" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "c" top: "y" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "l" }
  layer { name: "accuracy" type: "Accuracy" bottom: "y" bottom: "t" top: "a" include { phase: TEST } }
}
base_lr: 0.01 lr_policy: "fixed" max_iter: MAX display: 1 test_iter: 2 test_interval: 10 snapshot_after_train: false snapshot_prefix: "s" random_seed: 1 iter_size: ITER`

// judgedRun is judged with a number of iterations, of some passes each.
func judgedRun(iterations, passes string) string {
	return strings.NewReplacer("MAX", iterations, "ITER", passes).Replace(judged)
}

// TestPageOfAModelledMachine: the views of the tests and of the time show what the log and time -machine have.
func TestPageOfAModelledMachine(t *testing.T) {
	b := pagetest.Open(t)
	cmd, dir, log, done := start(t, judgedRun("100000000", "10"), "Iteration 3 ", "-http", "127.0.0.1:0", "-machine", "sw26010", "-log_json", "e.jsonl")
	found := pageAt.FindStringSubmatch(log.String())
	if found == nil {
		t.Fatalf("the log names no page:\n%s", log)
	}
	b.Do(chromedp.Navigate(found[0][len("The run's page: "):]))
	b.Holds(`run && run.started && run.started.machine_prototxt.includes('sw26010')`)
	b.Click("#tab-tests")
	b.Holds(`$('tests-note').textContent !== ''`)
	b.Click("#tab-time")
	b.Holds(`document.querySelectorAll('#timelines svg').length === 2 && document.querySelectorAll('.plotted').length === 1`)
	if got, want := b.Value(`timing.modelled.map(r => r.name).join()`), "worker: core group 0,worker: core group 1,worker: core group 2,worker: core group 3"; got != want {
		t.Errorf("the modelled timeline has rows %q, want %q", got, want)
	}
	shown := b.Value(`$('model-note').textContent`)
	model := filepath.Join(dir, "net.prototxt")
	if err := os.WriteFile(model, []byte(b.Value(`run.started.net_prototxt`)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(buildBinary(t), "time", "-machine", "sw26010", "-model", model, "-json", "-").Output()
	total := regexp.MustCompile(`"iteration_ms": ([\d.]+)`).FindSubmatch(out)
	if err != nil || total == nil {
		t.Fatalf("%v: %s", err, out)
	}
	if ms, err := strconv.ParseFloat(string(total[1]), 64); err != nil || !regexp.MustCompile(fmt.Sprintf(`^judged on sw26010, batch 6: %.3g \([\d.]+-[\d.]+\) ms an iteration, [\d.]+ \([\d.]+-[\d.]+\) images/s`, ms)).MatchString(shown) {
		t.Errorf("%v: the page says %q, time -machine %g ms", err, shown, ms)
	}
	b.Click("#tab-tests")
	b.Holds(`$('results').querySelector('.matrix')`)
	tested := b.Value(`testView.iteration + ' ' + testView.results.figures[0].value`)
	b.Press("#stop", "yes")
	b.Holds(`run.stopped && run.stopped.early`)
	<-done
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
	iteration, accuracy, _ := strings.Cut(tested, " ")
	share := regexp.MustCompile(`Iteration ` + iteration + `, Testing net \(#0\)\n.*Test net output #0: a = ([\d.]+)`).FindStringSubmatch(log.String())
	if share == nil {
		t.Fatalf("the log has no test before iteration %s:\n%s", iteration, log)
	}
	if a, err := strconv.ParseFloat(share[1], 64); err != nil || accuracy != fmt.Sprintf("%.2f %%", 100*a) {
		t.Errorf("the page has accuracy %s, the log %s", accuracy, share[1])
	}
	comparePage(t, b, filepath.Join(dir, "e.jsonl"))
}

// TestBoardOfTwoRuns: a board has the last numbers of two ended runs, their difference, and the modelled machine of one.
func TestBoardOfTwoRuns(t *testing.T) {
	b := pagetest.Open(t)
	dir := t.TempDir()
	for name, flags := range map[string][]string{"a": nil, "b": {"-machine", "sw26010", "-seed", "2"}} {
		text := strings.Replace(judgedRun("12", "1"), "base_lr: 0.01", "base_lr: 0.0"+map[string]string{"a": "1", "b": "2"}[name], 1)
		if err := os.WriteFile(filepath.Join(dir, name+".prototxt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(buildBinary(t), append([]string{"train", "-solver", name + ".prototxt", "-log_json", name + ".jsonl"}, flags...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	cmd := exec.Command(buildBinary(t), "board", "-http", "127.0.0.1:0", dir)
	var log logLines
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	boardAt := regexp.MustCompile(`the board: (http://\S+)`)
	eventually(t, "a board", func() bool { return boardAt.MatchString(log.String()) })
	b.Do(chromedp.Navigate(boardAt.FindStringSubmatch(log.String())[1]))
	b.Holds(`runs.size === 2 && charts.get('l')`)
	for i, name := range []string{"a", "b"} {
		events, err := os.ReadFile(filepath.Join(dir, name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		losses := regexp.MustCompile(`"iteration":11,"loss":([^,]+),`).FindSubmatch(events)
		if losses == nil {
			t.Fatalf("%s has no iteration 11", name)
		}
		loss, err := strconv.ParseFloat(string(losses[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		row := b.Value(fmt.Sprintf(`[...$('run-table').rows[%d].cells].slice(1, 6).filter((c, i) => i !== 3).map(c => c.textContent).join()`, 1+i)) // without the time
		if want := fmt.Sprintf("%s,done,12 of 12,%.6g", name, loss); row != want {
			t.Errorf("the board has %q, want %q", row, want)
		}
	}
	b.Click("#compare")
	b.Holds(`$('differences').textContent.includes('-base_lr: 0.01\n') && $('differences').textContent.includes('+base_lr: 0.02\n')`)
	b.Click("#tab-net")
	b.Holds(`$('drawing').naturalWidth > 50 && $('net-run').options.length === 2 && $('net-live').hidden && [...$('layers').rows[2].cells].map(c => c.textContent).join('|') === 'conv|Convolution|6 4 2 2 (96)|112'`)
	b.Click(`#places [title="ip"]`)
	b.Holds(`$('layer').textContent.includes('top 0: 6 3 (18)') && $('layer').textContent.includes('num_output: 3')`)
	b.Click("#tab-time")
	b.Holds(`document.querySelectorAll('.plotted').length === 1 && $('model-run').value === 'b'`)
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
	b.Click("#tab-net")
	b.Holds(`$('net-note').textContent === '' && $('drawing').naturalWidth > 50 && $('layers').rows.length === 4 && $('layers').rows[2].textContent === 'ipInnerProduct8 500 (4000)' + (500 * 64 + 500)`)
	b.Click(`#places [title="ip"]`)
	b.Holds(`$('layer').textContent.includes('num_output: 500')`)
	for view, note := range map[string]string{"data": "data-note", "tests": "tests-note", "time": "time-note"} {
		b.Click("#tab-" + view)
		b.Holds(fmt.Sprintf(`!$('view-%s').hidden && $(%q).textContent === 'The run has ended: there is nothing new to see here.' && !$('after').hidden`, view, note))
	}
	<-done
	if err := cmd.Wait(); err == nil {
		t.Errorf("no error:\n%s", log)
	}
}
