// npm's redlock as a contestant of the benchmark: see PROTOCOL.md.
// SPDX-License-Identifier: Apache-2.0
// JavaScript has one thread: what are threads elsewhere are loops here, of which each awaits its answers. The claims
// are in this process's memory, so they tell of violations among its own loops.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

// Not in the source tree: build.sh says where.
const require = createRequire(`${process.env.REDLOCK_MODULES}/`);
const Redis = require('ioredis');
const Redlock = require('redlock');

const LEASE_MS = 30000; // as long as Redisson's
const FOR_EVER = -1; // retries; all else is as redlock has it, also that waiters ask every 200 ms or so

const claims = new Map(); // name => the loop that holds it
let client, redlock, crew;

class Loop {
  /* latencies in ms and violations are of this slice */
  constructor(name, id) {
    Object.assign(this, { name, id });
  }

  async takeTurns() {
    for (let before = performance.now(); !crew.stop; ) {
      const lock = await redlock.lock(this.name, LEASE_MS);
      this.enter();
      await undefined; // lets the loops run that were granted something by the same packet
      this.leave();
      await lock.unlock();
      const after = performance.now();
      this.latencies.push(after - before);
      before = after;
    }
  }

  enter() {
    if (claims.has(this.name)) this.violations++;
    claims.set(this.name, this.id);
  }

  leave() {
    if (claims.get(this.name) !== this.id) this.violations++;
    claims.delete(this.name);
  }
}

const cpuUs = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

const quantileUs = (sorted, share) =>
  sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] * 1000 : 0;

async function open(url) {
  const path = url.match(/^(?:redis|unix):\/\/(\/.*)$/);
  client = new Redis(path ? path[1] : url, { connectionName: `redlock-${process.pid}` });
  client.on('error', () => {}); // the next command says it
  await client.ping();
  redlock = new Redlock([client], { retryCount: FOR_EVER });
  return 'ok';
}

function start(kind, threads, names) {
  crew = undefined;
  if (kind !== 'lock') throw new Error(`redlock has no kind ${kind}`);
  const name = (i) => (names.startsWith('one:') ? names.slice(4) : `bench:${process.pid}:${i}`);
  crew = { loops: Array.from({ length: threads }, (_, i) => new Loop(name(i), i)), stop: false };
  return 'ok';
}

async function go(ms) {
  if (!crew) throw new Error('nobody to work');
  crew.stop = false;
  for (const loop of crew.loops) Object.assign(loop, { latencies: [], violations: 0 });
  const cpuBefore = cpuUs();
  const began = performance.now();
  const end = sleep(ms).then(() => (crew.stop = true));
  await Promise.all([end, ...crew.loops.map((loop) => loop.takeTurns())]);
  const seconds = (performance.now() - began) / 1000;
  const cpu = cpuUs() - cpuBefore;
  const latencies = Float64Array.from(crew.loops.flatMap((loop) => loop.latencies)).sort();
  const violations = crew.loops.reduce((sum, loop) => sum + loop.violations, 0);
  const [p50, p99] = [0.5, 0.99].map((share) => quantileUs(latencies, share).toFixed(2));
  return `done ${latencies.length} ${seconds.toFixed(6)} ${cpu} ${p50} ${p99} ${violations}`;
}

function isSocket(fd) {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
  } catch {
    return false; // closed meanwhile, as the one that lists them is
  }
}

function stats() {
  const connections = readdirSync('/proc/self/fd').filter((fd) => Number(fd) > 2 && isSocket(fd)).length;
  const status = readFileSync('/proc/self/status', 'ascii');
  const rssKib = status.match(/^RssAnon:\s*(\d+)/m)[1];
  const threads = status.match(/^Threads:\s*(\d+)/m)[1];
  return `stats rss_bytes=${rssKib * 1024} connections=${connections} threads=${threads} cpu_us=${cpuUs()}`;
}

function answer(words) {
  switch (words[0]) {
    case 'open':
      return open(words[1]);
    case 'crew':
      return start(words[1], Number(words[2]), words[3]);
    case 'go':
      return go(Number(words[1]));
    case 'stats':
      return stats();
    default:
      throw new Error(`redlock's contestant knows no ${words[0]}`);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const words = line.trim().split(/ +/);
  if (words[0] === 'quit') break;
  try {
    console.log(await answer(words));
  } catch (e) {
    console.log(`error ${String(e).replace(/\s+/g, ' ')}`);
  }
}
process.exit(0);
