package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/swcaffe/swcaffe/predict"
	"github.com/swcaffe/swcaffe/proto/healthpb"
	"github.com/swcaffe/swcaffe/proto/inferencepb"
	"github.com/swcaffe/swcaffe/proto/reflectionpb"
)

// dial connects a client that ends with the test.
func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(1<<30), grpc.MaxCallRecvMsgSize(1<<30)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// invoke makes a call of the protocol.
func invoke[Response any](ctx context.Context, c *grpc.ClientConn, call string, r any) (*Response, error) {
	answer := new(Response)
	return answer, c.Invoke(ctx, serviceOf(inferenceName)+call, r, answer)
}

func infer(ctx context.Context, c *grpc.ClientConn, r *inferencepb.ModelInferRequest) (*inferencepb.ModelInferResponse, error) {
	return invoke[inferencepb.ModelInferResponse](ctx, c, "ModelInfer", r)
}

func check(ctx context.Context, c *grpc.ClientConn, service string) (healthpb.HealthCheckResponse_ServingStatus, error) {
	answer := &healthpb.HealthCheckResponse{}
	err := c.Invoke(ctx, serviceOf(healthName)+"Check", &healthpb.HealthCheckRequest{Service: service}, answer)
	return answer.Status, err
}

// watch returns a function that waits for the next state of the server.
func watch(t *testing.T, c *grpc.ClientConn) func() (healthpb.HealthCheckResponse_ServingStatus, error) {
	t.Helper()
	stream, err := c.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, serviceOf(healthName)+"Watch")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stream.SendMsg(&healthpb.HealthCheckRequest{}), stream.CloseSend()); err != nil {
		t.Fatal(err)
	}
	return func() (healthpb.HealthCheckResponse_ServingStatus, error) {
		answer := &healthpb.HealthCheckResponse{}
		err := stream.RecvMsg(answer)
		return answer.Status, err
	}
}

// fill puts small integers into the typed contents of a datatype.
func fill(datatype string, list []float32) *inferencepb.InferTensorContents {
	c := &inferencepb.InferTensorContents{}
	for _, v := range list {
		switch datatype {
		case "BOOL":
			c.BoolContents = append(c.BoolContents, v == 1)
		case "UINT8", "UINT16", "UINT32":
			c.UintContents = append(c.UintContents, uint32(v))
		case "UINT64":
			c.Uint64Contents = append(c.Uint64Contents, uint64(v))
		case "INT8", "INT16", "INT32":
			c.IntContents = append(c.IntContents, int32(v))
		case "INT64":
			c.Int64Contents = append(c.Int64Contents, int64(v))
		case "FP32":
			c.Fp32Contents = append(c.Fp32Contents, v)
		case "FP64":
			c.Fp64Contents = append(c.Fp64Contents, float64(v))
		default:
			return nil
		}
	}
	return c
}

// request asks for all outputs of small for items.
func request(datatype string, items int64, contents *inferencepb.InferTensorContents, raw ...[]byte) *inferencepb.ModelInferRequest {
	return &inferencepb.ModelInferRequest{
		ModelName: "m", Id: "7", RawInputContents: raw,
		Inputs: []*inferencepb.ModelInferRequest_InferInputTensor{{Name: "data", Datatype: datatype, Shape: []int64{items, 3, 4, 5}, Contents: contents}},
	}
}

// TestRandomGRPC: what gRPC answers, of every datatype, raw and typed, are the bits that REST answers and that a session gives.
func TestRandomGRPC(t *testing.T) {
	cfg := config(t)
	cfg.GRPC = "127.0.0.1:0"
	s, url := run(t, cfg)
	client := dial(t, s.GRPC())
	m, err := loader(1)(cfg.Models[0].Options)
	if err != nil {
		t.Fatal(err)
	}
	session, err := m.NewSession(1)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	random := rand.New(rand.NewPCG(3, 4))
	for k := range 120 {
		d := datatypes[k%(len(datatypes)-1)]
		n, most, x := 1+random.IntN(8), 4, []float32(nil)
		if d.name == "BOOL" {
			most = 2
		}
		for range n * values {
			x = append(x, float32(random.IntN(most)))
		}
		raw := encode(d.name, x)
		r := request(d.name, int64(n), fill(d.name, x))
		if r.Inputs[0].Contents == nil || random.IntN(2) == 0 {
			r.Inputs[0].Contents, r.RawInputContents = nil, [][]byte{raw}
		}
		got, err := infer(t.Context(), client, r)
		if err != nil {
			t.Fatalf("%s, %d items: %v", d.name, n, err)
		}
		var list []float32
		if r.RawInputContents == nil {
			list = got.Outputs[0].Contents.GetFp32Contents()
		} else {
			fp32, _ := findDatatype("FP32")
			if list, err = fp32.readBinary(got.RawOutputContents[0], n*7); err != nil {
				t.Fatal(err)
			}
		}
		var want []float32
		for at := 0; at < n; {
			size := fitting([]int{1, 2, 4, 8}, n-at)
			out, err := session.Run(t.Context(), predict.Array{Values: x[at*values:][:size*values]})
			if err != nil {
				t.Fatal(err)
			}
			want, at = append(want, out[0].Values...), at+size
		}
		head := fmt.Sprintf(`{"inputs":[{"name":"data","datatype":%q,"shape":[%d,3,4,5],"parameters":{"binary_data_size":%d}}]}`, d.name, n, len(raw))
		_, h, body := call(t, "POST", url+"/v2/models/m/infer", append([]byte(head), raw...), headerLength+": "+strconv.Itoa(len(head)))
		if _, rest := outputOf(t, h, body); !slices.Equal(list, rest) || !slices.Equal(list, want) {
			t.Fatalf("%s, %d items: gRPC %v, REST %v, a session %v", d.name, n, list, rest, want)
		}
		if o := got.Outputs[0]; got.ModelName != "m" || got.ModelVersion != "1" || got.Id != "7" || o.Name != "prob" || o.Datatype != "FP32" || !slices.Equal(o.Shape, []int64{int64(n), 7}) {
			t.Fatalf("the response is %v", got)
		}
	}
}

// TestGRPCImages: BYTES are images, raw and typed; classification gives texts, in the same form.
func TestGRPCImages(t *testing.T) {
	s, url := run(t, config(t))
	client := dial(t, s.GRPC())
	file := picture(9, 8)
	_, _, body := call(t, "PUT", url+"/v2/models/m/classify?top=1", file)
	wanted := &inferencepb.ModelInferRequest_InferRequestedOutputTensor{Name: "prob", Parameters: map[string]*inferencepb.InferParameter{
		"classification": {ParameterChoice: &inferencepb.InferParameter_Int64Param{Int64Param: 1}},
	}}
	typed := request("BYTES", 2, &inferencepb.InferTensorContents{BytesContents: [][]byte{file, file}})
	raw := request("BYTES", 2, nil, appendElements(nil, []string{string(file), string(file)}))
	var texts [2][]string
	for i, r := range []*inferencepb.ModelInferRequest{typed, raw} {
		r.Inputs[0].Shape = []int64{2}
		r.Outputs = append(r.Outputs, wanted)
		got, err := infer(t.Context(), client, r)
		if err != nil {
			t.Fatal(err)
		}
		if got.Outputs[0].Datatype != "BYTES" || !slices.Equal(got.Outputs[0].Shape, []int64{2, 1}) {
			t.Errorf("the output is %v", got.Outputs[0])
		}
		elements := got.Outputs[0].Contents.GetBytesContents()
		if i == 1 {
			if elements, err = readElements(got.RawOutputContents[0], 2); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range elements {
			texts[i] = append(texts[i], string(e))
		}
	}
	class := strings.Split(texts[0][0], ":")[1]
	if !slices.Equal(texts[0], texts[1]) || len(texts[0]) != 2 || !strings.Contains(string(body), `"class":`+class+`,`) {
		t.Errorf("typed %v, raw %v, classify %s", texts[0], texts[1], body)
	}
}

// TestGRPCErrors: each request is refused with a code and a reason.
func TestGRPCErrors(t *testing.T) {
	cfg := config(t)
	s, _ := run(t, cfg)
	client := dial(t, s.GRPC())
	some := make([]float32, values)
	twice := request("FP32", 1, fill("FP32", some))
	twice.Inputs = append(twice.Inputs, twice.Inputs[0])
	elsewhere := request("FP32", 1, fill("FP32", some))
	elsewhere.ModelName = "n"
	version := request("FP32", 1, fill("FP32", some))
	version.ModelVersion = "9"
	output := request("FP32", 1, fill("FP32", some))
	output.Outputs = []*inferencepb.ModelInferRequest_InferRequestedOutputTensor{{Name: "porb"}}
	long := request("FP32", 1, fill("FP32", some))
	long.Inputs[0].Name = strings.Repeat("é", 1<<18)
	for _, c := range []struct {
		r      *inferencepb.ModelInferRequest
		code   codes.Code
		reason string
	}{
		{&inferencepb.ModelInferRequest{ModelName: "m"}, codes.InvalidArgument, "no inputs"},
		{elsewhere, codes.NotFound, `model "n" is not in the repository`},
		{version, codes.NotFound, `has no version 9`},
		{output, codes.InvalidArgument, `unknown output "porb"`},
		{twice, codes.InvalidArgument, "given twice"},
		{long, codes.InvalidArgument, "ééé ..."},
		{request("FP31", 1, nil), codes.InvalidArgument, `datatype "FP31"`},
		{request("FP32", 1, nil), codes.InvalidArgument, "0 values are given in fp32_contents, its shape needs 60"},
		{request("FP32", 1, fill("INT8", some)), codes.InvalidArgument, "0 values are given in fp32_contents"},
		{request("FP32", -1, nil), codes.InvalidArgument, "cannot be negative"},
		{request("FP32", 0, nil), codes.InvalidArgument, "at least one item"},
		{request("FP32", 1<<40, nil), codes.InvalidArgument, "at most 2147483647 values"},
		{request("FP16", 1, fill("FP32", some)), codes.InvalidArgument, "FP16 have no typed contents"},
		{request("INT8", 1, &inferencepb.InferTensorContents{IntContents: slices.Repeat([]int32{-129}, values)}), codes.InvalidArgument, "-129 is no integer from -128 to 127"},
		{request("UINT16", 1, &inferencepb.InferTensorContents{UintContents: slices.Repeat([]uint32{1 << 16}, values)}), codes.InvalidArgument, "65536 is no integer from 0 to 65535"},
		{request("FP32", 1, fill("FP32", some), encode("FP32", some)), codes.InvalidArgument, "both contents and raw_input_contents"},
		{request("FP32", 1, nil, encode("FP32", some), nil), codes.InvalidArgument, "raw_input_contents has 2 values for 1 inputs"},
		{request("FP32", 1, nil, encode("FP32", some)[1:]), codes.InvalidArgument, "239 bytes are given"},
		{request("BYTES", 1, nil, []byte("\xff\xff\xff\xffab")), codes.InvalidArgument, "has 4294967295 bytes, 2 remain"},
		{request("FP32", 1<<13, nil, make([]byte, 1<<20)), codes.ResourceExhausted, "at most 1048576 are taken"},
	} {
		_, err := infer(t.Context(), client, c.r)
		if st := status.Convert(err); st.Code() != c.code || !strings.Contains(st.Message(), c.reason) || len(st.Message()) > 2*maxMessage {
			t.Errorf("%v, want %v: %s", err, c.code, c.reason)
		}
	}
	if _, err := invoke[inferencepb.ModelMetadataResponse](t.Context(), client, "ModelMetadata", &inferencepb.ModelMetadataRequest{Name: "n"}); status.Code(err) != codes.NotFound {
		t.Errorf("metadata of no model: %v", err)
	}
	if _, err := invoke[inferencepb.RepositoryModelLoadResponse](t.Context(), client, "RepositoryModelLoad", &inferencepb.RepositoryModelLoadRequest{ModelName: "n"}); status.Code(err) != codes.NotFound {
		t.Errorf("loading no model: %v", err)
	}
	if _, err := invoke[inferencepb.ServerLiveResponse](t.Context(), client, "ModelConfig", &inferencepb.ServerLiveRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("a call that is not there: %v", err)
	}
	if s.held.Load() != 0 || len(s.slots) != 0 {
		t.Errorf("afterwards %d bytes and %d requests are held", s.held.Load(), len(s.slots))
	}
}

// TestGRPCMessages: what is no message of gRPC is refused, and nothing is held afterwards.
func TestGRPCMessages(t *testing.T) {
	s, url := run(t, config(t))
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	for body, want := range map[string]string{
		"":                               "3 the length of the message: EOF",
		"\x00\x00":                       "3 the length of the message: unexpected EOF",
		"\x00\x00\x00\x00\x09ab":         "3 the message ends 7 bytes early",
		"\x01\x00\x00\x00\x02ab":         "13 ", // the library's
		"\x00\x00\x00\x00\x02ab":         "3 unmarshal message",
		"\x00\xff\xff\xff\xff" + "abcde": "8 the message has 4294967295 bytes, at most 1048576 are taken",
	} {
		r, _ := http.NewRequest("POST", url+"/inference.GRPCInferenceService/ModelInfer", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/grpc")
		w, err := transport.RoundTrip(r)
		if err != nil {
			t.Errorf("%q: %v", body, err)
			continue
		}
		w.Body.Read(make([]byte, 1))
		w.Body.Close()
		h := w.Header
		if h.Get("Grpc-Status") == "" {
			h = w.Trailer
		}
		text := strings.NewReplacer("%20", " ", "%2C", ",").Replace(h.Get("Grpc-Message"))
		if got := h.Get("Grpc-Status") + " " + text; !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
	if s.held.Load() != 0 || len(s.slots) != 0 {
		t.Errorf("afterwards %d bytes and %d requests are held", s.held.Load(), len(s.slots))
	}
}

// TestGRPCCalls: the calls beside infer say what those of REST say.
func TestGRPCCalls(t *testing.T) {
	folder := t.TempDir()
	for _, version := range []string{"good/2", "good/10", "bad/1"} {
		write(t, filepath.Join(folder, version, deployFile), small)
		write(t, filepath.Join(folder, version, "w.caffemodel"), "")
	}
	write(t, filepath.Join(folder, "bad", "1", deployFile), "layer { name")
	cfg := config(t)
	cfg.Folder = folder
	cfg.Load = func(o predict.Options) (*predict.Model, error) {
		o.Weights = ""
		return loader(1)(o)
	}
	s, _ := run(t, cfg)
	client := dial(t, s.GRPC())
	ctx := t.Context()
	live, err := invoke[inferencepb.ServerLiveResponse](ctx, client, "ServerLive", &inferencepb.ServerLiveRequest{})
	if err != nil || !live.Live {
		t.Errorf("live: %v, %v", live, err)
	}
	server, err := invoke[inferencepb.ServerMetadataResponse](ctx, client, "ServerMetadata", &inferencepb.ServerMetadataRequest{})
	if err != nil || server.Name != "swcaffe" || !slices.Contains(server.Extensions, "model_repository") {
		t.Errorf("the server: %v, %v", server, err)
	}
	model, err := invoke[inferencepb.ModelMetadataResponse](ctx, client, "ModelMetadata", &inferencepb.ModelMetadataRequest{Name: "good", Version: "2"})
	if err != nil || model.Name != "good" || !slices.Equal(model.Versions, []string{"2", "10"}) || !slices.Equal(model.Inputs[0].Shape, []int64{-1, 3, 4, 5}) ||
		model.Inputs[0].Name != "data" || model.Outputs[0].Datatype != "FP32" || !slices.Equal(model.Outputs[0].Shape, []int64{-1, 7}) {
		t.Errorf("the model: %v, %v", model, err)
	}
	ready := func(want bool) {
		t.Helper()
		r, err := invoke[inferencepb.ServerReadyResponse](ctx, client, "ServerReady", &inferencepb.ServerReadyRequest{})
		m, err2 := invoke[inferencepb.ModelReadyResponse](ctx, client, "ModelReady", &inferencepb.ModelReadyRequest{Name: "good", Version: "10"})
		if err != nil || err2 != nil || r.Ready != want || m.Ready != want {
			t.Errorf("ready: %v %v, %v %v, want %v", r, err, m, err2, want)
		}
	}
	ready(true)
	index, err := invoke[inferencepb.RepositoryIndexResponse](ctx, client, "RepositoryIndex", &inferencepb.RepositoryIndexRequest{})
	if err != nil || len(index.Models) != 3 || index.Models[0].State != "UNAVAILABLE" || !strings.Contains(index.Models[0].Reason, "deploy.prototxt") || index.Models[1].State != "READY" {
		t.Errorf("index: %v, %v", index, err)
	}
	if index, err = invoke[inferencepb.RepositoryIndexResponse](ctx, client, "RepositoryIndex", &inferencepb.RepositoryIndexRequest{Ready: true}); err != nil || len(index.Models) != 2 {
		t.Errorf("index of those ready: %v, %v", index, err)
	}

	// Health: the state of the server and of models, and its changes.
	serving := func(service string, want healthpb.HealthCheckResponse_ServingStatus) {
		t.Helper()
		if got, err := check(ctx, client, service); err != nil || got != want {
			t.Errorf("health of %q: %v, %v, want %v", service, got, err, want)
		}
	}
	const up, down = healthpb.HealthCheckResponse_SERVING, healthpb.HealthCheckResponse_NOT_SERVING
	for _, service := range []string{"", "inference.GRPCInferenceService", "good"} {
		serving(service, up)
	}
	serving("bad", down)
	if _, err := check(ctx, client, "none"); status.Code(err) != codes.NotFound {
		t.Errorf("health of no model: %v", err)
	}
	next := watch(t, client)
	if got, err := next(); err != nil || got != up {
		t.Errorf("watching: %v, %v", got, err)
	}
	// KServe's clients have the name in field 1, Triton's in field 2.
	gone, err := invoke[inferencepb.RepositoryModelUnloadResponse](ctx, client, "RepositoryModelUnload", &inferencepb.RepositoryModelUnloadRequest{RepositoryName: "good"})
	if err != nil || !gone.IsUnloaded || gone.ModelName != "good" {
		t.Errorf("unload: %v, %v", gone, err)
	}
	ready(false)
	serving("", down)
	if got, err := next(); err != nil || got != down {
		t.Errorf("watching: %v, %v", got, err)
	}
	back, err := invoke[inferencepb.RepositoryModelLoadResponse](ctx, client, "RepositoryModelLoad", &inferencepb.RepositoryModelLoadRequest{ModelName: "good"})
	if err != nil || !back.IsLoaded {
		t.Errorf("load: %v, %v", back, err)
	}
	ready(true)
	serving("good", up)

}

// TestReflection: tools find the schema by either version of the service.
func TestReflection(t *testing.T) {
	s, _ := run(t, config(t))
	client := dial(t, s.GRPC())
	for _, version := range []string{"v1", "v1alpha"} {
		stream, err := client.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/grpc.reflection."+version+".ServerReflection/ServerReflectionInfo")
		if err != nil {
			t.Fatal(err)
		}
		ask := func(r *reflectionpb.ServerReflectionRequest) *reflectionpb.ServerReflectionResponse {
			answer := &reflectionpb.ServerReflectionResponse{}
			if err := errors.Join(stream.SendMsg(r), stream.RecvMsg(answer)); err != nil {
				t.Fatal(err)
			}
			return answer
		}
		list := ask(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}).GetListServicesResponse()
		if len(list.GetService()) != 3 || list.Service[0].Name != inferenceName {
			t.Errorf("services: %v", list)
		}
		for symbol, want := range map[string]string{
			inferenceName: "swcaffe/inference.proto", inferenceName + ".ModelInfer": "swcaffe/inference.proto", "inference.ModelInferRequest.InferInputTensor": "swcaffe/inference.proto",
			healthName: "swcaffe/health.proto", "grpc.health.v1.HealthCheckResponse.ServingStatus": "swcaffe/health.proto", reflectName: "swcaffe/reflection.proto", "inference.None": "",
		} {
			r := ask(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: symbol}})
			if want == "" {
				if r.GetErrorResponse().GetErrorCode() != int32(codes.NotFound) {
					t.Errorf("%s: %v", symbol, r)
				}
				continue
			}
			file := &descriptorpb.FileDescriptorProto{}
			if err := proto.Unmarshal(r.GetFileDescriptorResponse().GetFileDescriptorProto()[0], file); err != nil || file.GetName() != want || len(file.Service) != 1 {
				t.Errorf("%s: %v, %v, want %s", symbol, file, err, want)
			}
			if _, err := protodesc.NewFile(file, nil); err != nil {
				t.Errorf("%s: %v", symbol, err)
			}
		}
		if err := stream.CloseSend(); err != nil {
			t.Error(err)
		}
	}
}

// TestGRPCGuard: calls over gRPC need the token too, but for health; pages of other sites are refused.
func TestGRPCGuard(t *testing.T) {
	cfg := config(t)
	cfg.Address, cfg.Token = "0.0.0.0:0", "secret"
	s, _ := run(t, cfg)
	client := dial(t, strings.Replace(s.GRPC(), "[::]", "127.0.0.1", 1))
	r := request("FP32", 1, fill("FP32", make([]float32, values)))
	if _, err := infer(t.Context(), client, r); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without the token: %v", err)
	}
	if _, err := infer(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer secret"), client, r); err != nil {
		t.Errorf("with the token: %v", err)
	}
	if _, err := invoke[inferencepb.ServerReadyResponse](t.Context(), client, "ServerReady", &inferencepb.ServerReadyRequest{}); err != nil {
		t.Errorf("ready: %v", err)
	}
	if _, err := check(t.Context(), client, ""); err != nil {
		t.Errorf("health: %v", err)
	}
	cfg.Address = "127.0.0.1:0"
	local, _ := run(t, cfg)
	client = dial(t, local.GRPC())
	if _, err := infer(t.Context(), client, r); status.Code(err) != codes.Unauthenticated {
		t.Errorf("without the token, on this computer: %v", err)
	}
	if _, err := infer(metadata.AppendToOutgoingContext(t.Context(), "authorization", "bearer secret"), client, r); err != nil {
		t.Errorf("with the token, on this computer: %v", err)
	}
	local, _ = run(t, config(t))
	client = dial(t, local.GRPC())
	if _, err := infer(metadata.AppendToOutgoingContext(t.Context(), "origin", "http://example.com"), client, r); status.Code(err) != codes.PermissionDenied {
		t.Errorf("from a page of another site: %v", err)
	}
}

// TestGRPCOverload: requests beyond the queue are refused at once, the others are answered.
func TestGRPCOverload(t *testing.T) {
	cfg := config(t)
	cfg.Queue, cfg.Delay = 1, 100*time.Millisecond
	s, _ := run(t, cfg)
	client := dial(t, s.GRPC())
	r := request("FP32", 8, fill("FP32", make([]float32, 8*values)))
	var mu sync.Mutex
	count := map[codes.Code]int{}
	var clients sync.WaitGroup
	for range 40 {
		clients.Go(func() {
			_, err := infer(t.Context(), client, r)
			mu.Lock()
			defer mu.Unlock()
			count[status.Code(err)]++
		})
	}
	clients.Wait()
	if count[codes.OK] == 0 || count[codes.OK]+count[codes.ResourceExhausted] != 40 {
		t.Errorf("codes: %v", count)
	}
	s.held.Add(cfg.MaxBodies)
	if _, err := infer(t.Context(), client, r); status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "bodies of all requests") {
		t.Errorf("beyond -max_bodies: %v", err)
	}
	s.held.Add(-cfg.MaxBodies)
	for range cfg.Requests {
		s.slots <- struct{}{}
	}
	if _, err := infer(t.Context(), client, r); status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "as many as it takes") {
		t.Errorf("beyond -requests: %v", err)
	}
	for range cfg.Requests {
		<-s.slots
	}
	if _, err := infer(t.Context(), client, r); err != nil {
		t.Error(err)
	}
}

// TestGRPCEnds: a request ends with its client's patience, the server's, or its client, and does not run afterwards.
func TestGRPCEnds(t *testing.T) {
	cfg := config(t)
	cfg.Timeout, cfg.Delay = 300*time.Millisecond, 600*time.Millisecond
	s, url := run(t, cfg)
	client := dial(t, s.GRPC())
	r := request("FP32", 1, fill("FP32", make([]float32, values)))
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := infer(short, client, r); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("an impatient client: %v", err)
	}
	if _, err := infer(t.Context(), client, r); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("an impatient server: %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, leave)
	if _, err := infer(gone, client, r); status.Code(err) != codes.Canceled {
		t.Errorf("a client that leaves: %v", err)
	}
	time.Sleep(2 * cfg.Delay)
	_, _, text := call(t, "GET", url+"/metrics", nil)
	if !strings.Contains(string(text), `batch_items_count{model="m",version="1"} 0`) {
		t.Errorf("a request ran though nobody waited for it: %s", text)
	}
	counts := map[string]int{}
	for _, m := range regexp.MustCompile(`requests_total\{code="(\d+)",model="m",version="1"\} (\d+)`).FindAllStringSubmatch(string(text), -1) {
		counts[m[1]], _ = strconv.Atoi(m[2])
	}
	if counts["504"] < 1 || counts["499"] < 1 || counts["504"]+counts["499"] != 3 { // of the impatient client, the time's end or the client's comes first
		t.Errorf("statuses: %v", counts)
	}
	if s.held.Load() != 0 || len(s.slots) != 0 {
		t.Errorf("afterwards %d bytes and %d requests are held", s.held.Load(), len(s.slots))
	}
}

// TestGRPCDrain: Close answers the requests under way, and ends those who watch.
func TestGRPCDrain(t *testing.T) {
	cfg := config(t)
	cfg.Delay = 200 * time.Millisecond
	s, _ := run(t, cfg)
	client := dial(t, s.GRPC())
	next := watch(t, client)
	_, err := next()
	if err != nil {
		t.Fatal(err)
	}
	questions, err := client.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, serviceOf(reflectName)+"ServerReflectionInfo")
	if err != nil {
		t.Fatal(err)
	}
	question := &reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}}
	if err := errors.Join(questions.SendMsg(question), questions.RecvMsg(&reflectionpb.ServerReflectionResponse{})); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error)
	go func() {
		_, err := infer(context.Background(), client, request("FP32", 1, fill("FP32", make([]float32, values))))
		answered <- err
	}()
	for len(s.slots) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
	for err == nil {
		_, err = next()
	}
	if _, err := invoke[inferencepb.ServerLiveResponse](t.Context(), client, "ServerLive", &inferencepb.ServerLiveRequest{}); status.Code(err) != codes.Unavailable {
		t.Errorf("after the end: %v", err)
	}
}

// TestGRPCFault: a panic is answered with INTERNAL, without a stack, and the server goes on.
func TestGRPCFault(t *testing.T) {
	cfg, log := breakingConfig(t)
	s, _ := run(t, cfg)
	client := dial(t, s.GRPC())
	ask := func(first float32) error {
		r := request("FP32", 1, fill("FP32", []float32{first, 2, 3, 4, 5, 6, 7}))
		r.Inputs[0].Shape = []int64{1, 7}
		_, err := infer(t.Context(), client, r)
		return err
	}
	if err := ask(breaks); status.Code(err) != codes.Internal || strings.Contains(err.Error(), ".go:") {
		t.Errorf("a panic of a layer: %v", err)
	}
	if err := ask(1); err != nil {
		t.Error(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", serviceOf(inferenceName)+"ServerLive", nil)
	r.Header.Set("Content-Type", "application/grpc")
	r.ProtoMajor = 2
	s.catching(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("nil map") })).ServeHTTP(w, r)
	if w.Code != 200 || w.Header().Get("Grpc-Status") != "13" || !strings.Contains(w.Header().Get("Grpc-Message"), "nil%20map") || !strings.Contains(log.String(), "ServerLive: nil map") {
		t.Errorf("a panic of a call: %d, %v; the log: %s", w.Code, w.Header(), log)
	}
}

// TestCodes: every status that the server answers with has a code.
func TestCodes(t *testing.T) {
	for _, err := range []error{badf("x"), context.DeadlineExceeded, context.Canceled, fmt.Errorf("x"), errFull, failf(statusClientClosedRequest, "x")} {
		if c := grpcError(err).Code(); c == connect.CodeUnknown {
			t.Errorf("%v (status %d) has code %v", err, statusOf(err), c)
		}
	}
}

// TestBoundaries: the least and greatest values of every integer datatype arrive.
func TestBoundaries(t *testing.T) {
	for _, c := range []struct {
		datatype string
		contents *inferencepb.InferTensorContents
		want     []float32
	}{
		{"INT8", &inferencepb.InferTensorContents{IntContents: []int32{-128, 127}}, []float32{-128, 127}},
		{"INT16", &inferencepb.InferTensorContents{IntContents: []int32{-32768, 32767}}, []float32{-32768, 32767}},
		{"INT32", &inferencepb.InferTensorContents{IntContents: []int32{math.MinInt32, math.MaxInt32}}, []float32{math.MinInt32, math.MaxInt32}},
		{"INT64", &inferencepb.InferTensorContents{Int64Contents: []int64{math.MinInt64, math.MaxInt64}}, []float32{math.MinInt64, math.MaxInt64}},
		{"UINT8", &inferencepb.InferTensorContents{UintContents: []uint32{0, 255}}, []float32{0, 255}},
		{"UINT16", &inferencepb.InferTensorContents{UintContents: []uint32{0, 65535}}, []float32{0, 65535}},
		{"UINT32", &inferencepb.InferTensorContents{UintContents: []uint32{0, math.MaxUint32}}, []float32{0, math.MaxUint32}},
		{"UINT64", &inferencepb.InferTensorContents{Uint64Contents: []uint64{0, math.MaxUint64}}, []float32{0, math.MaxUint64}},
	} {
		d, err := findDatatype(c.datatype)
		if err != nil {
			t.Fatal(err)
		}
		var x tensor
		if err := x.readContents(d, c.contents, 2); err != nil || !slices.Equal(x.values, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.datatype, x.values, err, c.want)
		}
	}
}

// endedWriter is a response that must not be used after its handler's end, as net/http's.
type endedWriter struct {
	*httptest.ResponseRecorder
	t       *testing.T
	setting chan struct{} // closed when SetReadDeadline begins
	ended   atomic.Bool
}

func (w *endedWriter) SetWriteDeadline(time.Time) error { return nil }
func (w *endedWriter) SetReadDeadline(time.Time) error {
	close(w.setting)
	time.Sleep(20 * time.Millisecond)
	if w.ended.Load() {
		w.t.Error("the response of a stream is used after its handler's end")
	}
	return nil
}

// TestStreamEndsWhileDraining: a stream that ends as the server begins to stop does not use its response afterwards.
func TestStreamEndsWhileDraining(t *testing.T) {
	s := &Server{}
	s.draining, s.drain = context.WithCancel(t.Context())
	w := &endedWriter{ResponseRecorder: httptest.NewRecorder(), t: t, setting: make(chan struct{})}
	s.stream(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		s.drain()
		<-w.setting
	})).ServeHTTP(w, httptest.NewRequest("POST", "/", nil))
	w.ended.Store(true)
	time.Sleep(30 * time.Millisecond)
}
