// npm's redlock beside the tests, told what to do line by line (tests/interop/support/agent.h).
// SPDX-License-Identifier: Apache-2.0
// A command is: tag thread operation arguments… Each thread has a lock of its own for each name.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

// Not in the source tree: build.sh says where.
const require = createRequire(`${process.env.REDLOCK_MODULES}/`);
const Redis = require('ioredis');
const Redlock4 = require('redlock4');
const { default: Redlock5 } = require('redlock5');

const held = new Map(); // thread and name => what the library gave
let redlock, version;

const keyOf = (thread, name) => `${thread} ${name}`;

// Both speak of the same things in other words.
const operations = {
  async open(thread, which, retries, ...urls) {
    const clients = urls.map((url) => new Redis(url, { maxRetriesPerRequest: 1 }));
    clients.forEach((client) => client.on('error', () => {}));
    version = which;
    const settings = { retryCount: Number(retries), retryDelay: 20, retryJitter: 10 };
    redlock = version === '4' ? new Redlock4(clients, settings) : new Redlock5(clients, settings);
    redlock.on(version === '4' ? 'clientError' : 'error', () => {});
    return '';
  },
  async acquire(thread, name, leaseMs) {
    const lock = version === '4' ? await redlock.lock(name, Number(leaseMs)) : await redlock.acquire([name], Number(leaseMs));
    held.set(keyOf(thread, name), lock);
    return lock.value;
  },
  async release(thread, name) {
    const lock = held.get(keyOf(thread, name));
    await (version === '4' ? lock.unlock() : lock.release());
    return '';
  },
  async extend(thread, name, leaseMs) {
    const lock = await held.get(keyOf(thread, name)).extend(Number(leaseMs));
    held.set(keyOf(thread, name), lock);
    return lock.value;
  },
  async expiration(thread, name) {
    return String(Math.round(held.get(keyOf(thread, name)).expiration - Date.now()));
  },
};

const nowNs = () => process.hrtime.bigint();

async function run([tag, thread, operation, ...words]) {
  const began = nowNs();
  let said;
  try {
    said = ['ok', await operations[operation](thread, ...words)];
  } catch (e) {
    said = ['threw', e.name, e.message];
  }
  console.log([tag, began, nowNs(), ...said.map(encodeURIComponent)].join(' '));
}

createInterface({ input: process.stdin })
  .on('line', (line) => run(line.split(' ').map(decodeURIComponent)))
  .on('close', () => process.exit(0));
