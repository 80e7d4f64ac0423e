// Package pagetest opens pages in a headless Chromium, for tests.
package pagetest

import (
	"context"
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

// Browser is a tab. Every message and every exception in its console fails the test.
type Browser struct {
	t   *testing.T
	ctx context.Context
}

// Open starts a browser, which ends with the test. Without Chromium it skips the test; scripts/check.sh installs Chromium.
func Open(t *testing.T) *Browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium; scripts/check.sh installs it")
	}
	// Chromium leaves a socket in TMPDIR when it is killed. A socket's path has at most 108 bytes, so the folder's name is short.
	folder, err := os.MkdirTemp("", "page")
	if err != nil {
		t.Fatal(err)
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(),
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(folder, "profile")), chromedp.Env("TMPDIR="+folder))...)
	// The library reports events of Chromium versions that are newer than itself as errors.
	tab, _ := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	ctx, done := context.WithTimeout(tab, patience)
	var mu sync.Mutex
	ended := false
	t.Cleanup(func() {
		mu.Lock()
		ended = true
		mu.Unlock()
		_ = chromedp.Cancel(tab)
		done()
		cancel()
		// The browser's processes may write for some moments after it has ended.
		for range 100 {
			if os.RemoveAll(folder) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
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

// Press presses a button of the page and answers its dialog, "yes" or "no".
func (b *Browser) Press(button, answer string) {
	b.t.Helper()
	b.Do(chromedp.Click(button), chromedp.WaitVisible("#confirm"), chromedp.Click(fmt.Sprintf("#confirm [value=%s]", answer)))
	b.Holds(`!asking`)
}
