package page

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/swcaffe/swcaffe/internal/app/page/pagetest"
)

// spoken are the roles of what a user acts on or is told of: each must have a name.
var spoken = map[string]bool{
	"application": true, "button": true, "tab": true, "combobox": true, "checkbox": true, "slider": true, "spinbutton": true, "textbox": true, "image": true, "img": true, "region": true, // a group without a name may be <details>
	"tablist": true, "progressbar": true, "dialog": true,
}

// named checks that everything that Chromium's accessibility tree has with such a role has a name in it.
func named(t *testing.T, b *pagetest.Browser, view string) {
	t.Helper()
	seen := 0
	b.Do(chromedp.ActionFunc(func(ctx context.Context) error {
		type text struct {
			Value any `json:"value"`
		}
		var tree struct { // the library's own type does not know all of the browser's values
			Nodes []struct {
				Ignored bool `json:"ignored"`
				Role    text `json:"role"`
				Name    text `json:"name"`
				Node    int  `json:"backendDOMNodeId"`
			} `json:"nodes"`
		}
		if err := cdp.Execute(ctx, "Accessibility.getFullAXTree", nil, &tree); err != nil {
			return err
		}
		for _, n := range tree.Nodes {
			role, _ := n.Role.Value.(string)
			if n.Ignored || !spoken[role] {
				continue
			}
			seen++
			if name, _ := n.Name.Value.(string); strings.TrimSpace(name) == "" {
				t.Errorf("view %s: a %s has no name (node %d)", view, role, n.Node)
			}
		}
		return nil
	}))
	if seen < 8 {
		t.Errorf("view %s: %d named elements, want more", view, seen)
	}
}

// reached presses Tab until the focus returns, and checks that it was on everything that a mouse can press.
func reached(t *testing.T, b *pagetest.Browser) {
	t.Helper()
	b.Do(chromedp.Evaluate(`document.activeElement.blur(); window.reachedBy = new Set(); document.addEventListener('focusin', e => reachedBy.add(e.target))`, nil))
	const open = `[...document.querySelectorAll('button, select, input, summary, .plot, .scroll')].filter(e => e.checkVisibility() && e.tabIndex >= 0)`
	for range 100 {
		b.Do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab))
		if b.Value(open+`.every(e => reachedBy.has(e))`) == "true" {
			return
		}
	}
	t.Errorf("Tab does not reach %s", b.Value(open+`.filter(e => !reachedBy.has(e)).map(e => e.outerHTML.slice(0, 80)).join()`))
}

// legible checks that texts have a contrast of at least 4.5 to what lies behind them, by the formula of WCAG 2.
func legible(t *testing.T, b *pagetest.Browser) {
	t.Helper()
	got := b.Value(`(() => {
		const style = getComputedStyle(document.body), bad = [];
		const light = c => {
			const [r, g, b] = c.match(/[0-9.]+/g).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
			return 0.2126 * r + 0.7152 * g + 0.0722 * b;
		};
		const probe = document.createElement('i');
		document.body.append(probe);
		const colour = c => { probe.style.color = c; return getComputedStyle(probe).color; };
		const check = (text, back) => {
			const [a, b] = [light(colour(text)), light(colour(back))], ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (!(ratio >= 4.5)) bad.push(text + ' on ' + back + ': ' + ratio.toFixed(2));
		};
		for (const text of ['--text', '--soft', '--bad', '--good', '--accent']) for (const back of ['--back', '--card']) check('var(' + text + ')', 'var(' + back + ')');
		for (const kind of Object.keys(kinds)) {
			const bar = document.createElement('span');
			bar.className = 'swatch ' + kind;
			document.body.append(bar);
			check('#fff', getComputedStyle(bar).backgroundColor);
			bar.remove();
		}
		for (const c of palette()) { const [a, b] = [light(colour(c)), light(colour('var(--card)'))]; if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 3) bad.push('curve ' + c); }
		probe.remove();
		return bad.join(', ');
	})()`)
	if got != "" {
		t.Errorf("too little contrast: %s", got)
	}
}
