package page

import (
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/swcaffe/swcaffe/internal/app/page/pagetest"
	"github.com/swcaffe/swcaffe/solver/events"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pagetest.Close()
	os.Exit(code)
}

// sample is the history of a run of 100 iterations with two tests. The loss of iteration i is 2/(i+1), but NaN in iteration 7.
func sample() (*events.History, func(events.Body)) {
	h, at := &events.History{}, time.Now().Add(-time.Minute)
	take := func(b events.Body) {
		at = at.Add(time.Second / 10)
		h.Take(events.Event{Time: at, Body: b})
	}
	take(&events.Started{Solver: "s.prototxt", Net: "Sample <b>", MaxIter: 200, Items: 50, Workers: 1, SolverText: "average_loss: 5\n"})
	for i := range 100 {
		loss := events.Number(2 / float64(i+1))
		if i == 7 {
			loss = events.Number(math.NaN())
		}
		take(&events.Iteration{Iteration: i, Loss: loss, Smoothed: loss, Rate: 0.01, Speed: 500, Outputs: []events.Value{{Name: "loss", Value: loss, Weight: 1}}})
		if i%50 == 49 {
			take(&events.Test{Iteration: i + 1, Loss: 0.5, Outputs: []events.Value{{Name: "accuracy", Value: 0.75}, {Name: "loss", Value: 0.5, Weight: 1}}})
		}
	}
	return h, take
}

// TestPage: every view opens, shows the history's numbers and follows it, wide and narrow, light and dark, with mouse and keyboard.
func TestPage(t *testing.T) {
	b := pagetest.Open(t)
	h, take := sample()
	s, pressed := begin(t, Config{Address: loopback, Token: "secret", Runs: one(h)})
	b.Do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()))
	b.Holds(`document.querySelectorAll('.legend').length === 5`)
	for expression, want := range map[string]string{
		`$('title').textContent`:                             "Sample <b>",
		`$('state').textContent`:                             "Iteration 100 of 200",
		`location.hash`:                                      "",
		`[...charts.keys()].join()`:                          "loss,accuracy,learning rate,images/s,wait for data (share of time)",
		`charts.get('loss').list.map(c => c.label).join()`:   "train,train, average_loss,test 0",
		`charts.get('loss').u.data[0].length`:                "101",
		`charts.get('loss').u.data[1][7]`:                    "null",
		`charts.get('loss').u.data[1][99]`:                   "0.02",
		`charts.get('loss').u.data[3][50]`:                   "0.5",
		`charts.get('loss').plot.getAttribute('aria-label')`: "loss: chart. Last values: train 0.02 at iteration 99, train, average_loss 0.02 at iteration 99, test 0 0.5 at iteration 100. Arrow keys read its points.",
		`[...charts.values()].every(c => c.u.width === c.plot.clientWidth && c.u.root.getBoundingClientRect().right <= c.frame.getBoundingClientRect().right)`: "true",
		`$('said').textContent`:  "The run trains.",
		`$('facts').textContent`: "s.prototxt · running for 10 s · about 10 s to go · seed 0",
		`$('after').hidden`:      "true",
		`[duration(59.6), duration(3599), duration(86399)].join()`:                              "1 min 0 s,59 min 59 s,23 h 59 min",
		`left({iterations: [0, 1, 2, 3, 4, 5], seconds: [0, 9, 18, 19, 20, 21]}, 0, 16).join()`: "about 10 s to go",
		`left({iterations: [0, 1, 2, 8, 9], seconds: [0, 9, 18, 19, 29]}, 8, 20).join()`:        "about 1 min 40 s to go",
		`left({iterations: [0, 1], seconds: [0, 9]}, 2, 20).length`:                             "0",
		`document.documentElement.scrollWidth <= innerWidth`:                                    "true",
	} {
		if got := b.Value(expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	readCharts(t, b)
	setAxes(t, b)
	named(t, b, "curves")
	reached(t, b)
	legible(t, b)
	b.Do(chromedp.EmulateViewport(360, 700), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	b.Holds(`document.documentElement.scrollWidth <= innerWidth && charts.get('loss').u.series[1].stroke() === '#8ab4ff'`)
	legible(t, b)
	pressButtons(t, b, pressed)
	take(&events.Iteration{Iteration: 100, Loss: 9, Outputs: []events.Value{{Name: "loss", Value: 9, Weight: 1}}})
	b.Holds(`charts.get('loss').u.data[1].at(-1) === 9`)
	take(&events.Crashed{Iteration: 101, Error: "conv1: no <i>luck</i>", Stack: "goroutine <7>"})
	b.Holds(`$('words').textContent === 'conv1: no <i>luck</i>' && !$('words').hidden && $('buttons').hidden && !$('after').hidden && $('facts').textContent.includes('ran for') && $('stack').textContent === 'goroutine <7>' && !$('stackBox').hidden`)
	s.Close()
	b.Holds(`!online && $('state').textContent === 'Crashed at iteration 101.' && $('said').textContent === $('state').textContent && charts.get('loss').u.data[1].at(-1) === 9`)
}

// readCharts reads a chart's values with the keyboard, from its table and from its files.
func readCharts(t *testing.T, b *pagetest.Browser) {
	t.Helper()
	const plot = `charts.get('loss').plot`
	b.Do(chromedp.Evaluate(plot+`.focus()`, nil), chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.ArrowRight))
	if got, want := b.Value(`$('reading').textContent`), "iteration 1, train 1, train, average_loss 1, test 0 -"; got != want {
		t.Errorf("arrow keys read %q, want %q", got, want)
	}
	b.Do(chromedp.KeyEvent("+"))
	b.Holds(`charts.get('accuracy').u.scales.x.min > 20`)
	b.Do(chromedp.KeyEvent("0"))
	b.Holds(`charts.get('accuracy').u.scales.x.min < 51`)
	b.Click(`[aria-label="Table of loss"]`)
	b.Holds(`charts.get('loss').table.querySelectorAll('tbody tr').length === 101`)
	if got, want := b.Value(`charts.get('loss').table.querySelector('tbody').lastChild.textContent`), "022-"; got != want {
		t.Errorf("the first point is %q in the table, want %q", got, want)
	}
	b.Do(chromedp.Evaluate(`save = (chart, blob, kind) => blob.text().then(text => { window.saved = kind + text.length + ' ' + text; })`, nil))
	for kind, want := range map[string]string{
		"CSV": "iteration,train,\"train, average_loss\",test 0\n0,2,2,\n1,1,1,\n",
		"SVG": `<polyline clip-path="url(#c)" fill="none" stroke="#1f5fbf"`,
		"PNG": "PNG\r\n",
	} {
		b.Do(chromedp.Evaluate(`window.saved = ''`, nil))
		b.Click(fmt.Sprintf(`[aria-label="%s of loss"]`, kind))
		b.Holds(`window.saved !== ''`)
		if got := b.Value(`window.saved`); !strings.Contains(got, want) || !strings.HasPrefix(got, strings.ToLower(kind)) {
			t.Errorf("%s is %.200q", kind, got)
		}
	}
}

// setAxes tries the settings.
func setAxes(t *testing.T, b *pagetest.Browser) {
	t.Helper()
	set := func(id, property, to, then string) {
		t.Helper()
		b.Do(chromedp.Evaluate(fmt.Sprintf(`$(%q).%s = %s; $(%[1]q).dispatchEvent(new Event('input'))`, id, property, to), nil))
		b.Holds(then)
	}
	set("axis", "value", `'epoch'`, `!$('epoch').hidden`)
	set("images", "value", `'500'`, `charts.get('loss').u.data[0].at(-1) === 10`)
	set("axis", "value", `'time'`, `Math.abs(charts.get('loss').u.data[0].at(-1) - 10.2) < 0.01`)
	set("axis", "value", `'iteration'`, `charts.get('loss').u.data[0].at(-1) === 100`)
	set("smoothing", "value", `'0.5'`, `charts.get('loss').u.data.length === 7 && Math.abs(charts.get('loss').u.data[4][1] - 4/3) < 1e-6`)
	if got := b.Value(`charts.get('loss').u.data[1][1] + ' ' + charts.get('loss').u.data[1][7]`); got != "1 null" {
		t.Errorf("with smoothing the values are %s, want 1 null", got)
	}
	set("smoothing", "value", `'0'`, `charts.get('loss').u.data.length === 4`)
	set("log", "checked", `true`, `charts.get('loss').u.scales.y.distr === 3`)
	set("log", "checked", `false`, `charts.get('loss').u.scales.y.distr === 1`)
}

// pressButtons presses the buttons, each once refused in its dialog and once confirmed.
func pressButtons(t *testing.T, b *pagetest.Browser, pressed *counter) {
	t.Helper()
	for _, button := range []string{"#snapshot", "#stop", "#test"} {
		for _, answer := range []string{"no", "yes"} {
			b.Press(button, answer)
		}
		b.Holds(fmt.Sprintf(`$('reading').textContent === 'Asked the run for %s.'`, map[string]string{"#snapshot": "a snapshot", "#stop": "its end", "#test": "a test"}[button]))
		b.Do(chromedp.Evaluate(`$('reading').textContent = ''`, nil))
	}
	for _, rate := range []string{"fast", "0.5"} {
		b.Do(chromedp.Click("#rate"), chromedp.WaitVisible("#amount")) // with the mouse, for once
		if got := b.Value(`$('amount').value`); got != "0.01" {
			t.Errorf("the dialog has learning rate %q, want 0.01", got)
		}
		b.Do(chromedp.Evaluate(fmt.Sprintf(`$('reading').textContent = ''; $('amount').value = %q`, rate), nil))
		b.Click("#confirm [value=yes]")
		b.Holds(`!asking && $('reading').textContent !== ''`)
		if got, want := b.Value(`$('reading').textContent`), map[string]string{"fast": "no positive learning rate", "0.5": "Asked the run for learning rate 0.5."}[rate]; !strings.Contains(got, want) {
			t.Errorf("learning rate %s: %q, want %q", rate, got, want)
		}
	}
	if got, want := pressed.all(), "snapshot 0, stop 0, test 0, rate 0.5"; got != want {
		t.Errorf("pressed %q, want %q", got, want)
	}
}

// TestPageWithoutToken: on an open address a page without the token says what to do.
func TestPageWithoutToken(t *testing.T) {
	b := pagetest.Open(t)
	h, _ := sample()
	s, _ := begin(t, Config{Address: "0.0.0.0:0", Token: "secret", Runs: one(h)})
	address := strings.Replace(strings.TrimSuffix(s.URL(), "#token=secret"), "[::]", "127.0.0.1", 1)
	b.Do(chromedp.Navigate(address))
	b.Holds(`$('state').textContent.startsWith('Open the address in the log')`)
	b.Do(chromedp.Navigate(address + "?#token=secret"))
	b.Holds(`$('state').textContent === 'Iteration 100 of 200'`)
}

// TestNetAndData: the drawn net's layers are buttons that show what they hold; the batch has its images and labels.
func TestNetAndData(t *testing.T) {
	b := pagetest.Open(t)
	h, take := sample()
	take(&events.Started{Net: "n", Iteration: 100, MaxIter: 200, NetText: drawnNet, SolverText: "test_iter: 10\ntest_interval: 50\n", Layers: []events.Layer{
		{Name: "conv <1>", Type: "Convolution", Tops: []string{"4 2 1 1 (8)"}, Weights: 18}, {Name: "relu", Type: "ReLU", Tops: []string{"4 2 1 1 (8)"}},
	}})
	s, _ := begin(t, Config{Address: loopback, Runs: one(h), Inspector: pretended{}})
	b.Do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()))
	b.Holds(`(lookEvery = 20) && run && run.started`)
	b.Do(chromedp.Focus("#tab-curves"), chromedp.KeyEvent(kb.ArrowRight))
	b.Holds(`!$('view-net').hidden && $('view-curves').hidden && document.activeElement === $('tab-net') && $('drawing').naturalWidth > 50 && $('layers').rows.length === 4`)
	for expression, want := range map[string]string{
		`[...$('places').children].map(b => b.title).join()`:                                                    "conv <1>,relu",
		`$('places').children[0].getAttribute('aria-label')`:                                                    "Layer conv <1>: gradient is not finite",
		`[...$('layers').rows[1].cells].map(c => c.textContent).join('|')`:                                      "conv <1>|Convolution|4 2 1 1 (8)|0|0|18|0|nan|gradient is not finite",
		`$('places').children[0].getBoundingClientRect().height > 10 && $('places').children[0].offsetTop >= 0`: "true",
		`$('places').children[1].getBoundingClientRect().bottom <= $('drawing').getBoundingClientRect().bottom`: "true",
	} {
		if got := b.Value(expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	b.Click("#follow")
	b.Holds(`tables.has('norms') && tables.get('norms').iterations.length >= 2 && charts.has('gradients (root mean square)') && charts.get('gradients (root mean square)').u.data[0].length >= 2`)
	b.Click("#follow")
	b.Holds(`!$('follow').checked && !looks`)
	const point = `layers: [{name: 'ip', weights: 1, gradient_rms: 2, weight_rms: 1}]`
	for _, c := range [][2]string{
		{`charts.get('weights (root mean square)').list.map(c => c.label).join()`, "conv <1>,ip"},
		{`charts.get('gradients (root mean square)').u.data[2][0]`, "0.25"},
		{`charts.get('weights (root mean square)').u.data[2][1]`, "0.5"},
		{`record({iteration: 1e6, ` + point + `}) || tables.get('norms').columns.length`, "2"}, // of another net
		{`[...Array(10000).keys()].forEach(i => record({iteration: 2e6 + i, ` + point + `})) || tables.get('norms').iterations.length <= 2000`, "true"},
		{`tables.get('norms').iterations.at(-1) + ' ' + tables.get('norms').columns[0].at(-1)`, "2009999 2"},
	} {
		if got := b.Value(c[0]); got != c[1] {
			t.Errorf("%s is %q, want %q", c[0], got, c[1])
		}
	}
	b.Click(`#places button:first-child`)
	b.Holds(`$('layer').querySelectorAll('svg').length === 2 && $('layer').querySelector('img').naturalWidth === 2`)
	if got := b.Value(`$('layer').textContent`); !strings.Contains(got, "conv <1> (Convolution)") || !strings.Contains(got, "25 % of channels") || !strings.Contains(got, "forward: winograd") || !strings.Contains(got, "layer <x>") {
		t.Errorf("the layer is %q", got)
	}
	b.Do(chromedp.Evaluate(`showLayer('relu')`, nil))
	b.Holds(`$('layer-note').textContent === 'the training net has no layer "relu"'`)
	b.Click("#tab-data")
	b.Holds(`$('items').children.length === 1 && $('items').querySelector('img').naturalHeight === 2 && $('items').textContent === 'label 7' && $('items-note').textContent.startsWith('1 of 64')`)
	named(t, b, "net")
	lookAtTests(t, b, take)
	named(t, b, "tests")
	lookAtTime(t, b)
	named(t, b, "time")
	reached(t, b)
	b.Do(chromedp.EmulateViewport(360, 700))
	b.Holds(`document.documentElement.scrollWidth <= innerWidth`)
	b.Click("#tab-net")
	b.Holds(`!$('view-net').hidden && document.documentElement.scrollWidth <= innerWidth`)
	b.Holds(`!looks`)
	const late = `(real => { window.fetch = (path, o) => real(path, o).then(a => path === 'api/layers' ? new Promise(done => { window.release = () => done(a); }) : a); })(window.fetch)`
	b.Do(chromedp.Evaluate(late, nil))
	b.Click("#net-again")
	b.Holds(`window.release`)
	take(&events.Stopped{Iteration: 100})
	b.Holds(`run.stopped`)
	b.Click("#net-again")
	const recorded = `$('net-note').textContent === '' && $('layers').rows.length === 3 && $('layers').rows[0].cells.length === 4`
	b.Holds(recorded)
	b.Do(chromedp.Evaluate(`release()`, nil)) // the answer of before the end
	b.Holds(`!looks`)
	if b.Value(recorded) != "true" {
		t.Error("an answer that came late replaced a newer one")
	}
}

// lookAtTests opens the view of the tests: a classification, nothing, and detections. After a test the page asks again.
func lookAtTests(t *testing.T, b *pagetest.Browser, take func(events.Body)) {
	t.Helper()
	b.Click("#tab-tests")
	b.Holds(`$('results').querySelectorAll('.cards li').length === 1 && $('test-net').options.length === 3 && !$('which').hidden`)
	for _, c := range [][2]string{
		{`[...document.querySelector('.matrix').rows].map(r => [...r.cells].map(c => c.textContent).join()).join('|')`, ",cat,<dog>|cat,4,|<dog>,1,3"},
		{`[...document.querySelectorAll('.matrix td')].map(c => c.title + c.className).join()`, "right strong,,<dog> taken for cat: 1,right strong"},
		{`$('results').textContent.includes('<dog>4375.00 %100.00 %') && $('results').querySelectorAll('meter').length`, "2"},
		{`$('results').querySelector('.cards table').textContent`, "label <dog>0.0100cat0.9900"},
		{`$('results').querySelector('.frame img').naturalWidth`, "2"},
		{`$('tests-note').textContent`, `Test before iteration 50. The next test comes before iteration 100. "Test now" begins one at once.`},
	} {
		if got := b.Value(c[0]); got != c[1] {
			t.Errorf("%s is %q, want %q", c[0], got, c[1])
		}
	}
	before := examined.Load()
	b.Do(chromedp.Evaluate(`window.oldView = testView`, nil))
	take(&events.Test{Iteration: 100, Outputs: []events.Value{{Name: "accuracy", Value: 0.75}, {Name: "loss", Value: 0.5, Weight: 1}}})
	b.Holds(`asked === '0 100' && testView !== oldView`)
	if got := examined.Load(); got != before+1 {
		t.Errorf("after a test the page asked %d times, want once", got-before)
	}
	b.Do(chromedp.Evaluate(`$('test-net').value = 1; $('test-net').dispatchEvent(new Event('change'))`, nil))
	b.Holds(`$('tests-note').textContent === '' && $('results').textContent.includes('No test has ended yet.The next test comes before iteration 150') && $('results').textContent.includes('confusion matrix')`)
	b.Do(chromedp.Evaluate(`$('test-net').value = 2; $('test-net').dispatchEvent(new Event('change'))`, nil))
	b.Holds(`$('results').querySelectorAll('.recall').length === 1 && $('results').textContent.includes('class 2: –no detections')`)
	if got := b.Value(`(r => { const f = document.querySelector('.frame').getBoundingClientRect(); return Math.round(100 * (r.left - f.left) / f.width) + ' ' + Math.round(100 * r.height / f.height); })(document.querySelector('.boxes .object').getBoundingClientRect())`); got != "25 50" {
		t.Errorf("the box is at %s %% of its image, want 25 and 50 high", got)
	}
}

// lookAtTime opens the view of the time: bars lie where their times say, tables have the sums, and the buttons zoom.
func lookAtTime(t *testing.T, b *pagetest.Browser) {
	t.Helper()
	b.Do(chromedp.Focus("#tab-tests"), chromedp.KeyEvent(kb.ArrowRight))
	b.Holds(`document.activeElement === $('tab-time') && document.querySelectorAll('#timelines svg').length === 2`)
	for _, c := range [][2]string{
		{`$('time-note').textContent`, "Iteration 7."},
		{`[...document.querySelectorAll('#timelines h2')].map(h => h.textContent).join()`, "This computer: 10 ms,The modelled machine, in modelled time: 0.125 ms"},
		{`[...document.querySelectorAll('.names')].map(n => [...n.children].map(c => c.textContent).join()).join('|')`, "worker 0,worker 1|worker 0: core group 0"},
		{`(w => [...document.querySelectorAll('#timelines svg')[0].querySelectorAll('rect')].map(r => [r.x, r.width].map(v => Math.round(1000 * v.baseVal.value / w)).join('+')).join())(document.querySelector('#timelines svg').clientWidth)`,
			"0+400,500+250,500+500"},
		{`[...document.querySelector('#timelines table').rows].map(r => [...r.cells].map(c => c.textContent).join()).join('|')`, "what,kind,worker 0,worker 1|conv <1>,forward,4,5|conv <1>,backward,2.5,"},
		{`document.querySelector('#timelines rect title').textContent`, "conv <1>, forward: 4 ms from 0 ms\ntype: <x>"},
		{`$('key').textContent`, "forwardbackward"},
	} {
		if got := b.Value(c[0]); got != c[1] {
			t.Errorf("%s is %q, want %q", c[0], got, c[1])
		}
	}
	b.Click("#wider")
	b.Holds(`document.querySelector('#timelines svg').clientWidth > 1.9 * document.querySelector('#timelines .scroll').clientWidth && document.documentElement.scrollWidth <= innerWidth`)
	b.Click("#narrower")
}

// modelRun: a board shows a run's net on its modelled machine.
func modelRun(t *testing.T, b *pagetest.Browser, take func(events.Body)) {
	t.Helper()
	machine, err := os.ReadFile("../../../cpe/machines/sw26010.prototxt")
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Value(`$('tab-time').hidden`); got != "true" {
		t.Error("there is a view of modelled machines without one")
	}
	take(&events.Started{Net: "Other", MaxIter: 300, Iteration: 20, Items: 50, MachineText: string(machine), NetText: `name: "tiny"
		layer { name: "d" type: "Input" top: "x" top: "t" input_param { shape { dim: 4 dim: 3 dim: 8 dim: 8 } shape { dim: 4 } } }
		layer { name: "ip <1>" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 5 } }
		layer { name: "loss" type: "SoftmaxWithLoss" bottom: "y" bottom: "t" top: "l" }`})
	b.Holds(`!$('tab-time').hidden`)
	b.Click("#tab-time")
	b.Holds(`$('timing').hidden && !$('model').hidden && document.querySelectorAll('.plotted').length === 1 && document.querySelector('.plotted').naturalWidth > 100`)
	if got := b.Value(`$('model-note').textContent`); !strings.HasPrefix(got, "tiny on sw26010, batch 4: ") {
		t.Errorf("the view says %q", got)
	}
	if got := b.Value(`[...document.querySelectorAll('#model-pictures tbody tr')].map(r => [...r.cells].slice(0, 2).map(c => c.textContent).join(' ')).join()`); got != "ip <1> forward,ip <1> weight gradient,loss forward,loss input gradient" {
		t.Errorf("the passes are %q", got)
	}
	b.Do(chromedp.Evaluate(`$('model-layer').value = 'ip <1>'; $('model-layer').dispatchEvent(new Event('change'))`, nil))
	b.Holds(`document.querySelectorAll('.plotted').length === 2 && document.querySelectorAll('.plotted')[1].alt.includes('of 65536 bytes of LDM')`)
	b.Click("#tab-curves")
}

// TestBoard: two runs' curves are in one chart, can be hidden, follow their files, and their differences are shown.
func TestBoard(t *testing.T) {
	b := pagetest.Open(t)
	first, _ := sample()
	second, take := sample()
	take(&events.Started{Net: "Other", MaxIter: 300, Items: 50, SolverText: "base_lr: 0.1\naverage_loss: 5\n", NetText: "same\n"})
	for i := range 20 {
		take(&events.Iteration{Iteration: i, Loss: 3, Outputs: []events.Value{{Name: "loss", Value: 3}}})
	}
	take(&events.Test{Iteration: 20, Outputs: []events.Value{{Name: "accuracy", Value: 0.5}}})
	var mu sync.Mutex
	list := []Run{{"a <i>", first}, {"b", second}}
	s, _ := begin(t, Config{Address: loopback, Board: true, Runs: func() []Run {
		mu.Lock()
		defer mu.Unlock()
		return list
	}})
	b.Do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()))
	b.Holds(`runs.size === 2 && charts.get('loss')`)
	for expression, want := range map[string]string{
		`charts.get('loss').list.map(c => c.label).join()`:                         "a <i>: train,a <i>: train, average_loss,a <i>: test 0,b: train,b: train, average_loss",
		`[...$('run-table').rows[0].cells].map(c => c.textContent).join('|')`:      "show|run|state|iteration|time|loss|accuracy|best accuracy|test loss|lowest test loss|net name|workers|base_lr",
		`[...$('run-table').rows[2].cells].map(c => c.textContent).join('|')`:      "|b|no end yet|20 of 300|2 s|3|0.5|0.5 at 20|||Other|0|0.1",
		`$('tab-data').hidden && $('run-head').hidden && $('buttons').hidden`:      "true",
		`charts.get('loss').u.data[4][19] + ' ' + charts.get('loss').u.data[1][1]`: "3 1",
	} {
		if got := b.Value(expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	b.Click("#compare")
	b.Holds(`!$('differences').hidden`)
	if got, want := b.Value(`$('differences').textContent`), "- a <i>, + bSolvers+base_lr: 0.1\n average_loss: 5\n \nNets+same\n \n"; got != want {
		t.Errorf("the differences are %q, want %q", got, want)
	}
	modelRun(t, b, take)
	b.Click(`[aria-label="Show b"]`)
	b.Holds(`charts.get('loss').list.length === 3`)
	b.Click("#compare")
	b.Holds(`$('differences').textContent === 'Two shown runs are needed.'`)
	take(&events.Crashed{Iteration: 20, Error: "no luck"})
	b.Holds(`$('run-table').rows[2].cells[2].textContent === 'crashed: no luck'`)
	b.Do(chromedp.Evaluate(`$('differences').append(element('pre', 'x'.repeat(9999) + '\n'.repeat(99), {class: 'difference'}))`, nil))
	b.Holds(`$('differences').clientHeight < innerHeight`)
	mu.Lock()
	list = append(list[:1:1], Run{"c", second})
	mu.Unlock()
	b.Holds(`[...runs.keys()].join() === 'a <i>,c' && $('run-table').rows[2].cells[1].textContent === 'c'`)
	b.Do(chromedp.EmulateViewport(360, 700))
	b.Holds(`document.documentElement.scrollWidth <= innerWidth`)
}
