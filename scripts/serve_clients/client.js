// A client of swcaffe serve over gRPC: client.js ADDRESS SCHEMA. The model is lenet.
const assert = require('assert'), grpc = require('@grpc/grpc-js'), loader = require('@grpc/proto-loader');
const [address, schema] = process.argv.slice(2);
const { inference } = grpc.loadPackageDefinition(loader.loadSync(schema, { longs: Number }));
const client = new inference.GRPCInferenceService(address, grpc.credentials.createInsecure());
const call = (name, request) => new Promise((done, fail) => client[name](request, (error, answer) => (error ? fail(error) : done(answer))));
const infer = async (datatype, contents, raw) => {
  const answer = await call('ModelInfer', { modelName: 'lenet', inputs: [{ name: 'data', datatype, shape: [1, 1, 28, 28], contents }], rawInputContents: raw && [raw] });
  if (!raw) return answer.outputs[0].contents.fp32Contents;
  const bytes = answer.rawOutputContents[0];
  return Array.from({ length: 10 }, (_, i) => bytes.readFloatLE(4 * i));
};
const bytes = (a) => Buffer.from(a.buffer, a.byteOffset, a.byteLength);
(async () => {
  assert((await call('ServerLive', {})).live);
  assert((await call('ServerReady', {})).ready);
  assert((await call('ModelReady', { name: 'lenet' })).ready);
  assert.equal((await call('ServerMetadata', {})).name, 'swcaffe');
  assert.deepEqual((await call('ModelMetadata', { name: 'lenet' })).inputs[0].shape, [-1, 1, 28, 28]);
  assert.equal((await call('RepositoryIndex', {})).models[0].state, 'READY');
  await call('RepositoryModelUnload', { modelName: 'lenet' });
  await call('RepositoryModelLoad', { modelName: 'lenet' });
  const x = Array.from({ length: 784 }, (_, i) => i % 3);
  const want = await infer('FP32', { fp32Contents: x });
  assert(want.length === 10 && new Set(want).size > 1, String(want));
  for (const [datatype, field] of [['FP64', 'fp64Contents'], ['INT32', 'intContents'], ['INT64', 'int64Contents'], ['UINT8', 'uintContents'], ['UINT64', 'uint64Contents']])
    assert.deepEqual(await infer(datatype, { [field]: x }), want, datatype);
  const big = x.map(BigInt);
  for (const [datatype, a] of [['FP32', Float32Array.from(x)], ['INT64', BigInt64Array.from(big)], ['UINT8', Uint8Array.from(x)], ['INT16', Int16Array.from(x)]])
    assert.deepEqual(await infer(datatype, null, bytes(a)), want, datatype);
  await assert.rejects(infer('FP32', { fp32Contents: [1] }), { code: grpc.status.INVALID_ARGUMENT, details: /1 values are given/ });
  await assert.rejects(call('ModelMetadata', { name: 'none' }), { code: grpc.status.NOT_FOUND });
  await assert.rejects(infer('FP32', null, Buffer.alloc(65 << 20)), { code: grpc.status.RESOURCE_EXHAUSTED });
  client.close();
})().catch((e) => {
  console.error(e);
  process.exit(1);
});
