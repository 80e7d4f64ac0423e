package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/proto/inferencepb"
)

// TestVisits: each request is told with its model, sizes, stages and status, over both protocols, refused ones too; no token is in it.
func TestVisits(t *testing.T) {
	cfg, _ := breakingConfig(t)
	var mu sync.Mutex
	var list []*Visit
	cfg.Visited = func(v *Visit) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, v)
	}
	cfg.Trace = NewTrace(3)
	s, url := run(t, cfg)
	const secret = "Authorization: Bearer hush"
	body := row(1)
	call(t, "POST", url+"/v2/models/m/infer?token=hush", body, secret)
	call(t, "POST", url+"/v2/models/none/infer", body, secret)
	call(t, "POST", url+"/v2/models/m/versions/1/infer", []byte("{}"), secret)
	call(t, "POST", url+"/v2/models/m/infer", row(breaks), secret)
	call(t, "GET", url+"/v2/health/live", nil, "Host: evil.example", secret)
	c := dial(t, s.GRPC())
	if _, err := infer(t.Context(), c, &inferencepb.ModelInferRequest{
		ModelName: "m", RawInputContents: [][]byte{make([]byte, 56)},
		Inputs: []*inferencepb.ModelInferRequest_InferInputTensor{{Name: "data", Datatype: "FP32", Shape: []int64{2, 7}}},
	}); err != nil {
		t.Error(err)
	}
	if _, err := infer(t.Context(), c, &inferencepb.ModelInferRequest{ModelName: "absent"}); err == nil {
		t.Error("no error")
	}
	c.Close()
	for begin := time.Now(); time.Since(begin) < 5*time.Second; time.Sleep(time.Millisecond) { // the last one is told after its answer
		mu.Lock()
		n := len(list)
		mu.Unlock()
		if n == 7 {
			break
		}
	}
	mu.Lock()
	defer mu.Unlock()
	var got []string
	for _, v := range list {
		got = append(got, fmt.Sprint(v.Protocol, " ", v.Call, " ", v.Model, "/", v.Version, " ", v.Status, " ", v.Items, "/", v.Batch, " ", v.Error != "", v.Run > 0 || v.Batch == 0, v.Total >= v.Run, v.Wrote > 0))
		line, err := json.Marshal(v)
		if err != nil || strings.Contains(string(line), "hush") {
			t.Errorf("%s, %v", line, err)
		}
	}
	want := []string{
		"HTTP/1.1 POST /v2/models/m/infer m/1 200 1/1 false true true true",
		"HTTP/1.1 POST /v2/models/none/infer / 404 0/0 true true true true",
		"HTTP/1.1 POST /v2/models/m/versions/1/infer m/1 400 0/0 true true true true",
		"HTTP/1.1 POST /v2/models/m/infer m/1 500 1/1 true true true true",
		"HTTP/1.1 GET /v2/health/live / 403 0/0 true true true true",
		"gRPC POST /inference.GRPCInferenceService/ModelInfer m/1 200 2/2 false true true true",
		"gRPC POST /inference.GRPCInferenceService/ModelInfer / 404 0/0 true true true false",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("told were\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if list[0].Read != int64(len(body)) {
		t.Errorf("%d bytes were read of %d", list[0].Read, len(body))
	}
	select {
	case <-cfg.Trace.Full():
	default:
		t.Error("the trace is not complete after three requests with a run")
	}
	var text bytes.Buffer
	if err := cfg.Trace.Write(&text); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Name, Cat, Ph string
			Args          map[string]any
		}
	}
	if err := json.Unmarshal(text.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range trace.TraceEvents {
		if e.Ph == "X" {
			count[e.Cat+" "+e.Name]++
		}
	}
	if count["request m/1"] != 3 || count["request run"] != 3 || count["request queue"] != 3 || count["run run"] < 3 || count["Breaking out"] < 2 {
		t.Errorf("the trace has %v", count)
	}
}
