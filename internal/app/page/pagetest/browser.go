// Package pagetest opens pages in a headless Chromium, for tests.
package pagetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a Browser waits for what must come: far longer than it takes on an idle machine.
const patience = 2 * time.Minute

// process is the browser that all tests of a package share: starting one costs more than most tests.
var process struct {
	once   sync.Once
	ctx    context.Context
	folder string
	end    context.CancelFunc
	err    error
}

// begin starts the browser.
func begin() {
	path, err := exec.LookPath("chromium")
	if err != nil {
		process.err = err
		return
	}
	// Chromium leaves a socket in TMPDIR when it is killed. A socket's path has at most 108 bytes, so the folder's name is short.
	if process.folder, process.err = os.MkdirTemp("", "page"); process.err != nil {
		return
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(),
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU, chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(process.folder, "profile")), chromedp.Env("TMPDIR="+process.folder))...)
	process.end = cancel
	// The library reports events of Chromium versions that are newer than itself as errors.
	process.ctx, _ = chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	process.err = chromedp.Run(process.ctx)
}

// Close ends the package's browser, if a test has started it. TestMain calls it after the tests.
func Close() {
	if process.ctx != nil {
		_ = chromedp.Cancel(process.ctx)
	}
	if process.end != nil {
		process.end()
	}
	// The browser's processes may write for some moments after it has ended.
	for range 100 {
		if process.folder == "" || os.RemoveAll(process.folder) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Browser is a tab. Every message and every exception in its console fails the test.
type Browser struct {
	t   *testing.T
	ctx context.Context
}

// Open opens a tab of the package's browser, which closes with the test. Without Chromium it skips the test; scripts/check.sh installs Chromium.
func Open(t *testing.T) *Browser {
	t.Helper()
	process.once.Do(begin)
	if errors.Is(process.err, exec.ErrNotFound) {
		t.Skip("no chromium; scripts/check.sh installs it")
	}
	if process.err != nil {
		t.Fatal(process.err)
	}
	tab, _ := chromedp.NewContext(process.ctx)
	ctx, done := context.WithTimeout(tab, patience)
	var mu sync.Mutex
	ended := false
	t.Cleanup(func() {
		mu.Lock()
		ended = true
		mu.Unlock()
		_ = chromedp.Cancel(tab)
		done()
	})
	chromedp.ListenTarget(ctx, func(e any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := e.(type) {
		case *runtime.EventConsoleAPICalled:
			if !ended {
				t.Errorf("console: %v", e.Args)
			}
		case *runtime.EventExceptionThrown:
			if !ended {
				t.Errorf("exception: %v", e.ExceptionDetails)
			}
		}
	})
	return &Browser{t, ctx}
}

// Do runs actions.
func (b *Browser) Do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// Holds waits until a JavaScript expression is true.
func (b *Browser) Holds(expression string) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(patience))); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// Value returns a JavaScript expression's value as text.
func (b *Browser) Value(expression string) (text string) {
	b.t.Helper()
	b.Do(chromedp.Evaluate("String("+expression+")", &text))
	return text
}

// Click clicks on an element, without the mouse: chromedp.Click needs many messages for one.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	b.Do(chromedp.Evaluate(fmt.Sprintf("document.querySelector(%q).click()", selector), nil))
}

// Press presses a button of the page and answers its dialog, "yes" or "no".
func (b *Browser) Press(button, answer string) {
	b.t.Helper()
	b.Click(button)
	b.Holds(`$('confirm').open`)
	b.Click(fmt.Sprintf("#confirm [value=%s]", answer))
	b.Holds(`!asking`)
}
