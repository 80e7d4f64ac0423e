package serve

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"connectrpc.com/connect"

	"github.com/swcaffe/swcaffe/proto/healthpb"
	"github.com/swcaffe/swcaffe/proto/inferencepb"
	"github.com/swcaffe/swcaffe/proto/reflectionpb"
)

// gRPC is answered behind net/http: so both protocols have the same connections, checks of where a request comes from, limits, and end.

// serviceOf returns the path of a service's calls.
func serviceOf(name string) string { return "/" + name + "/" }

var (
	inferenceName = string(inferencepb.File_swcaffe_inference_proto.Services().Get(0).FullName())
	healthName    = string(healthpb.File_swcaffe_health_proto.Services().Get(0).FullName())
	reflectName   = string(reflectionpb.File_swcaffe_reflection_proto.Services().Get(0).FullName())

	inferCall = serviceOf(inferenceName) + "ModelInfer"
)

// grpcRoutes are the calls over gRPC: the protocol's, health and reflection.
func (s *Server) grpcRoutes() http.Handler {
	mux := http.NewServeMux()
	options := []connect.HandlerOption{
		connect.WithReadMaxBytes(int(min(s.cfg.MaxBody, math.MaxInt32))), connect.WithCompression("gzip", nil, nil), // as REST: no compressed bodies
	}
	calls := grpcCalls{s}
	for name, handler := range map[string]func(path string) http.Handler{
		"ServerLive":            unary(calls.serverLive, options),
		"ServerReady":           unary(calls.serverReady, options),
		"ModelReady":            unary(calls.modelReady, options),
		"ServerMetadata":        unary(calls.serverMetadata, options),
		"ModelMetadata":         unary(calls.modelMetadata, options),
		"ModelInfer":            unary(calls.modelInfer, options),
		"RepositoryIndex":       unary(calls.repositoryIndex, options),
		"RepositoryModelLoad":   unary(calls.repositoryModelLoad, options),
		"RepositoryModelUnload": unary(calls.repositoryModelUnload, options),
	} {
		path := serviceOf(inferenceName) + name
		mux.Handle(path, s.oneMessage(handler(path)))
	}
	check, watch := serviceOf(healthName)+"Check", serviceOf(healthName)+"Watch"
	mux.Handle(check, s.oneMessage(unary(s.checkHealth, options)(check)))
	mux.Handle(watch, s.stream(connect.NewServerStreamHandlerSimple(watch, s.watchHealth, options...)))
	for _, name := range []string{reflectName, strings.Replace(reflectName, ".v1.", ".v1alpha.", 1)} { // the older one has the same messages
		path := serviceOf(name) + "ServerReflectionInfo"
		mux.Handle(path, s.stream(connect.NewBidiStreamHandler(path, reflect, options...)))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, failf(http.StatusNotImplemented, "there is no call %s", r.URL.Path))
	})
	return mux
}

// unary makes a handler of a call with one message and one answer.
func unary[Request, Response any](call func(context.Context, *Request) (*Response, error), options []connect.HandlerOption) func(path string) http.Handler {
	return func(path string) http.Handler {
		return connect.NewUnaryHandlerSimple(path, func(ctx context.Context, r *Request) (*Response, error) {
			answer, err := call(ctx, r)
			if err != nil {
				visitOf(ctx).failed(err)
				return nil, grpcError(err)
			}
			return answer, nil
		}, options...)
	}
}

// grpcContent is the content type of gRPC, to which the form of the messages may be added.
const grpcContent = "application/grpc"

// isGRPC reports whether a request is a call over gRPC.
func isGRPC(r *http.Request) bool {
	kind, ok := strings.CutPrefix(r.Header.Get("Content-Type"), grpcContent)
	return ok && r.ProtoMajor == 2 && (kind == "" || kind[0] == '+' || kind[0] == ';')
}

// beginning is the key of a context's value: when a call began.
type beginning struct{}

func beginOf(ctx context.Context) time.Time {
	begin, _ := ctx.Value(beginning{}).(time.Time)
	return begin
}

// prefixLength is the number of bytes before a message: one tells whether it is compressed, the others are its length.
const prefixLength = 5

// oneMessage sets the limits of a call with one message: it takes its part of them before it is read.
func (s *Server) oneMessage(next http.Handler) http.Handler {
	return answering(func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), beginning{}, time.Now()), s.cfg.Timeout)
		defer cancel()
		limit := int64(maxControl)
		if r.URL.Path == inferCall {
			limit = s.cfg.MaxBody
			leave, err := s.takeSlot()
			if err != nil {
				return err
			}
			defer leave()
		}
		body := arriving{r.Body, r}
		var prefix [prefixLength]byte
		if _, err := io.ReadFull(body, prefix[:]); err != nil {
			return badf("the length of the message: %w", err)
		}
		length := int64(binary.BigEndian.Uint32(prefix[1:]))
		if length > limit {
			return failf(http.StatusRequestEntityTooLarge, "the message has %d bytes, at most %d are taken", length, limit)
		}
		release, err := s.hold(length)
		if err != nil {
			return err
		}
		defer release()
		r = r.WithContext(ctx)
		r.Body = messageBody{io.MultiReader(strings.NewReader(string(prefix[:])), &message{body, length}), body}
		next.ServeHTTP(w, r)
		return nil
	})
}

// messageBody is a body of one message.
type messageBody struct {
	io.Reader
	io.Closer
}

// message reads a message. One that ends early is the client's error, which the library calls an internal one.
type message struct {
	from io.Reader
	left int64
}

func (m *message) Read(p []byte) (int, error) {
	if m.left == 0 {
		return 0, io.EOF
	}
	n, err := m.from.Read(p[:min(int64(len(p)), m.left)])
	m.left -= int64(n)
	switch {
	case err == nil || m.left == 0:
		return n, nil
	case err == io.EOF:
		return n, grpcError(badf("the message ends %d bytes early", m.left))
	}
	return n, grpcError(err)
}

// stream sets the limits of a call that lasts until its client, or the server, ends it.
func (s *Server) stream(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		c.SetWriteDeadline(time.Time{})
		ended := make(chan struct{})
		stop := context.AfterFunc(s.draining, func() {
			defer close(ended)
			c.SetReadDeadline(time.Now())
		})
		defer func() {
			if !stop() {
				<-ended // c must not be used after the handler's end
			}
		}()
		r.Body = http.MaxBytesReader(w, r.Body, maxControl)
		next.ServeHTTP(w, r)
	})
}

// grpcCodes are gRPC's codes for HTTP's statuses.
var grpcCodes = map[int]connect.Code{
	http.StatusBadRequest:            connect.CodeInvalidArgument,
	http.StatusUnauthorized:          connect.CodeUnauthenticated,
	http.StatusForbidden:             connect.CodePermissionDenied,
	http.StatusRequestTimeout:        connect.CodeDeadlineExceeded,
	http.StatusNotFound:              connect.CodeNotFound,
	http.StatusRequestEntityTooLarge: connect.CodeResourceExhausted,
	http.StatusTooManyRequests:       connect.CodeResourceExhausted,
	statusClientClosedRequest:        connect.CodeCanceled,
	http.StatusInternalServerError:   connect.CodeInternal,
	http.StatusNotImplemented:        connect.CodeUnimplemented,
	http.StatusGatewayTimeout:        connect.CodeDeadlineExceeded,
}

// maxMessage is the length of an error's text over gRPC: it is in a header, whose size clients limit.
const maxMessage = 1000

// grpcError makes an error with gRPC's code.
func grpcError(err error) *connect.Error {
	text := strings.ToValidUTF8(err.Error(), string(utf8.RuneError))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + " ..."
	}
	code, ok := grpcCodes[statusOf(err)]
	if !ok {
		code = connect.CodeUnknown
	}
	return connect.NewError(code, errors.New(text))
}

// refuseGRPC answers a call with an error.
func refuseGRPC(w http.ResponseWriter, err error) {
	e, h := grpcError(err), w.Header()
	h.Set("Content-Type", grpcContent)
	h.Set("Grpc-Status", strconv.Itoa(int(e.Code())))
	h.Set("Grpc-Message", url.PathEscape(e.Message()))
	w.WriteHeader(http.StatusOK)
}
