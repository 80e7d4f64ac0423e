package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/swcaffe/swcaffe/internal/app/page/pagetest"
)

var pagePictures = flag.String("page_pictures", "", "take the pictures of docs/page.md that show times, and write them to this folder; on an idle machine")

// TestPagePictures takes the pictures of a training of models/lenet on one worker and on two, on request.
func TestPagePictures(t *testing.T) {
	if *pagePictures == "" {
		t.Skip("-page_pictures FOLDER takes pictures")
	}
	folder, err := filepath.Abs(*pagePictures)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "models", "lenet"), os.DirFS("../../models/lenet")); err != nil {
		t.Fatal(err)
	}
	if out, err := inFolder(t, dir, "dataset", "digits").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	picture := func(name, workers, script string, width int64, shown string) {
		log := &logLines{}
		cmd := inFolder(t, dir, "train", "-solver", "models/lenet/solver.prototxt", "-http", "127.0.0.1:0", "-workers", workers)
		cmd.Stderr = log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
		eventually(t, "a page", func() bool { return pageAt.MatchString(log.String()) })
		b := pagetest.Open(t)
		b.Do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(pageAt.FindString(log.String())[len("The run's page: "):]))
		b.Holds(`tables.get('train') && tables.get('train').iterations.at(-1) > 300`)
		b.Do(chromedp.Evaluate(script, nil))
		b.Holds(shown)
		var png []byte
		b.Do(chromedp.FullScreenshot(&png, 100))
		if err := os.WriteFile(filepath.Join(folder, name), png, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	picture("page_net.png", "1", `$('tab-net').click(); showLayer('conv1')`, 1280, `$('layer').querySelectorAll('.tiles').length === 2 && $('layers').rows.length === 10 && $('net-note').textContent === ''`)
	picture("page_time.png", "2", `$('tab-time').click()`, 1000, `document.querySelectorAll('#timelines rect').length > 20`)
}

// inFolder returns a command line of the program that runs in a folder.
func inFolder(t *testing.T, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(buildBinary(t), args...)
	cmd.Dir = dir
	return cmd
}
