// A client of swcaffe serve over gRPC, with what protoc and its plugin make of inference.proto: client ADDRESS. The model is lenet.
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "inference.grpc.pb.h"

using namespace inference;

static std::unique_ptr<GRPCInferenceService::Stub> server;

static void check(bool ok, const std::string& what) {
  if (!ok) {
    std::cerr << what << "\n";
    exit(1);
  }
}

template <typename Request, typename Response>
static Response call(grpc::Status (GRPCInferenceService::Stub::*method)(grpc::ClientContext*, const Request&, Response*), const Request& r, int code = 0) {
  grpc::ClientContext context;
  Response answer;
  grpc::Status s = (server.get()->*method)(&context, r, &answer);
  check(s.error_code() == code, r.GetTypeName() + ": " + s.error_message());
  return answer;
}

template <typename T>
static std::string raw(const std::vector<float>& values) {
  std::string s;
  for (float v : values) {
    T t = static_cast<T>(v);
    s.append(reinterpret_cast<const char*>(&t), sizeof t);
  }
  return s;
}

// infer returns the bytes of the output for raw values of a datatype.
static std::string infer(const std::string& datatype, const std::string& values) {
  ModelInferRequest r;
  r.set_model_name("lenet");
  auto* input = r.add_inputs();
  input->set_name("data");
  input->set_datatype(datatype);
  for (int n : {1, 1, 28, 28}) input->add_shape(n);
  r.add_raw_input_contents(values);
  return call(&GRPCInferenceService::Stub::ModelInfer, r).raw_output_contents(0);
}

int main(int argc, char** argv) {
  check(argc == 2, "usage: client ADDRESS");
  server = GRPCInferenceService::NewStub(grpc::CreateChannel(argv[1], grpc::InsecureChannelCredentials()));
  check(call(&GRPCInferenceService::Stub::ServerLive, ServerLiveRequest()).live(), "not live");
  check(call(&GRPCInferenceService::Stub::ServerReady, ServerReadyRequest()).ready(), "not ready");
  check(call(&GRPCInferenceService::Stub::ServerMetadata, ServerMetadataRequest()).name() == "swcaffe", "another server");
  ModelReadyRequest ready;
  ready.set_name("lenet");
  check(call(&GRPCInferenceService::Stub::ModelReady, ready).ready(), "lenet is not ready");
  ModelMetadataRequest about;
  about.set_name("lenet");
  check(call(&GRPCInferenceService::Stub::ModelMetadata, about).inputs(0).shape(3) == 28, "another shape");
  check(call(&GRPCInferenceService::Stub::RepositoryIndex, RepositoryIndexRequest()).models(0).name() == "lenet", "another index");
  RepositoryModelLoadRequest load;
  load.set_model_name("lenet");
  call(&GRPCInferenceService::Stub::RepositoryModelLoad, load);

  std::vector<float> x;
  for (int i = 0; i < 784; i++) x.push_back(i % 3);
  const std::string want = infer("FP32", raw<float>(x));
  check(want.size() == 40 && want.substr(0, 4) != want.substr(4, 4), "the output has another size, or all values are equal");
  check(infer("INT64", raw<int64_t>(x)) == want, "INT64 has other results");
  check(infer("UINT8", raw<uint8_t>(x)) == want, "UINT8 has other results");
  std::string bf16;
  for (float v : x) bf16.append(reinterpret_cast<const char*>(&v) + 2, 2);
  check(infer("BF16", bf16) == want, "BF16 has other results");

  ModelInferRequest typed;
  typed.set_model_name("lenet");
  auto* input = typed.add_inputs();
  input->set_name("data");
  input->set_datatype("FP32");
  for (int n : {1, 1, 28, 28}) input->add_shape(n);
  for (float v : x) input->mutable_contents()->add_fp32_contents(v);
  auto answer = call(&GRPCInferenceService::Stub::ModelInfer, typed);
  check(!memcmp(answer.outputs(0).contents().fp32_contents().data(), want.data(), want.size()), "typed contents have other results");
  typed.mutable_inputs(0)->set_shape(3, 27);
  call(&GRPCInferenceService::Stub::ModelInfer, typed, grpc::INVALID_ARGUMENT);
  typed.set_model_name("none");
  call(&GRPCInferenceService::Stub::ModelInfer, typed, grpc::NOT_FOUND);
}
