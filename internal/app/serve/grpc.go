package serve

import (
	"context"
	"math"
	"time"

	build "github.com/swcaffe/swcaffe/internal/base/version"
	"github.com/swcaffe/swcaffe/proto/inferencepb"
)

// grpcCalls are the protocol's calls over gRPC. Each does what the route of the same name does.
type grpcCalls struct{ *Server }

func (g grpcCalls) serverLive(context.Context, *inferencepb.ServerLiveRequest) (*inferencepb.ServerLiveResponse, error) {
	return &inferencepb.ServerLiveResponse{Live: true}, nil
}

func (g grpcCalls) serverReady(context.Context, *inferencepb.ServerReadyRequest) (*inferencepb.ServerReadyResponse, error) {
	return &inferencepb.ServerReadyResponse{Ready: g.Ready()}, nil
}

func (g grpcCalls) modelReady(_ context.Context, r *inferencepb.ModelReadyRequest) (*inferencepb.ModelReadyResponse, error) {
	return &inferencepb.ModelReadyResponse{Ready: g.isVersionReady(r.Name, r.Version)}, nil
}

func (g grpcCalls) serverMetadata(context.Context, *inferencepb.ServerMetadataRequest) (*inferencepb.ServerMetadataResponse, error) {
	return &inferencepb.ServerMetadataResponse{Name: serverName, Version: build.Read().Version, Extensions: extensions}, nil
}

func (g grpcCalls) modelMetadata(_ context.Context, r *inferencepb.ModelMetadataRequest) (*inferencepb.ModelMetadataResponse, error) {
	v, err := g.repository.find(r.Name, r.Version)
	if err != nil {
		return nil, err
	}
	defer v.users.Done()
	d := g.description(v)
	return &inferencepb.ModelMetadataResponse{Name: d.Name, Versions: d.Versions, Platform: d.Platform, Inputs: tensorMetadata(d.Inputs), Outputs: tensorMetadata(d.Outputs)}, nil
}

func tensorMetadata(ports []port) (list []*inferencepb.ModelMetadataResponse_TensorMetadata) {
	for _, p := range ports {
		list = append(list, &inferencepb.ModelMetadataResponse_TensorMetadata{Name: p.Name, Datatype: p.Datatype, Shape: extents(p.Shape)})
	}
	return list
}

func extents(shape []int) (list []int64) {
	for _, n := range shape {
		list = append(list, int64(n))
	}
	return list
}

func (g grpcCalls) modelInfer(ctx context.Context, r *inferencepb.ModelInferRequest) (*inferencepb.ModelInferResponse, error) {
	v, err := g.repository.find(r.ModelName, r.ModelVersion)
	if err != nil {
		return nil, err
	}
	defer v.users.Done()
	visitOf(ctx).of(v)
	response, err := v.inferGRPC(ctx, r)
	v.meter.answered(statusOf(err), time.Since(beginOf(ctx)))
	return response, err
}

func (v *version) inferGRPC(ctx context.Context, r *inferencepb.ModelInferRequest) (*inferencepb.ModelInferResponse, error) {
	tensors, err := readTensors(r)
	if err != nil {
		return nil, err
	}
	var asked []requestedOutput
	for _, o := range r.Outputs {
		n := o.Parameters["classification"].GetInt64Param()
		asked = append(asked, requestedOutput{Name: o.Name, Parameters: parameters{Classification: int(max(-1, min(n, math.MaxInt32)))}})
	}
	outputs, err := v.compute(ctx, nil, tensors, asked)
	if err != nil {
		return nil, err
	}
	response := &inferencepb.ModelInferResponse{ModelName: v.name, ModelVersion: v.number, Id: r.Id}
	for _, o := range outputs {
		out := &inferencepb.ModelInferResponse_InferOutputTensor{Name: o.name, Datatype: o.datatype(), Shape: extents(o.shape)}
		if len(r.RawInputContents) > 0 {
			response.RawOutputContents = append(response.RawOutputContents, o.binary())
		} else {
			out.Contents = o.contents()
		}
		response.Outputs = append(response.Outputs, out)
	}
	return response, nil
}

// readTensors reads the inputs of a request: all from its raw contents, or each from its own contents.
func readTensors(r *inferencepb.ModelInferRequest) (list []tensor, err error) {
	switch n := len(r.RawInputContents); {
	case len(r.Inputs) == 0:
		return nil, badf("the request has no inputs")
	case n > 0 && n != len(r.Inputs):
		return nil, badf("raw_input_contents has %d values for %d inputs; it has those of all inputs or of none", n, len(r.Inputs))
	}
	for i, in := range r.Inputs {
		t := tensor{name: in.Name}
		if len(r.RawInputContents) == 0 {
			err = t.readInput(in, nil)
		} else {
			err = t.readInput(in, &r.RawInputContents[i])
		}
		if err != nil {
			return nil, badf("input %q: %w", in.Name, err)
		}
		list = append(list, t)
	}
	return list, nil
}

// readInput reads a tensor from an input and its raw contents; nil: there are none.
func (t *tensor) readInput(in *inferencepb.ModelInferRequest_InferInputTensor, raw *[]byte) error {
	d, err := findDatatype(in.Datatype)
	if err != nil {
		return err
	}
	count, err := t.setShape(in.Shape)
	switch {
	case err != nil:
		return err
	case in.Parameters["shared_memory_region"] != nil:
		return errSharedMemory
	case raw == nil:
		return t.readContents(d, in.Contents, count)
	case in.Contents != nil:
		return badf("it has both contents and raw_input_contents")
	}
	return t.readRaw(d, *raw, count)
}

func (g grpcCalls) repositoryIndex(_ context.Context, r *inferencepb.RepositoryIndexRequest) (*inferencepb.RepositoryIndexResponse, error) {
	list, err := g.repository.index(r.Ready)
	if err != nil {
		return nil, err
	}
	response := &inferencepb.RepositoryIndexResponse{}
	for _, i := range list {
		response.Models = append(response.Models, &inferencepb.RepositoryIndexResponse_ModelIndex{Name: i.Name, Version: i.Version, State: i.State, Reason: i.Reason})
	}
	return response, nil
}

func (g grpcCalls) repositoryModelLoad(_ context.Context, r *inferencepb.RepositoryModelLoadRequest) (*inferencepb.RepositoryModelLoadResponse, error) {
	name := modelOf(r.ModelName, r.RepositoryName)
	if err := control(name, r.Parameters, g.repository.loadLogged); err != nil {
		return nil, err
	}
	return &inferencepb.RepositoryModelLoadResponse{ModelName: name, IsLoaded: true}, nil
}

func (g grpcCalls) repositoryModelUnload(_ context.Context, r *inferencepb.RepositoryModelUnloadRequest) (*inferencepb.RepositoryModelUnloadResponse, error) {
	name := modelOf(r.ModelName, r.RepositoryName)
	if err := control(name, r.Parameters, g.repository.unload); err != nil {
		return nil, err
	}
	return &inferencepb.RepositoryModelUnloadResponse{ModelName: name, IsUnloaded: true}, nil
}

// modelOf returns the name of the model to load or unload. KServe's clients have it in the field that is the repository's name in Triton's schema.
func modelOf(model, repository string) string {
	if model == "" {
		return repository
	}
	return model
}
