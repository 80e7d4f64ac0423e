package serve

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/swcaffe/swcaffe/proto/healthpb"
	"github.com/swcaffe/swcaffe/proto/inferencepb"
	"github.com/swcaffe/swcaffe/proto/reflectionpb"
)

// healthOf returns what gRPC's health service says of the server or of a model.
func (s *Server) healthOf(service string) healthpb.HealthCheckResponse_ServingStatus {
	ready := s.Ready()
	if service != "" && service != inferenceName {
		e, ok := s.repository.model(service)
		if !ok {
			return healthpb.HealthCheckResponse_SERVICE_UNKNOWN
		}
		ready = len(e.serving) > 0 && !s.stopping.Load()
	}
	if ready {
		return healthpb.HealthCheckResponse_SERVING
	}
	return healthpb.HealthCheckResponse_NOT_SERVING
}

func (s *Server) checkHealth(_ context.Context, r *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	state := s.healthOf(r.Service)
	if state == healthpb.HealthCheckResponse_SERVICE_UNKNOWN {
		return nil, failf(http.StatusNotFound, "service %q is neither %s nor a model", r.Service, inferenceName)
	}
	return &healthpb.HealthCheckResponse{Status: state}, nil
}

// watchHealth sends the state and its changes until the client, or the server, ends.
func (s *Server) watchHealth(ctx context.Context, r *healthpb.HealthCheckRequest, stream *connect.ServerStream[healthpb.HealthCheckResponse]) error {
	last := healthpb.HealthCheckResponse_UNKNOWN
	for {
		change := s.repository.change()
		if now := s.healthOf(r.Service); now != last {
			if err := stream.Send(&healthpb.HealthCheckResponse{Status: now}); err != nil {
				return err
			}
			last = now
		}
		if s.stopping.Load() {
			return nil
		}
		select {
		case <-change:
		case <-s.draining.Done():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// schemas are the files that reflection tells, with their texts as protoc has compiled them, in gzip.
var schemas = []struct {
	file protoreflect.FileDescriptor
	gzip func() []byte
}{
	//lint:ignore SA1019 the package that takes the place of Descriptor reads all descriptors when the program starts
	{inferencepb.File_swcaffe_inference_proto, func() []byte { b, _ := new(inferencepb.ServerLiveRequest).Descriptor(); return b }},
	//lint:ignore SA1019 as above
	{healthpb.File_swcaffe_health_proto, func() []byte { b, _ := new(healthpb.HealthCheckRequest).Descriptor(); return b }},
	//lint:ignore SA1019 as above
	{reflectionpb.File_swcaffe_reflection_proto, func() []byte { b, _ := new(reflectionpb.ExtensionRequest).Descriptor(); return b }},
}

// reflect answers the questions of a client of reflection.
func reflect(_ context.Context, stream *connect.BidiStream[reflectionpb.ServerReflectionRequest, reflectionpb.ServerReflectionResponse]) error {
	for {
		r, err := stream.Receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(reflected(r)); err != nil {
			return err
		}
	}
}

// reflected answers a question of reflection.
func reflected(r *reflectionpb.ServerReflectionRequest) *reflectionpb.ServerReflectionResponse {
	answer := &reflectionpb.ServerReflectionResponse{ValidHost: r.Host, OriginalRequest: r}
	switch asked := r.MessageRequest.(type) {
	case *reflectionpb.ServerReflectionRequest_ListServices:
		list := &reflectionpb.ListServiceResponse{}
		for _, s := range schemas {
			list.Service = append(list.Service, &reflectionpb.ServiceResponse{Name: string(s.file.Services().Get(0).FullName())})
		}
		answer.MessageResponse = &reflectionpb.ServerReflectionResponse_ListServicesResponse{ListServicesResponse: list}
		return answer
	case *reflectionpb.ServerReflectionRequest_FileByFilename:
		answerFile(answer, func(f protoreflect.FileDescriptor) bool { return f.Path() == asked.FileByFilename })
	case *reflectionpb.ServerReflectionRequest_FileContainingSymbol:
		answerFile(answer, func(f protoreflect.FileDescriptor) bool {
			return hasSymbol(f, protoreflect.FullName(asked.FileContainingSymbol))
		})
	}
	if answer.MessageResponse == nil { // these schemas have no extensions
		answer.MessageResponse = &reflectionpb.ServerReflectionResponse_ErrorResponse{
			ErrorResponse: &reflectionpb.ErrorResponse{ErrorCode: int32(connect.CodeNotFound), ErrorMessage: "the server has no such file, symbol or extension"},
		}
	}
	return answer
}

// answerFile puts the file that is asked for into an answer.
func answerFile(answer *reflectionpb.ServerReflectionResponse, is func(protoreflect.FileDescriptor) bool) {
	for _, s := range schemas {
		if !is(s.file) {
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(s.gzip()))
		if err != nil {
			panic(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			panic(err)
		}
		answer.MessageResponse = &reflectionpb.ServerReflectionResponse_FileDescriptorResponse{
			FileDescriptorResponse: &reflectionpb.FileDescriptorResponse{FileDescriptorProto: [][]byte{text}},
		}
	}
}

// hasSymbol reports whether a file has a service, a method, a message or an enum of a name.
func hasSymbol(f protoreflect.FileDescriptor, name protoreflect.FullName) bool {
	for i := range f.Services().Len() {
		s := f.Services().Get(i)
		if s.FullName() == name || name.Parent() == s.FullName() && s.Methods().ByName(name.Name()) != nil {
			return true
		}
	}
	return hasMessage(f.Messages(), name)
}

func hasMessage(list protoreflect.MessageDescriptors, name protoreflect.FullName) bool {
	for i := range list.Len() {
		m := list.Get(i)
		inside := name.Parent() == m.FullName() && (m.Fields().ByName(name.Name()) != nil || m.Enums().ByName(name.Name()) != nil)
		if m.FullName() == name || inside || hasMessage(m.Messages(), name) {
			return true
		}
	}
	return false
}
