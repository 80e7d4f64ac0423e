package timeline

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestFormat: the exact text, from the description of Chrome's trace event format.
func TestFormat(t *testing.T) {
	var r Recorder
	at := time.Unix(100, 0)
	r.Name(0, "worker")
	r.Add(Span{Name: "late", Category: "c", Begin: at.Add(1500 * time.Nanosecond), Took: 2 * time.Millisecond, Notes: map[string]any{"type": "ReLU"}})
	r.Add(Span{Row: 0, Name: `a"b`, Begin: at})
	var out bytes.Buffer
	n, err := r.WriteTo(&out)
	want := `{"displayTimeUnit":"ms","traceEvents":[` + strings.Join([]string{
		`{"name":"process_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"swcaffe train"}}`,
		`{"name":"thread_name","ph":"M","ts":0,"pid":1,"tid":0,"args":{"name":"worker"}}`,
		`{"name":"late","cat":"c","ph":"X","ts":1.5,"dur":2000,"pid":1,"tid":0,"args":{"type":"ReLU"}}`,
		`{"name":"a\"b","ph":"X","ts":0,"dur":0,"pid":1,"tid":0}`,
	}, ",") + `]}`
	if out.String() != want || err != nil || n != int64(len(want)) {
		t.Errorf("%d, %v:\n%s\nwant\n%s", n, err, out.String(), want)
	}
}
