package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/swcaffe/swcaffe/internal/app/page/pagetest"
)

// pictureFile writes a PNG of a model's height and width.
func pictureFile(t *testing.T) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 5, 4))
	for i := range 20 {
		m.Set(i%5, i/5, color.RGBA{uint8(i * 12), uint8(255 - i*9), 77, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "spots.png")
	write(t, path, b.String())
	return path
}

// TestPage: the page shows the models with their inputs and outputs, answers an image with what the call answers, and draws latencies; wide and narrow, with and without a token.
func TestPage(t *testing.T) {
	t.Cleanup(pagetest.Close) // other tests count goroutines
	b := pagetest.Open(t)
	cfg := config(t)
	cfg.Address, cfg.Token = "0.0.0.0:0", "secret"
	s := begin(t, cfg)
	t.Cleanup(func() { end(t, s) })
	url := "http://127.0.0.1" + s.URL()[strings.LastIndex(s.URL(), ":"):]
	picture := pictureFile(t)
	b.Do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url))
	b.Holds(`document.getElementById('ask').hidden === false`)
	b.Do(chromedp.SendKeys("#token", "secret\r"))
	b.Holds(`document.querySelectorAll('.model').length === 1`)
	for expression, want := range map[string]string{
		`document.querySelector('h2').textContent`:                                                              "m, version 1",
		`[...document.querySelectorAll('tbody')].slice(0, 1).map(t => t.innerText.replace(/\s+/g, ' ')).join()`: "data FP32 any × 3 × 4 × 5",
		`sessionStorage.getItem('token')`:                                                                       "secret",
	} {
		if got := b.Value(expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	b.Holds(`document.getElementById('ask').hidden`)
	b.Do(chromedp.SetUploadFiles(".drop input", []string{picture}, chromedp.ByQuery))
	b.Holds(`document.querySelectorAll('meter').length === 5`)
	file, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := http.NewRequest("POST", url+"/v2/models/m/classify", bytes.NewReader(file))
	r.Header.Set("Authorization", "Bearer secret")
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	var answer labels
	if err := json.NewDecoder(w.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if got, want := b.Value(`[...document.querySelector('meter').closest('table').querySelectorAll('td:nth-child(4)')].map(e => e.textContent).join()`), ""; got == want || !strings.HasPrefix(got, answer.Predictions[0].Label+",") {
		t.Errorf("the page's labels are %q, those of the call %v", got, answer.Predictions)
	}
	b.Holds(`/median [0-9.]+ ms/.test(document.querySelector('canvas.plot').getAttribute('aria-label') || '')`)
	for _, width := range []int64{1280, 360} {
		b.Do(chromedp.EmulateViewport(width, 900))
		b.Holds(`document.documentElement.scrollWidth <= innerWidth`)
		if folder := os.Getenv("SWCAFFE_PAGE_PICTURES"); folder != "" {
			var shot []byte
			b.Do(chromedp.FullScreenshot(&shot, 90))
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("serve_%d.jpg", width)), shot, 0o666); err != nil {
				t.Error(err)
			}
		}
	}
	readMetrics(t, b)
}

// readMetrics: what the page reads from the metrics' text.
func readMetrics(t *testing.T, b *pagetest.Browser) {
	t.Helper()
	text := `swcaffe_serve_stage_seconds_bucket{model="a\\"b",stage="request",version="1",le="0.1"} 10\nswcaffe_serve_stage_seconds_bucket{model="a\\"b",stage="request",version="1",le="0.2"} 30\nswcaffe_serve_stage_seconds_bucket{model="a\\"b",stage="request",version="1",le="+Inf"} 40\nswcaffe_serve_stage_seconds_bucket{model="x",stage="run",version="1",le="0.1"} 1\n`
	b.Do(chromedp.Evaluate(`import('./chart.js').then(c => { window.c = c; window.h = c.read('`+text+`'); })`, nil))
	b.Holds(`window.h !== undefined`)
	for expression, want := range map[string]string{
		`[...h.keys()].join()`:                                               `["a\"b","1"]`,
		`c.quantile([...h.values()][0], 0.5).toFixed(6)`:                     "0.150000", // 20 of 40: half of the second bucket's 20
		`c.quantile([...h.values()][0], 0.99)`:                               "0.2",      // above the last bound, that is the answer
		`String(c.quantile([[0.1, 0], [Infinity, 0]], 0.5))`:                 "NaN",
		`c.between([[1, 3], [Infinity, 5]], [[1, 4], [Infinity, 9]]).join()`: "1,1,Infinity,4",
		`[c.time(0.0123), c.time(2), c.time(NaN)].join()`:                    "12.3 ms,2 s,–",
	} {
		if got := b.Value(expression); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
}

// TestPageFiles: files of the page need no token and may be opened by links from elsewhere; calls may not. The policy lets them use nothing but this server, and they name no other.
func TestPageFiles(t *testing.T) {
	cfg := config(t)
	cfg.Address, cfg.Token = "0.0.0.0:0", "secret"
	s, _ := run(t, cfg)
	url := "http://127.0.0.1" + s.URL()[strings.LastIndex(s.URL(), ":"):]
	ask := func(path, site string) *http.Response {
		r, _ := http.NewRequest("GET", url+path, nil)
		r.Header.Set("Sec-Fetch-Site", site)
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		w.Body.Close()
		return w
	}
	for path, name := range pageFiles {
		w := ask(path, "cross-site")
		if w.StatusCode != 200 || w.Header.Get("Content-Security-Policy") != pagePolicy {
			t.Errorf("%s: status %d, policy %q", path, w.StatusCode, w.Header.Get("Content-Security-Policy"))
		}
		text, _ := assets.ReadFile("assets/" + name)
		if found := regexp.MustCompile(`https?://|style="|\son\w+="|innerHTML|eval\(`).Find(text); found != nil {
			t.Errorf("%s has %s", name, found)
		}
	}
	for _, path := range []string{"/models", "/openapi.json", "/metrics", "/v2"} {
		if w := ask(path, "none"); w.StatusCode != 401 {
			t.Errorf("%s without the token: status %d", path, w.StatusCode)
		}
		if w := ask(path, "cross-site"); w.StatusCode != 403 {
			t.Errorf("%s by a link from elsewhere: status %d", path, w.StatusCode)
		}
	}
}
