"""A client of swcaffe serve over gRPC: client.py ADDRESS. It needs python3-grpcio, and inference_pb2 and health_pb2 from protoc on the path. The model is lenet."""
import struct
import sys

import grpc

sys.path.insert(0, ".")
import health_pb2
import inference_pb2 as pb

channel = grpc.insecure_channel(sys.argv[1])


def call(name, request, path="/inference.GRPCInferenceService/"):
    answer = getattr(health_pb2 if "health" in path else pb, "HealthCheckResponse" if "health" in path else name + "Response")
    return channel.unary_unary(path + name, type(request).SerializeToString, answer.FromString)(request, timeout=20)


def infer(datatype, contents=None, raw=None, shape=(1, 1, 28, 28), **more):
    r = pb.ModelInferRequest(model_name="lenet", **more)
    i = r.inputs.add(name="data", datatype=datatype, shape=shape)
    if raw is None:
        i.contents.CopyFrom(pb.InferTensorContents(**contents))
    else:
        r.raw_input_contents.append(raw)
    a = call("ModelInfer", r)
    if raw is None:
        return list(a.outputs[0].contents.fp32_contents) or list(a.outputs[0].contents.bytes_contents)
    return list(struct.unpack("<10f", a.raw_output_contents[0]))


assert call("ServerLive", pb.ServerLiveRequest()).live
assert call("ServerReady", pb.ServerReadyRequest()).ready
assert call("ModelReady", pb.ModelReadyRequest(name="lenet")).ready
assert call("ServerMetadata", pb.ServerMetadataRequest()).name == "swcaffe"
about = call("ModelMetadata", pb.ModelMetadataRequest(name="lenet"))
assert list(about.inputs[0].shape) == [-1, 1, 28, 28], about
assert call("RepositoryIndex", pb.RepositoryIndexRequest()).models[0].state == "READY"
call("RepositoryModelUnload", pb.RepositoryModelUnloadRequest(model_name="lenet"))
call("RepositoryModelLoad", pb.RepositoryModelLoadRequest(model_name="lenet"))
for service in "", "lenet":
    assert call("Check", health_pb2.HealthCheckRequest(service=service), "/grpc.health.v1.Health/").status == health_pb2.HealthCheckResponse.SERVING

x = [i % 3 for i in range(784)]
want = infer("FP32", {"fp32_contents": x})
assert len(set(want)) > 1, want
for datatype, field in {"FP64": "fp64_contents", "INT8": "int_contents", "INT32": "int_contents", "INT64": "int64_contents", "UINT8": "uint_contents", "UINT64": "uint64_contents"}.items():
    assert infer(datatype, {field: x}) == want, datatype
for datatype, code in {"FP32": "f", "FP64": "d", "FP16": "e", "INT8": "b", "INT16": "h", "INT32": "i", "INT64": "q", "UINT8": "B", "UINT16": "H", "UINT32": "I", "UINT64": "Q"}.items():
    assert infer(datatype, raw=struct.pack("<784" + code, *x)) == want, datatype
assert infer("BF16", raw=b"".join(struct.pack("<f", v)[2:] for v in x)) == want
image = open("cat.jpg", "rb").read()
top = pb.ModelInferRequest.InferRequestedOutputTensor(name="prob", parameters={"classification": pb.InferParameter(int64_param=2)})
labels = infer("BYTES", {"bytes_contents": [image]}, shape=(1,), outputs=[top])
assert len(labels) == 2 and b":digit " in labels[0], labels

for change, code in (({"shape": (1, 1)}, grpc.StatusCode.INVALID_ARGUMENT), ({"model_version": "9"}, grpc.StatusCode.NOT_FOUND)):
    try:
        infer("FP32", {"fp32_contents": [0] if "shape" in change else x}, **change)
        raise AssertionError("no error for %s" % change)
    except grpc.RpcError as e:
        assert e.code() == code and e.details(), e
