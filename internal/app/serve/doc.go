// Package serve answers requests for trained nets with the Open Inference Protocol (KServe's v2), over HTTP and gRPC.
//
//	repository.go  models by name and version: load, exchange, unload
//	folder.go      the files of a model repository in Triton's layout
//	version.go     a loaded net: its plans and its queue
//	inputs.go      a net's ports, checks of inputs
//	queue.go       requests that wait for a version
//	batch.go       requests of the queue, joined to runs
//	turns.go       runs side by side, or one with all cores
//	runner.go      a run
//	fault.go       panics and too little memory in a run
//	datatype.go    the protocol's number types, in JSON and in binary
//	body.go        memory of bodies, errors of reading them
//	message.go     requests and responses of infer
//	contents.go    gRPC's typed contents of tensors
//	infer.go       the call infer
//	query.go       what a request with an image asks for
//	image.go       images as requests, and labels or boxes as answers
//	certificate.go TLS
//	server.go      limits, errors, who is answered
//	routes.go      the calls over HTTP
//	connections.go how many connections clients have
//	visit.go       what became of each request, for a log
//	trace.go       when requests and layers ran, for trace viewers
//	openapi.go     the OpenAPI document, of the routes
//	page.go        the page for people, and what it shows
//	grpc.go        the calls over gRPC
//	grpc_server.go gRPC behind the server's limits, and its errors
//	grpc_tools.go  gRPC's health and reflection
//	metrics.go     Prometheus metrics
package serve
