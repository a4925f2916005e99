// The broker's services, from the .proto files. A broker that requires a login wants call metadata, too: authorization: Bearer TOKEN.
'use strict';
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');

const files = ['lightq/control/v1/topics.proto', 'lightq/control/v1/messages.proto'];
const definition = protoLoader.loadSync(files, {
  includeDirs: [path.join(__dirname, '..', '..', 'proto')],
  keepCase: true,
  enums: String,
  longs: String, // offsets have 63 bits
  oneofs: true,
});
const { Topics, Messages } = grpc.loadPackageDefinition(definition).lightq.control.v1;

exports.connect = (address) => ({
  topics: new Topics(address, grpc.credentials.createInsecure()),
  messages: new Messages(address, grpc.credentials.createInsecure()),
});

/** Makes a durable topic, unless it is there. */
exports.ensureTopic = (topics, name) => new Promise((resolve, reject) => {
  topics.EnsureTopic({ name, settings: { kind: 'TOPIC_KIND_DURABLE' } }, (error) => (error ? reject(error) : resolve()));
});
