// Works on orders as a member of a group. Start it several times: the members share the orders.
// Usage: node worker.js [COUNT [TOPIC [GROUP [HOST:PORT]]]]
'use strict';
const { once } = require('node:events');
const { connect, ensureTopic } = require('./lightq');

const [count = '0', topic = 'orders', group = 'billing', address = '127.0.0.1:5701'] = process.argv.slice(2);
const AT_ONCE = 10; // So many orders are ours at a time; others go to other members.

async function bill(order) {
  console.log(`order ${order.order} of ${order.customer} billed`);
}

/** What becomes of a message: done, given up because it can never be, or to be tried again later. */
async function work(message) {
  let order;
  try {
    order = JSON.parse(message.body.toString());
  } catch (error) {
    return { kind: 'SETTLE_KIND_DEAD_LETTER', reason: error.message };
  }
  try {
    await bill(order);
    return { kind: 'SETTLE_KIND_COMPLETE' };
  } catch (error) {
    console.error(error);
    return { kind: 'SETTLE_KIND_ABANDON' };
  }
}

async function main() {
  const { topics, messages } = connect(address);
  await ensureTopic(topics, topic);
  const call = messages.Consume();
  let left = Number(count) || Infinity;
  let working = Promise.resolve();

  async function handle(message) {
    if (left === 0) return; // It goes to another member.
    const settlement = await work(message);
    const { partition, delivery_id, offset } = message;
    call.write({ settle: { settlements: [{ partition, delivery_id, first_offset: offset, ...settlement }] } });
    if (--left === 0) call.end();
    else call.write({ credit: { messages: 1 } });
  }

  call.on('data', (response) => {
    if (response.response === 'delivery') {
      for (const message of response.delivery.messages) working = working.then(() => handle(message));
    } else if (response.response === 'settled') {
      console.error(`settled too late: ${response.settled.outcomes}`); // Without a tag only what did not hold is answered.
    } else if (response.response === 'go_away') {
      left = 0; // The broker stops: what is not settled comes again.
      working = working.then(() => call.end());
    }
  });
  const ended = once(call, 'end');
  call.write({ subscribe: { topic, group, settle_mode: 'GROUP_SETTLE_MODE_EXPLICIT', credit: AT_ONCE } });
  await ended;
}

main().then(() => process.exit(0), (error) => {
  console.error(`${error.details ?? error} (${error.metadata?.get('lightq-error-code')})`);
  process.exit(1);
});
