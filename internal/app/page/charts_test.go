package page

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/swcaffe/swcaffe/internal/app/page/pagetest"
	"github.com/swcaffe/swcaffe/solver/events"
)

// trained is the history of a run of n iterations with a loss, and a test with an accuracy and a loss every 50 iterations.
func trained(n int, solver string, loss, accuracy func(i int) float64) *events.History {
	h, at := &events.History{}, time.Now().Add(-time.Hour)
	take := func(b events.Body) {
		at = at.Add(time.Second / 10)
		h.Take(events.Event{Time: at, Body: b})
	}
	take(&events.Started{Solver: "s.prototxt", Net: "LeNet", MaxIter: n, Items: 64, Workers: 1, SolverText: "test_iter: 10\ntest_interval: 50\n" + solver, NetText: drawnNet})
	for i := range n {
		l := events.Number(loss(i))
		if i%50 == 0 {
			take(&events.Test{Iteration: i, Loss: l, Outputs: []events.Value{{Name: "accuracy", Value: events.Number(accuracy(i))}, {Name: "loss", Value: l, Weight: 1}}})
		}
		take(&events.Iteration{Iteration: i, Loss: l, Smoothed: l, Rate: 0.01, Speed: 500, Outputs: []events.Value{{Name: "loss", Value: l, Weight: 1}}})
	}
	return h
}

func falling(i int) float64 { return 2.3 / (1 + float64(i)/50) }

func rising(i int) float64 { return 1 - 0.9/(1+float64(i)/50) }

// expect compares values of expressions.
func expect(t *testing.T, b *pagetest.Browser, list [][2]string) {
	t.Helper()
	for _, c := range list {
		if got := b.Value(c[0]); got != c[1] {
			t.Errorf("%s is %q, want %q", c[0], got, c[1])
		}
	}
}

// TestSmoothingKeepsValues: with smoothing, charts, tables, words and files have the recorded values; the means are lines of their own.
func TestSmoothingKeepsValues(t *testing.T) {
	b := pagetest.Open(t)
	s, _ := begin(t, Config{Address: loopback, Runs: one(trained(201, "", falling, rising))})
	b.Do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()))
	b.Holds(`charts.get('accuracy') && charts.get('accuracy').raw[0].length === 5`)
	b.Do(chromedp.Evaluate(`$('smoothing').value = 0.9; $('smoothing').dispatchEvent(new Event('input'))`, nil))
	b.Holds(`charts.get('accuracy').u.data.length === 3`)
	b.Do(chromedp.Evaluate(`save = (chart, blob, kind) => blob.text().then(text => { window.saved = text; })`, nil))
	b.Click(`[aria-label="CSV of accuracy"]`)
	b.Holds(`window.saved`)
	b.Click(`[aria-label="Table of accuracy"]`)
	b.Do(chromedp.Evaluate(`charts.get('accuracy').plot.focus(); key(charts.get('accuracy'), {key: 'End', preventDefault() {}})`, nil))
	expect(t, b, [][2]string{
		{`saved.trim().split('\n').at(-1)`, "200,0.82"},
		{`charts.get('accuracy').u.data[1].at(-1)`, "0.82"},
		{`charts.get('accuracy').u.data[2].at(-1) < 0.75`, "true"},
		{`charts.get('accuracy').table.querySelector('tbody tr').textContent`, "2000.82"},
		{`$('reading').textContent`, "iteration 200, test 0 0.82"},
		{`charts.get('accuracy').plot.getAttribute('aria-label')`, "accuracy: chart. Last values: test 0 0.82 at iteration 200. Arrow keys read its points."},
		{`charts.get('accuracy').entries[0].textContent`, "test 00.82"},
		{`charts.get('accuracy').u.series[1].points.show(charts.get('accuracy').u, 1)`, "true"},
	})
	b.Do(chromedp.Evaluate(`window.saved = ''`, nil))
	b.Click(`[aria-label="SVG of accuracy"]`)
	b.Holds(`window.saved`)
	expect(t, b, [][2]string{{`saved.match(/<polyline/g).length`, "2"}})
}

// TestDivergedRun: the head, the curves, their words and files say exactly when a loss became NaN, in a run so long that its points are means. The best
// accuracy is that of a finite net.
func TestDivergedRun(t *testing.T) {
	b := pagetest.Open(t)
	loss := func(i int) float64 {
		switch {
		case i == 100:
			return math.Inf(1)
		case i >= 2503:
			return math.NaN()
		}
		return falling(i)
	}
	s, _ := begin(t, Config{Address: loopback, Runs: one(trained(3000, "", loss, func(i int) float64 {
		if i > 2503 {
			return 1
		}
		return rising(i)
	}))})
	b.Do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()))
	b.Holds(`charts.get('loss') && charts.get('loss').note.textContent`)
	b.Do(chromedp.Evaluate(`save = (chart, blob, kind) => blob.text().then(text => { window.saved = text; })`, nil))
	b.Click(`[aria-label="CSV of loss"]`)
	b.Holds(`window.saved`)
	expect(t, b, [][2]string{
		{`[...$('figures').children].map(f => [...f.children].map(c => c.textContent).join(' ')).join('|')`, "loss nan since iteration 2503|accuracy 1 of a net that is not finite|best accuracy 0.982353 at iteration 2500|" +
			"test loss nan since iteration 2550|lowest test loss 0.045098 at iteration 2500|learning rate 0.01"},
		{`$('broken').textContent`, "train: loss is nan since iteration 2503; test 0: loss is nan since iteration 2550; train: loss was inf at iteration 100; and 1 more"},
		{`[...$('figures').querySelectorAll('dd.bad')].map(d => d.textContent).join()`, "nan,1,nan"},
		{`charts.get('loss').breaks.map(b => [b.i, b.x, b.value].join()).join(' ')`, "0,100,Infinity 0,2503,NaN 1,100,Infinity 1,2550,NaN"},
		{`charts.get('loss').marks.filter(m => m.text).map(m => m.text).join()`, "inf at 100,inf at 100,nan at 2503,nan at 2550"},
		{`charts.get('loss').note.textContent.startsWith('✕ train was inf at iteration 100; train is nan since iteration 2503; test 0 was inf at iteration 100; and 1 more. Points of the training net are means of 2 iterations.')`, "true"},
		{`charts.get('loss').entries.map(e => e.textContent).join()`, "trainnan,test 0nan"},
		{`saved.split('\n')[0]`, "iteration,train (mean of 2),test 0"},
		{`saved.trim().split('\n').at(-1)`, "2999,NaN,"},
		{`charts.get('loss').plot.getAttribute('aria-label').includes('train nan at iteration 2999')`, "true"},
		{`charts.get('loss').u.series[1].spanGaps`, "false"},
	})
}

// TestOutputsShareCharts: the values of an output share a chart; a net with two losses has a chart of their sum, one with a single loss has not.
func TestOutputsShareCharts(t *testing.T) {
	b := pagetest.Open(t)
	h := &events.History{}
	h.Take(events.Event{Time: time.Now(), Body: &events.Started{Net: "n", MaxIter: 10}})
	for i := range 5 {
		outputs := []events.Value{{Name: "loss1", Value: 1, Weight: 0.5}, {Name: "loss2", Value: 2, Weight: 1}, {Name: "per class[0]", Value: 1}, {Name: "per class[1]", Value: 2}}
		h.Take(events.Event{Time: time.Now(), Body: &events.Iteration{Iteration: i, Loss: 2.5, Outputs: outputs}})
	}
	s, _ := begin(t, Config{Address: loopback, Runs: one(h)})
	b.Do(chromedp.Navigate(s.URL()))
	b.Holds(`charts.size`)
	expect(t, b, [][2]string{
		{`[...charts.keys()].slice(0, 4).join()`, "loss (total),loss1,loss2,per class"},
		{`charts.get('per class').list.map(c => c.label).join()`, "train [0],train [1]"},
		{`[...$('figures').children].map(f => f.firstChild.textContent).join()`, "loss,learning rate"},
	})
}

// TestLossesOfTwoNames: runs whose only losses have different names share the chart of the total, and have no others.
func TestLossesOfTwoNames(t *testing.T) {
	b := pagetest.Open(t)
	other := &events.History{}
	other.Take(events.Event{Time: time.Now(), Body: &events.Started{Net: "n", MaxIter: 10}})
	other.Take(events.Event{Time: time.Now(), Body: &events.Iteration{Loss: 2.5, Outputs: []events.Value{{Name: "l", Value: 2.5, Weight: 1}}}})
	list := []Run{{"a", trained(100, "", falling, rising)}, {"b", other}}
	s, _ := begin(t, Config{Address: loopback, Board: true, Runs: func() []Run { return list }})
	b.Do(chromedp.Navigate(s.URL()))
	b.Holds(`runs.size === 2 && charts.size`)
	expect(t, b, [][2]string{
		{`[...charts.keys()].slice(0, 3).join()`, "loss (total),accuracy,learning rate"},
		{`charts.get('loss (total)').list.map(c => c.label).join()`, "a: train,a: test 0,b: train"},
	})
}

// TestManyCurves: a chart of 160 curves shows the 10 largest, those that are looked for, or all; a curve whose name is pointed at is lit.
func TestManyCurves(t *testing.T) {
	b := pagetest.Open(t)
	s, _ := begin(t, Config{Address: loopback, Runs: one(trained(3, "", falling, rising))})
	b.Do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(s.URL()))
	b.Holds(`charts.size`)
	long := strings.Repeat("a_long_name/", 20)
	b.Do(chromedp.Evaluate(fmt.Sprintf(`for (const i of [1, 2, 3]) record({iteration: i, layers: [...Array(160).keys()].map(k => ({name: k === 159 ? %q : 'layer' + k, weights: 1, gradient_rms: k === 7 && i > 1 ? 'NaN' : k, weight_rms: 1}))})`, long), nil))
	b.Holds(`charts.has('gradients (root mean square)')`)
	const chart = `charts.get('gradients (root mean square)')`
	b.Holds(chart + `.note.textContent`)
	expect(t, b, [][2]string{
		{`[...` + chart + `.shown].map(i => i - 0).join()`, "7,151,152,153,154,155,156,157,158,159"},
		{chart + `.u.series.filter(s => s.show).length`, "11"}, // with the x axis
		{chart + `.legend.querySelector('.count').textContent`, "10 of 160 curves"},
		{`[...` + chart + `.legend.querySelectorAll('li')].filter(l => l.checkVisibility()).length`, "10"},
		{chart + `.note.textContent`, "✕ layer7 is nan since iteration 2."},
		{`(e => e.title === '` + long + `' && e.children[1].scrollWidth > e.children[1].clientWidth && e.clientWidth < 400)(` + chart + `.entries[159])`, "true"},
		{chart + `.frame.scrollWidth <= ` + chart + `.frame.clientWidth`, "true"},
	})
	b.Do(chromedp.Evaluate(chart+`.entries[158].dispatchEvent(new Event('mouseenter'))`, nil))
	b.Holds(chart + `.lit === 158 && ` + chart + `.u.series[159].alpha === 1 && ` + chart + `.u.series[160].alpha < 0.5`)
	b.Do(chromedp.Evaluate(chart+`.entries[158].dispatchEvent(new Event('mouseleave'))`, nil))
	b.Holds(chart + `.lit === null && ` + chart + `.u.series[160].alpha === 1`)
	b.Do(chromedp.Evaluate(`(f => { f.value = 'layer1 5'; f.dispatchEvent(new Event('input')); })(`+chart+`.pick.querySelector('input'))`, nil))
	b.Holds(`[...` + chart + `.shown].join() === '15,105,115,125,135,145,150,151,152,153,154,155,156,157,158'`)
	b.Do(chromedp.Evaluate(chart+`.entries[15].click()`, nil))
	b.Holds(`!` + chart + `.shown.has(15) && ` + chart + `.entries[15].getAttribute('aria-pressed') === 'false' && ` + chart + `.entries[15].checkVisibility()`)
	b.Do(chromedp.Evaluate(`(f => { f.value = ''; f.dispatchEvent(new Event('input')); })(`+chart+`.pick.querySelector('input'))`, nil),
		chromedp.Evaluate(`(f => { f.value = 'all'; f.dispatchEvent(new Event('input')); })(`+chart+`.pick.querySelector('select'))`, nil))
	b.Holds(chart + `.shown.size === 159`)
	b.Do(chromedp.EmulateViewport(360, 700))
	b.Holds(`document.documentElement.scrollWidth <= innerWidth`)
}

// TestColours: curves have at least twelve colours that can be told apart, light and dark: a distance of at least 15 in CIELAB.
func TestColours(t *testing.T) {
	b := pagetest.Open(t)
	s, _ := begin(t, Config{Address: loopback})
	b.Do(chromedp.Navigate(s.URL()))
	b.Holds(`document.readyState === 'complete'`)
	got := b.Value(`(() => {
		const lab = c => {
			const [r, g, b] = [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16) / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
			const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b, (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089].map(v => v > 0.008856 ? Math.cbrt(v) : 7.787 * v + 16 / 116);
			return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
		};
		const near = [];
		for (const list of [onWhite, onBlack]) {
			if (list.length < 12) near.push(list.length + ' colours');
			list.forEach((a, i) => list.slice(i + 1).forEach(c => { const d = Math.hypot(...lab(a).map((v, k) => v - lab(c)[k])); if (d < 15) near.push(a + ' ' + c + ' ' + d.toFixed(1)); }));
		}
		return near.join();
	})()`)
	if got != "" {
		t.Errorf("colours that are too near: %s", got)
	}
}

// TestManyRuns: on a board each run has one colour in all charts; a diverged run does not flatten the others; the table has best values and the
// fields that differ, sorts by them and finds runs; long names are cut.
func TestManyRuns(t *testing.T) {
	b := pagetest.Open(t)
	long := strings.Repeat("batch64_", 30)
	diverges := func(i int) float64 {
		if i < 5 {
			return 2.3 * math.Pow(1000, float64(i))
		}
		return math.NaN()
	}
	stuck := func(i int) float64 { return 2.3 + min(float64(i), 85) }
	// The net's texts as a run writes them: one field a line.
	list := []Run{
		{"a", trained(100, "base_lr: 0.01\nsnapshot_prefix: \"a\"\n", falling, rising)},
		{"b", trained(100, "base_lr: 0.1\nsnapshot_prefix: \"b\"\n", func(i int) float64 { return 2 * falling(i) }, func(i int) float64 { return 0.8 * rising(i) })},
		{"diverged", trained(100, "base_lr: 1000\n", diverges, func(i int) float64 { return float64(min(i, 1)) })},
		{long, trained(100, "base_lr: 0.001\ntrain_state {\n  level: 1\n}\n", falling, func(i int) float64 { return 0.9 * rising(i) })},
		{"stuck", trained(100, "base_lr: 10\n", stuck, func(int) float64 { return 0.1 })},
	}
	for i := range 5 {
		list = append(list, Run{fmt.Sprint("more", i), trained(60, "base_lr: 0.02\n", falling, rising)})
	}
	s, _ := begin(t, Config{Address: loopback, Board: true, Runs: func() []Run { return list }})
	b.Do(chromedp.EmulateViewport(1400, 900), chromedp.Navigate(s.URL()))
	b.Holds(`runs.size === 10 && charts.get('loss') && charts.get('loss').note.textContent`)
	expect(t, b, [][2]string{
		{`[...charts.keys()].join()`, "loss,accuracy,learning rate,images/s,wait for data (share of time)"},
		{`new Set([...charts.values()].flatMap(c => c.list.map(l => l.run + colourOf(l)))).size`, "10"},
		{`new Set([...runs.values()].map(r => colourOf(r))).size`, "10"},
		{`charts.get('loss').u.scales.y.max < 7`, "true"},
		{`[...new Set(charts.get('loss').marks.filter(m => m.sign === '▲').map(m => charts.get('loss').list[m.i].run))].sort().join()`, "diverged,stuck"},
		{`[...$('run-table').rows[0].cells].map(c => c.textContent).join()`, "show,run,state,iteration,time,loss,accuracy,best accuracy,test loss,lowest test loss,base_lr,train_state.level"},
	})
	row := func(name string) string {
		return b.Value(fmt.Sprintf(`[...rows.get(%q).tr.cells].slice(5).map(c => c.textContent).join('|')`, name))
	}
	if got, want := row("a"), "0.771812|0.55|0.55 at 50|1.15|1.15 at 50|0.01|"; got != want {
		t.Errorf("run a is %q, want %q", got, want)
	}
	if got, want := row("diverged"), "nan since iteration 5|1|0 at 0|nan|2.3 at 0|1000|"; got != want {
		t.Errorf("the diverged run is %q, want %q", got, want)
	}
	order := `[...$('run-table').tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[1].textContent.slice(0, 8)).join()`
	for _, c := range [][2]string{
		{"best accuracy", "a,more0,more1,more2,more3,more4,batch64_,b,stuck,diverged"},
		{"best accuracy", "diverged,stuck,b,batch64_,a,more0,more1,more2,more3,more4"},
		{"base_lr", "batch64_,a,more0,more1,more2,more3,more4,b,stuck,diverged"},
		{"loss", "a,batch64_,more0,more1,more2,more3,more4,b,stuck,diverged"}, // NaN last
		{"loss", "stuck,b,more0,more1,more2,more3,more4,a,batch64_,diverged"},
	} {
		b.Click(fmt.Sprintf(`.sort[title=%q]`, c[0]))
		if got := b.Value(order); got != c[1] {
			t.Errorf("sorted by %s: %s, want %s", c[0], got, c[1])
		}
	}
	expect(t, b, [][2]string{
		{`(c => c.title.length === 240 && c.scrollWidth > c.clientWidth && c.clientWidth < 400)(rows.get('` + long + `').cells[0])`, "true"},
		{`document.querySelector('[aria-sort=descending]').textContent`, "loss"},
		{`[...rows.values()].every(r => r.colour.style.borderTopColor !== '')`, "true"},
	})
	b.Do(chromedp.Evaluate(`$('clip').click()`, nil))
	b.Holds(`charts.get('loss').u.scales.y.max > 1e12 && charts.get('loss').marks.every(m => m.sign !== '▲')`)
	b.Do(chromedp.Evaluate(`$('clip').click(); $('run-filter').value = 'more'; $('run-filter').dispatchEvent(new Event('input'))`, nil))
	b.Holds(order + ` === 'more0,more1,more2,more3,more4' && charts.get('accuracy').list.length === 5`)
	b.Do(chromedp.EmulateViewport(360, 700), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	b.Holds(`document.documentElement.scrollWidth <= innerWidth`)
	named(t, b, "board")
}

// TestFields: fields are named by their paths, and those that differ between runs are found, the solver's first.
func TestFields(t *testing.T) {
	b := pagetest.Open(t)
	s, _ := begin(t, Config{Address: loopback})
	b.Do(chromedp.Navigate(s.URL()))
	b.Holds(`document.readyState === 'complete'`)
	b.Do(chromedp.Evaluate(`window.text = (lr, out) => 'base_lr: ' + lr + '\nstepvalue: 1\nstepvalue: 2\nlayer {\n  name: "a\\001"\n  convolution_param {\n    num_output: ' + out + '\n  }\n}\n'`, nil))
	expect(t, b, [][2]string{
		{`[...fieldsIn(text(1, 20))].map(f => f.join('=')).join('|')`, `base_lr=1|stepvalue=1, 2|a\001.convolution_param.num_output=20`},
		{`differing([fieldsIn(text(1, 20)), fieldsIn(text(2, 20)), fieldsIn(text(1, 30) + 'gamma: 3')]).join()`, `base_lr,gamma,a\001.convolution_param.num_output`},
		{`usual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]).hi`, "5"},
		{`usual([2.3, 2, 1, 1e9]).hi + ' ' + usual([2.3, 0.001, 0.001, 0.001]).hi + ' ' + usual([2.3, ...Array(20).fill(1), 1e9]).hi`, "1000000000 2.3 2.3"},
	})
}

// TestZoomOfNet: the drawing of a net of 100 layers fits, zooms about its middle, and goes to layers that are looked for.
func TestZoomOfNet(t *testing.T) {
	b := pagetest.Open(t)
	text := "name: \"deep\"\nlayer { name: \"data\" type: \"Input\" top: \"t0\" }\n"
	for i := range 100 {
		text += fmt.Sprintf("layer { name: \"conv%d\" type: \"Convolution\" bottom: \"t%d\" top: \"t%d\" convolution_param { num_output: 2 kernel_size: 1 } }\n", i, i, i+1)
	}
	h := &events.History{}
	layers := []events.Layer{{Name: "data", Type: "Input"}}
	for i := range 100 {
		layers = append(layers, events.Layer{Name: fmt.Sprint("conv", i), Type: "Convolution"})
	}
	h.Take(events.Event{Time: time.Now(), Body: &events.Started{Net: "deep", MaxIter: 10, NetText: text, Layers: layers}})
	h.Take(events.Event{Time: time.Now(), Body: &events.Stopped{}})
	s, _ := begin(t, Config{Address: loopback, Runs: one(h)})
	b.Do(chromedp.EmulateViewport(1400, 900), chromedp.Navigate(s.URL()))
	b.Holds(`run && run.started && $('drawing').naturalHeight > 3000`)
	b.Click("#tab-net")
	b.Holds(`$('layers').rows.length === 102 && netZoom === 1 && Math.abs($('drawing').clientHeight / $('drawing').naturalHeight - 1) < 0.01`)
	b.Click("#net-fit")
	b.Holds(`$('drawing').clientHeight <= 0.8 * innerHeight + 1 && $('drawing').clientHeight > 0.7 * innerHeight && Math.abs($('places').clientHeight + $('canvas').clientHeight - $('drawing').clientHeight) < 3`)
	expect(t, b, [][2]string{{`$('net-size').textContent === Math.round(100 * netZoom) + ' %'`, "true"}})
	b.Click("#net-size")
	b.Holds(`netZoom === 1`)
	const middle = `(() => { const b = frame().getBoundingClientRect(), p = placeOf('conv77').getBoundingClientRect(); return Math.abs(p.top + p.height / 2 - b.top - b.height / 2); })()`
	b.Do(chromedp.Evaluate(`$('net-find').value = 'conv77'; $('net-find').dispatchEvent(new Event('input'))`, nil))
	b.Holds(middle + ` < 3`)
	b.Click("#net-in")
	b.Holds(middle + ` < 3 && netZoom === 1.25`)
	expect(t, b, [][2]string{
		{`$('net-found').textContent`, "1 of 1 layers"},
		{`[...$('layers').tBodies[0].rows].filter(r => !r.hidden).length`, "1"},
		{`document.querySelectorAll('#places .found').length`, "1"},
	})
	b.Do(chromedp.Evaluate(`$('net-find').value = 'convolution 9'; $('net-find').dispatchEvent(new Event('input')); $('net-find').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))`, nil))
	b.Holds(`$('net-found').textContent === '2 of 19 layers' && document.querySelector('#places .current').title === 'conv19'`)
	b.Do(chromedp.Evaluate(`$('net-find').value = 'nothing'; $('net-find').dispatchEvent(new Event('input'))`, nil))
	b.Holds(`$('net-found').textContent === 'No layer has this name or type.' && document.querySelectorAll('#places .found').length === 0`)
}

// TestBeforeTheFirstTest: the view of the tests says what it will have and when, or why it never will.
func TestBeforeTheFirstTest(t *testing.T) {
	for _, c := range []struct{ solver, want string }{
		{"test_iter: 10\ntest_interval: 500\n", "No test has ended yet.The next test comes before iteration 500, in about"},
		{"test_iter: 10\ntest_interval: 5000\n", "No other test comes by itself: the run ends before."},
		{"base_lr: 1\n", "This run has no tests. Its solver needs test_iter and test_interval"},
	} {
		b := pagetest.Open(t)
		h := &events.History{}
		at := time.Now()
		h.Take(events.Event{Time: at, Body: &events.Started{Net: "n", MaxIter: 1000, SolverText: c.solver}})
		for i := range 100 {
			at = at.Add(time.Second)
			h.Take(events.Event{Time: at, Body: &events.Iteration{Iteration: i, Loss: 1}})
		}
		s, _ := begin(t, Config{Address: loopback, Runs: one(h), Inspector: untested{}})
		b.Do(chromedp.Navigate(s.URL()))
		b.Holds(`run && run.started`)
		b.Click("#tab-tests")
		b.Holds(fmt.Sprintf(`$('results').textContent.includes(%q)`, c.want))
	}
}

// untested has had no test yet.
type untested struct{ pretended }

func (untested) Test(int) (*Tested, error) { return &Tested{}, nil }
