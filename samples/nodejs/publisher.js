// Publishes orders. Usage: node publisher.js [COUNT [TOPIC [HOST:PORT]]]
'use strict';
const { once } = require('node:events');
const { connect, ensureTopic } = require('./lightq');

const [count = '20', topic = 'orders', address = '127.0.0.1:5701'] = process.argv.slice(2);

async function main() {
  const { topics, messages } = connect(address);
  await ensureTopic(topics, topic);
  const call = messages.PublishStream();
  let stored = 0;
  call.on('data', ({ ack }) => {
    if (ack) stored += ack.positions.length; // One ack for each request, in order: these are on the disk.
  });
  const ended = once(call, 'end'); // Fails with the call.
  call.write({ open: { topic } });
  for (let i = 0; i < Number(count); i++) {
    const order = { order: i, customer: `customer-${i % 5}` };
    const message = {
      key: Buffer.from(order.customer), // Orders of one customer stay in order.
      headers: [{ name: 'content-type', value: Buffer.from('application/json') }],
      body: Buffer.from(JSON.stringify(order)),
    };
    if (!call.write({ messages: [message] })) await once(call, 'drain'); // The broker takes no more at the moment.
  }
  call.end();
  await ended;
  console.log(`${stored} orders stored in ${topic}`);
}

main().then(() => process.exit(0), (error) => {
  console.error(`${error.details ?? error} (${error.metadata?.get('lightq-error-code')})`);
  process.exit(1);
});
