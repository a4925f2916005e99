// Calls a broker's control plane as any Node.js program would, and prints what it saw as one JSON object.
// Usage: node client.js HOST:PORT PROTO_DIRECTORY [CA_FILE]
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const [address, protoDirectory, caFile] = process.argv.slice(2);
const credentials = caFile ? grpc.credentials.createSsl(fs.readFileSync(caFile)) : grpc.credentials.createInsecure();
const deadline = () => ({ deadline: Date.now() + 20_000 });

function load(file, name, directory = protoDirectory) {
  const definition = protoLoader.loadSync(path.join(directory, file), { keepCase: true, enums: String, longs: Number, includeDirs: [directory] });
  const Service = name.split('.').reduce((scope, part) => scope[part], grpc.loadPackageDefinition(definition));
  return new Service(address, credentials);
}

const unary = (client, method, request) => new Promise((resolve, reject) =>
  client[method](request, new grpc.Metadata(), deadline(), (error, response) => (error ? reject(error) : resolve(response))));

async function refused(call) {
  try {
    await call;
  } catch (error) {
    return { status: grpc.status[error.code], message: error.details, code: error.metadata.get('lightq-error-code')[0] };
  }
  throw new Error('the call was not refused');
}

function watch(stats, topic, count) {
  return new Promise((resolve, reject) => {
    const readings = [];
    const call = stats.WatchTopicStats({ topic, interval: { seconds: 0, nanos: 100_000_000 } }, new grpc.Metadata(), deadline());
    call.on('data', (response) => {
      readings.push({ topic: response.stats.topic, received: response.stats.messages_received });
      if (readings.length === count) {
        call.cancel();
        resolve(readings);
      }
    });
    call.on('error', reject);
  });
}

function listServices() {
  return new Promise((resolve, reject) => {
    const call = load('grpc/reflection/v1/reflection.proto', 'grpc.reflection.v1.ServerReflection', __dirname).ServerReflectionInfo(new grpc.Metadata(), deadline());
    call.on('data', (response) => resolve(response.list_services_response.service.map((s) => s.name)));
    call.on('error', reject);
    call.write({ list_services: '' });
    call.end();
  });
}

async function main() {
  const topics = load('lightq/control/v1/topics.proto', 'lightq.control.v1.Topics');
  const stats = load('lightq/control/v1/stats.proto', 'lightq.control.v1.Stats');
  const created = await unary(topics, 'CreateTopic', { name: 'stock', settings: { kind: 'TOPIC_KIND_TRANSIENT' } });
  const bad = await refused(unary(topics, 'CreateTopic', { name: '../stock' }));
  const readings = await watch(stats, 'stock', 3);
  const services = await listServices();
  console.log(JSON.stringify({ created: created.topic.name, kind: created.topic.settings.kind, bad, readings, services }));
}

main().then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
