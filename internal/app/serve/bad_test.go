package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/swcaffe/swcaffe/proto/inferencepb"
)

// badRequest is a request of HTTP/1 as it is sent, and the answer that is asked for. A text with %s where the length of the body belongs gets it.
type badRequest struct {
	name, text, body string
	status           int    // 0: none, the connection is closed
	reason           string // a part of the answer
}

// post is a request for a call, with more headers.
func post(path string, headers ...string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: %s\r\n" + strings.Join(append(headers, ""), "\r\n") + "\r\n"
}

const (
	inferPath    = "/v2/models/m/infer"
	classifyPath = "/v2/models/m/classify"
)

// hugePNG is the beginning of a picture of 2^31-1 pixels in each direction.
func hugePNG() string {
	chunk := append([]byte("IHDR"), 0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 8, 2, 0, 0, 0)
	file := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), chunk...)
	return string(binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(chunk)))
}

// filesForm is a form with a number of image files, whose boundary is x.
func filesForm(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "--x\r\nContent-Disposition: form-data; name=\"image\"; filename=\"%d.png\"\r\n\r\n%s\r\n", i, picture(9+i, 8))
	}
	return b.String() + "--x--\r\n"
}

// formWith is a form with an image file behind a field.
func formWith(name, value string) string {
	return fmt.Sprintf("--x\r\nContent-Disposition: form-data; name=%q\r\n\r\n%s\r\n", name, value) + filesForm(1)
}

// badRequests are what hostile and clumsy clients send over HTTP/1.
func badRequests() []badRequest {
	input := func(rest string) string { return `{"inputs":[{"name":"data",` + rest + `}]}` }
	tensor := func(rest string) string { return input(`"datatype":"FP32","shape":[1,3,4,5],` + rest) }
	good := string(jsonRequest(make([]float32, values)))
	with := func(rest string) string { return strings.Replace(good, `{"inputs"`, `{`+rest+`,"inputs"`, 1) }
	infer := func(name, body, reason string) badRequest {
		return badRequest{name, post(inferPath), body, 400, reason}
	}
	form := "Content-Type: multipart/form-data"
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	io.WriteString(w, good)
	w.Close()
	return []badRequest{
		infer("NaN", tensor(`"data":[NaN]`), "invalid character 'N'"),
		infer("Infinity", tensor(`"data":[-Infinity]`), "invalid character 'I'"),
		infer("a number beyond FP32", tensor(`"data":[1e400]`), "1e400 is no number of 32 bits"),
		infer("a number in hexadecimal", tensor(`"data":[0x10]`), "invalid character 'x'"),
		infer("true where a number belongs", tensor(`"data":[true]`), "true is no number"),
		infer("lists in lists, 100,000 deep", tensor(`"data":`+strings.Repeat("[", 100000)), "exceeded max depth"),
		infer("an object for data", tensor(`"data":{"0":1}`), "the data is no list"),
		infer("an object in data", tensor(`"data":[{}]`), "an object or a text"),
		infer("no data", tensor(`"parameters":{}`), "the data is no list"),
		infer("too many values", tensor(`"data":[`+strings.Repeat("1,", values)+`1]`), "more than the 60 values"),
		infer("fractions in an integer", input(`"datatype":"INT32","shape":[1],"data":[1.0]`), "1.0 is no integer"),
		infer("the same input twice", strings.Replace(good, `[{`, `[{"name":"data","datatype":"FP32","shape":[1,3,4,5],"data":[`+strings.Repeat("0,", values-1)+`0]},{`, 1), "given twice"),
		infer("no shape", input(`"datatype":"FP32","data":[1]`), "it has no shape"),
		infer("null for the shape", input(`"datatype":"FP32","shape":null,"data":[1]`), "it has no shape"),
		infer("lists beside the shape's", input(`"datatype":"FP32","shape":[2,3],"data":[[1,2],[3,4],[5,6]]`), "a list of axis 1 has 2 elements, shape [2 3] has 3 there"),
		infer("more lists than the shape's", input(`"datatype":"FP32","shape":[1,2],"data":[[1,2],[]]`), "a list of axis 1 has 0 elements, shape [1 2] has 2 there"),
		infer("ragged lists", input(`"datatype":"FP32","shape":[2,2],"data":[[1],[2,3,4]]`), "a list of axis 1 has 1 elements"),
		infer("a value beside lists", input(`"datatype":"FP32","shape":[2,2],"data":[[1,2],3,4]`), "a value in lists 1 deep"),
		infer("lists beside a value", input(`"datatype":"FP32","shape":[2,2],"data":[1,[2],3,4]`), "a list in lists 1 deep"),
		infer("lists deeper than the shape's", input(`"datatype":"FP32","shape":[1,1],"data":[[[1]]]`), "a list in lists 2 deep; it is one list of values, or has lists 2 deep, as shape [1 1]"),
		infer("lists less deep than the shape's", input(`"datatype":"FP32","shape":[1,1,1],"data":[[1]]`), "a value in lists 2 deep"),
		infer("texts for extents", input(`"datatype":"FP32","shape":["1"],"data":[1]`), "cannot unmarshal string"),
		infer("a shape whose product is beyond 64 bits", input(`"datatype":"FP32","shape":[65536,65536,65536,65536],"data":[]`), "at most 2147483647 values"),
		infer("an extent beyond 64 bits", input(`"datatype":"FP32","shape":[99999999999999999999],"data":[]`), "cannot unmarshal number"),
		infer("nothing of much", input(`"datatype":"FP32","shape":[0,2147483647,2147483647,5],"data":[]`), "model \\\"m\\\" takes"),
		infer("2^31-1 items without data", input(`"datatype":"UINT8","shape":[2147483647],"data":[]`), "0 values are given"),
		infer("a list for an input", `{"inputs":[[]]}`, "cannot unmarshal array"),
		infer("null for inputs", `{"inputs":null}`, "no inputs"),
		infer("null for an input", `{"inputs":[null]}`, "datatype \\\"\\\""),
		infer("a number for the id", with(`"id":7`), "cannot unmarshal number"),
		infer("a text for parameters", with(`"parameters":"x"`), "cannot unmarshal string"),
		infer("a text for a truth", with(`"parameters":{"binary_data_output":"yes"}`), "cannot unmarshal string"),
		infer("shared memory", tensor(`"parameters":{"shared_memory_region":"r","shared_memory_byte_size":240}`), "shared memory"),
		infer("the size of binary data with a fraction", tensor(`"parameters":{"binary_data_size":240.5}`), "cannot unmarshal number"),
		infer("a size of binary data beyond all memory", tensor(`"parameters":{"binary_data_size":9223372036854775807}`), "0 bytes remain"),
		infer("data and a size of binary data", tensor(`"data":[1],"parameters":{"binary_data_size":0}`), "both data and a binary_data_size"),
		infer("an output without a name", with(`"outputs":[{}]`), "unknown output"),
		infer("an output twice", with(`"outputs":[{"name":"prob"},{"name":"prob"}]`), "asked for twice"),
		infer("fewer than no classes", with(`"outputs":[{"name":"prob","parameters":{"classification":-1}}]`), "at least one class"),
		infer("a bracket behind the JSON", good+"]", "ends at byte"),
		infer("a request behind the request", good+"\n"+good, "ends at byte"),
		infer("a byte order mark", "\xef\xbb\xbf"+good, "invalid character"),
		infer("UTF-16", "{\x00}\x00", "invalid character"),
		infer("a form", "inputs=1&name=data", "invalid character"),
		{"the length of the JSON beyond 64 bits", post(inferPath, headerLength+": 99999999999999999999"), good, 400, "length of the JSON"},
		{"the length of the JSON with a sign", post(inferPath, headerLength+": +2"), good, 400, "length of the JSON"},
		{"the length of the JSON twice", post(inferPath, headerLength+": 2", headerLength+": 3"), good, 400, "length of the JSON"},
		{"the length of the JSON cuts it", post(inferPath, headerLength+": 9"), good, 400, "unexpected EOF"},
		{"binary data of another size than the shape's", post(inferPath, fmt.Sprint(headerLength, ": ", len(tensor(`"parameters":{"binary_data_size":236}`)))), tensor(`"parameters":{"binary_data_size":236}`) + strings.Repeat("\x00", 236), 400, "236 bytes are given"},
		{"binary data that nobody wants", post(inferPath, fmt.Sprint(headerLength, ": ", len(good))), good + "1234", 400, "4 bytes behind the JSON"},
		{"a compressed body", post(inferPath, "Content-Encoding: gzip"), zipped.String(), 415, "must not be compressed"},
		{"a compressed image", post(classifyPath, "Content-Encoding: gzip"), zipped.String(), 415, "must not be compressed"},
		{"a compressed form", post(classifyPath, "Content-Encoding: deflate", form+"; boundary=x"), filesForm(1), 415, "Content-Encoding deflate"},
		{"a compressed image for boxes", "PUT" + post("/v2/models/m/detect", "Content-Encoding: br")[4:], zipped.String(), 415, "Content-Encoding br"},
		{"a compressed call of the repository", post("/v2/repository/index", "Content-Encoding: gzip"), zipped.String(), 415, "must not be compressed"},
		{"a compressed load", post("/v2/repository/models/m/load", "Content-Encoding: identity", "Content-Encoding: gzip"), zipped.String(), 415, "Content-Encoding identity, gzip"},
		{"a body beyond the limit", "POST " + inferPath + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4611686018427387904\r\n\r\n", "{", 413, "at most 1048576"},
		{"chunks beyond the limit", "POST " + inferPath + " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", 1<<20+1, strings.Repeat(" ", 1<<20+1)), 413, "more than the 1048576 bytes"},
		{"a chunk whose length is none", "POST " + inferPath + " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", "zz\r\n{}\r\n0\r\n\r\n", 400, "reading the body"},
		{"chunks that end early", "POST " + inferPath + " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n", "ff\r\n{}", 499, "the client left"},
		{"a body that ends early", "POST " + inferPath + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", "{}", 499, "the client left"},
		{"a body that does not come", "POST " + inferPath + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", "{}", 408, "in time"},
		{"two lengths", post(inferPath, "Content-Length: 1"), good, 400, ""},
		{"a negative length", "POST " + inferPath + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", "", 400, ""},
		{"headers of 40 KB", post(inferPath, "X-Much: "+strings.Repeat("x", 40<<10)), "", 431, ""},
		{"no host", "GET /v2 HTTP/1.1\r\n\r\n", "", 400, ""},
		{"another name of this computer", "GET /v2 HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", "", 403, "names of this computer"},
		{"another name in the address", "GET http://evil.example/v2 HTTP/1.1\r\nHost: localhost\r\n\r\n", "", 403, "names of this computer"},
		{"a page of another origin", post(inferPath, "Origin: http://evil.example", "Content-Type: text/plain"), good, 403, "another site"},
		{"a page without an origin", post("/v2/repository/models/m/unload", "Origin: null"), "", 403, "another site"},
		{"a page at another port", post(classifyPath, "Origin: http://localhost:1", form+"; boundary=x"), "--x--", 403, "another site"},
		{"a request ahead of a page's", "OPTIONS " + inferPath + " HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n", "", 403, "another site"},
		{"another method", "GET " + inferPath + " HTTP/1.1\r\nHost: localhost\r\n\r\n", "", 404, "no call GET"},
		{"a path upwards", post("/v2/models/%2e%2e%2f%2e%2e%2fetc%2fpasswd/infer"), good, 404, "is not in the repository"},
		{"a path with a zero", post("/v2/repository/models/m%00/load"), "", 404, "unknown model"},
		{"a version that is no number", post("/v2/models/m/versions/latest/infer"), good, 404, "no version latest"},
		{"a version beyond 64 bits", post("/v2/models/m/versions/99999999999999999999/infer"), good, 404, "no version 9999"},
		{"settings for load", post("/v2/repository/models/m/load"), `{"parameters":{"config":"{}"}}`, 400, "no parameter changes it"},
		{"words behind the JSON of load", post("/v2/repository/models/m/load"), `{} rm -rf`, 400, "the request's JSON"},
		{"a list for index", post("/v2/repository/index"), `[]`, 400, "cannot unmarshal array"},
		{"gRPC over HTTP/1", post(inferCall, "Content-Type: application/grpc"), "\x00\x00\x00\x00\x00", 415, "HTTP/2"},
		{"gRPC for browsers", post(inferCall, "Content-Type: application/grpc-web+proto"), "\x00\x00\x00\x00\x00", 415, "gRPC"},
		{"a form without its boundary", post(classifyPath, form), "--x", 400, "the form"},
		{"a form that ends early", post(classifyPath, form+"; boundary=x"), "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n\x89PNG", 400, "the form's part \\\"f\\\""},
		{"a form with no file", post(classifyPath, form+"; boundary=x"), "--x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nx\r\n--x--\r\n", 400, "the form has no file"},
		{"a form with two files", post(classifyPath, form+"; boundary=x"), filesForm(2), 400, "several files, one image is expected"},
		{"a form with a text between two files", post(classifyPath, form+"; boundary=x"), strings.Replace(filesForm(2), "--x\r\n", "--x\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\nx\r\n--x\r\n", 2), 400, "several files, one image is expected"},
		{"a form with a field that is none", post(classifyPath, form+"; boundary=x"), formWith("topp", "1"), 400, `unknown parameter \"topp\", did you mean \"top\"?`},
		{"a form with a parameter of another call", post(classifyPath, form+"; boundary=x"), formWith("threshold", "1"), 400, `unknown parameter \"threshold\"`},
		{"a form with a parameter that is no number", post(classifyPath, form+"; boundary=x"), formWith("top", "x"), 400, "top=x is no number"},
		{"a parameter in the address and the form", post(classifyPath+"?top=1", form+"; boundary=x"), formWith("top", "1"), 400, "parameter top is given 2 times"},
		{"a parameter twice", post(classifyPath + "?top=1&top=2"), string(picture(9, 8)), 400, "parameter top is given 2 times"},
		{"a parameter without a value", post(classifyPath + "?top="), string(picture(9, 8)), 400, "top= is no number"},
		{"a parameter that is none", post(classifyPath + "?topp=3"), string(picture(9, 8)), 400, `unknown parameter \"topp\", did you mean \"top\"? (parameters: top)`},
		{"a parameter of another call", post(classifyPath + "?top=1&threshold=0.5"), string(picture(9, 8)), 400, `unknown parameter \"threshold\" (parameters: top)`},
		{"parameters that are none", post(classifyPath + "?top=%zz"), string(picture(9, 8)), 400, "the parameters"},
		{"base64 that is none", post(classifyPath, "Content-Type: application/json"), `{"image":"*"}`, 400, "base64"},
		{"a number for an image", post(classifyPath, "Content-Type: application/json"), `{"image":1}`, 400, "cannot unmarshal number"},
		{"a key that is none", post(classifyPath, "Content-Type: application/json"), `{"image":"","topp":3}`, 400, `unknown key \"topp\", did you mean \"top\"? (keys: image, top)`},
		{"a key of another call", post(classifyPath, "Content-Type: application/json"), `{"image":"","threshold":0.5}`, 400, `unknown key \"threshold\" (keys: image, top)`},
		{"a picture of 2^62 pixels", post(classifyPath), hugePNG(), 400, "an image of 2147483647 x 2147483647 pixels"},
		{"a picture beyond the limit", post(classifyPath), string(picture(40, 40)), 413, "at most 1000 pixels are decoded"},
		{"a picture beyond the limit in BYTES", post(inferPath), input(`"datatype":"BYTES","shape":[1],"data":["` + base64.StdEncoding.EncodeToString(picture(40, 40)) + `"]`), 413, "pixels are decoded"},
		{"a drawing", post(classifyPath, "Content-Type: image/svg+xml"), `<svg xmlns="http://www.w3.org/2000/svg"/>`, 400, "no JPEG or PNG"},
		{"no classes", post(classifyPath + "?top=0"), string(picture(9, 8)), 400, "at least one class"},
		{"a number of classes beyond 64 bits", post(classifyPath + "?top=99999999999999999999"), string(picture(9, 8)), 400, "no number"},
		{"boxes of a net without any", post("/v2/models/m/detect"), string(picture(9, 8)), 400, "detect"},
		{"TLS where there is none", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", "", 400, ""},
		{"words", "hello\r\n\r\n", "", 400, ""},
		{"frames of HTTP/2 that are none", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff", "", 0, ""},
	}
}

// send sends a request over a connection of its own and returns the answer.
func (b badRequest) send(address string) (status int, answer string, err error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return 0, "", err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	text := b.text
	if strings.Contains(text, "Content-Length: %s") {
		text = strings.Replace(text, "%s", fmt.Sprint(len(b.body)), 1)
	}
	io.WriteString(c, text)
	io.WriteString(c, b.body) // an answer may come before the end
	if b.status != http.StatusRequestTimeout && b.status != http.StatusOK {
		c.(*net.TCPConn).CloseWrite()
	}
	if b.status == 0 {
		n, err := io.Copy(io.Discard, c)
		if n > 1<<10 {
			err = fmt.Errorf("%d bytes", n)
		}
		return 0, "", err
	}
	w, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, "", err
	}
	defer w.Body.Close()
	all, _ := io.ReadAll(w.Body) // net/http closes connections with headers that it has not read, which resets them
	return w.StatusCode, string(all), nil
}

// goodRequest sends a request that is answered.
func goodRequest(t *testing.T, s *Server) {
	t.Helper()
	good := badRequest{"", post(inferPath), string(jsonRequest(make([]float32, values))), http.StatusOK, ""}
	if status, answer, err := good.send(s.GRPC()); status != good.status || err != nil {
		t.Errorf("a good request: status %d, %v: %s", status, err, answer)
	}
}

// TestBadRequestsAsSent: each request that hostile and clumsy clients send over HTTP/1 has its status and says why, and leaves no goroutine, file or memory.
func TestBadRequestsAsSent(t *testing.T) {
	cfg := config(t)
	cfg.Timeout = 2 * time.Second
	cfg.MaxPixels = 1000
	s, _ := run(t, cfg)
	held := heldBy(t, s)
	for range 2 { // the first time makes what is made once
		for _, b := range badRequests() {
			status, answer, err := b.send(s.GRPC())
			switch {
			case err != nil || status != b.status || !strings.Contains(answer, b.reason):
				t.Errorf("%s: status %d, %v, want %d with %q: %.300s", b.name, status, err, b.status, b.reason, answer)
			case b.reason != "" && !strings.HasPrefix(answer, `{"error":"`): // the others are net/http's
				t.Errorf("%s: %.300s", b.name, answer)
			}
		}
		held.check(t)
	}
	goodRequest(t, s)
}

// TestBadCallsAsSent: the same over gRPC, as frames of HTTP/2 from a client that is none of gRPC's.
func TestBadCallsAsSent(t *testing.T) {
	cfg := config(t)
	s, server := run(t, cfg)
	transport := &http.Transport{Protocols: new(http.Protocols), IdleConnTimeout: 200 * time.Millisecond}
	transport.Protocols.SetUnencryptedHTTP2(true)
	framed := func(flag byte, message []byte) string {
		return string(append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(message))), message...))
	}
	of := func(change func(r *inferencepb.ModelInferRequest)) string {
		r := request("FP32", 1, fill("FP32", make([]float32, values)))
		change(r)
		b, err := proto.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return framed(0, b)
	}
	shape := func(list ...int64) func(r *inferencepb.ModelInferRequest) {
		return func(r *inferencepb.ModelInferRequest) { r.Inputs[0].Shape = list }
	}
	good := of(func(*inferencepb.ModelInferRequest) {})
	held := heldBy(t, s)
	for range 2 {
		for _, c := range []struct{ name, call, headers, body, want string }{
			{"no model", inferCall, "", of(func(r *inferencepb.ModelInferRequest) { r.ModelName = "" }), `5 model "" is not in the repository`},
			{"a path for a model", inferCall, "", of(func(r *inferencepb.ModelInferRequest) { r.ModelName = "../../etc/passwd" }), "5 model"},
			{"a version that is none", inferCall, "", of(func(r *inferencepb.ModelInferRequest) { r.ModelVersion = "-1" }), "5 model"},
			{"a negative extent", inferCall, "", of(shape(-9223372036854775808, 3, 4, 5)), "3 input \"data\": shape"},
			{"a product beyond 64 bits", inferCall, "", of(shape(1<<31-1, 1<<31-1, 1<<31-1, 1<<31-1)), "3 input \"data\": shape"},
			{"nothing of much", inferCall, "", of(shape(0, 1<<31-1, 1<<31-1, 5)), "3 input \"data\": 60 values are given in fp32_contents, its shape needs 0"},
			{"no axes", inferCall, "", of(shape()), "3 input \"data\": 60 values are given in fp32_contents, its shape needs 1"},
			{"a million axes", inferCall, "", of(func(r *inferencepb.ModelInferRequest) { r.Inputs[0].Shape = make([]int64, 1<<19) }), "3 input"},
			{"no datatype", inferCall, "", of(func(r *inferencepb.ModelInferRequest) { r.Inputs[0].Datatype = "" }), "3 input"},
			{"shared memory", inferCall, "", of(func(r *inferencepb.ModelInferRequest) {
				r.Inputs[0].Contents = nil
				r.Inputs[0].Parameters = map[string]*inferencepb.InferParameter{"shared_memory_region": {ParameterChoice: &inferencepb.InferParameter_StringParam{StringParam: "r"}}}
			}), "3 input \"data\": shared memory"},
			{"fewer than no classes", inferCall, "", of(func(r *inferencepb.ModelInferRequest) {
				r.Outputs = []*inferencepb.ModelInferRequest_InferRequestedOutputTensor{{Name: "prob", Parameters: map[string]*inferencepb.InferParameter{"classification": {ParameterChoice: &inferencepb.InferParameter_Int64Param{Int64Param: -1 << 63}}}}}
			}), "3 output \"prob\": classification"},
			{"a name that is no text", inferCall, "", framed(0, []byte{0x0a, 2, 0xff, 0xfe}), "3 unmarshal message"},
			{"a field that is longer than the message", inferCall, "", framed(0, []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 'm'}), "3 unmarshal message"},
			{"a number that does not end", inferCall, "", framed(0, bytes.Repeat([]byte{0xff}, 100)), "3 unmarshal message"},
			{"groups in groups", inferCall, "", framed(0, bytes.Repeat([]byte{0x0b}, 100000)), "3 unmarshal message"},
			{"no message", inferCall, "", "", "3 the length of the message"},
			{"a length without its message", inferCall, "", good[:5], "3 the message ends"},
			{"half a message", inferCall, "", good[:len(good)/2], "3 the message ends"},
			{"4 GB", inferCall, "", "\x00\xff\xff\xff\xff", "8 the message has 4294967295 bytes"},
			{"JSON for a message", inferCall, "", framed(0, jsonRequest(make([]float32, values))), "3 unmarshal message"},
			{"the JSON of REST", inferCall, "", string(jsonRequest(make([]float32, values))), "8 the message has"},
			{"compressed", inferCall, "Grpc-Encoding: gzip", framed(1, []byte("\x1f\x8b\x08")), "12 "},
			{"a compression that is none", inferCall, "Grpc-Encoding: x", framed(1, []byte("x")), "12 "},
			{"a deadline that is none", inferCall, "Grpc-Timeout: soon", good, "3 "},
			{"a deadline of nothing", inferCall, "Grpc-Timeout: 0n", good, "4 "},
			{"a call that is none", serviceOf(inferenceName) + "Shutdown", "", good, "12 there is no call"},
			{"a call of REST", "/v2/models/m/infer", "", good, "12 there is no call"},
			{"a service that is none", "/evil.Service/Call", "", good, "12 there is no call"},
			{"the health of no model", serviceOf(healthName) + "Check", "", framed(0, []byte{0x0a, 1, 'x'}), "5 "},
			{"metadata of no model", serviceOf(inferenceName) + "ModelMetadata", "", framed(0, []byte{0x0a, 1, 'x'}), "5 model"},
			{"settings for load", serviceOf(inferenceName) + "RepositoryModelLoad", "", framed(0, []byte{0x12, 1, 'm', 0x1a, 3, 0x0a, 1, 'c'}), "3 parameter"},
			{"a page of another origin", inferCall, "Origin: http://evil.example", good, "7 "},
			{"another name of this computer", inferCall, "Host: evil.example", good, "7 "},
		} {
			r, err := http.NewRequest("POST", server+c.call, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/grpc")
			if name, value, ok := strings.Cut(c.headers, ": "); ok {
				if r.Header.Set(name, value); name == "Host" {
					r.Host = value
				}
			}
			w, err := transport.RoundTrip(r)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			io.Copy(io.Discard, w.Body)
			w.Body.Close()
			h := w.Header
			if h.Get("Grpc-Status") == "" {
				h = w.Trailer
			}
			text, err := url.PathUnescape(h.Get("Grpc-Message"))
			if got := h.Get("Grpc-Status") + " " + text; err != nil || !strings.HasPrefix(got, c.want) || text == "" {
				t.Errorf("%s: %.300s, %v, want %s", c.name, got, err, c.want)
			}
		}
		held.check(t)
	}
}

// holding is what a server holds: goroutines, open files, memory.
type holding struct {
	s                 *Server
	goroutines, files int
	memory            uint64 // after the first check
}

func openFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// heldBy counts what a server holds that answers.
func heldBy(t *testing.T, s *Server) *holding {
	t.Helper()
	goodRequest(t, s)
	for s.connections.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond) // for the connection's goroutine
	return &holding{s, runtime.NumGoroutine(), openFiles(), 0}
}

// check fails if more is held than before, soon after the last connection has ended; of memory, more than after the first check.
func (h *holding) check(t *testing.T) {
	t.Helper()
	for begin := time.Now(); runtime.NumGoroutine() > h.goroutines || openFiles() > h.files || h.s.connections.Load() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Errorf("%d goroutines, %d before; %d files, %d before; %d connections", runtime.NumGoroutine(), h.goroutines, openFiles(), h.files, h.s.connections.Load())
			break
		}
	}
	if n := h.s.held.Load(); n != 0 || len(h.s.slots) != 0 {
		t.Errorf("%d bytes of bodies and %d requests are counted", n, len(h.s.slots))
	}
	runtime.GC()
	runtime.GC() // pools are empty after two
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if h.memory != 0 && m.HeapAlloc > h.memory+1<<20 {
		t.Errorf("%d bytes of memory, %d before", m.HeapAlloc, h.memory)
	}
	h.memory = m.HeapAlloc
}
