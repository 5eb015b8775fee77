// npm's redlock as a contestant of the benchmark: see PROTOCOL.md.
// SPDX-License-Identifier: Apache-2.0
// JavaScript has one thread: what are threads elsewhere are loops here, of which each awaits its answers. It cannot map
// the claims, so it reads and writes the file; for names of its own, which other processes do not have, its own memory.
import { openSync, readdirSync, readFileSync, readlinkSync, readSync, fstatSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

// Not in the source tree: build.sh says where.
const require = createRequire(`${process.env.REDLOCK_MODULES}/`);
const Redis = require('ioredis');
const Redlock = require('redlock');

const LEASE_MS = 30000; // as long as Redisson's
const FOR_EVER = -1; // retries; all else is as redlock has it, also that waiters ask every 200 ms or so

let client, redlock, crew, claims;

// In memory; two words: the holder, and the last one.
class OwnClaim {
  words = new BigUint64Array(2);
  read() {}
  write() {}
}

class SharedClaim {
  constructor(name) {
    let hash = 0xcbf29ce484222325n; // FNV-1a
    for (const octet of Buffer.from(name)) hash = BigInt.asUintN(64, (hash ^ BigInt(octet)) * 0x100000001b3n);
    this.at = Number(hash % BigInt(fstatSync(claims).size / 16)) * 16;
    this.words = new BigUint64Array(2);
  }
  read() {
    readSync(claims, this.words, 0, 16, this.at);
  }
  write() {
    writeSync(claims, this.words, 0, 16, this.at);
  }
}

// As support/histogram.h has them, of whole nanoseconds.
function bucket(ms) {
  const ns = Math.round(ms * 1e6);
  const shift = Math.max(0, Math.floor(Math.log2(Math.max(ns, 1))) - 5);
  return shift * 32 + Math.floor(ns / 2 ** shift);
}

class Loop {
  /* latencies in ms, violations and handed are of this slice; the rest since `stats` was asked for */
  constructor(name, claim, index, locks) {
    Object.assign(this, { name, claim, locks, id: (BigInt(process.pid) << 20n) | BigInt(index + 1) });
    this.forget();
  }

  forget() {
    Object.assign(this, { turns: 0, longest: 0, waits: new Map() });
  }

  async takeTurns() {
    for (let before = performance.now(); !crew.stop; ) {
      const lock = this.locks ? await redlock.lock(this.name, LEASE_MS) : undefined;
      this.count(performance.now() - before);
      this.enter();
      await undefined; // lets the loops run that were granted something by the same packet
      this.leave();
      await lock?.unlock();
      const after = performance.now();
      this.latencies.push(after - before);
      before = after;
      if (!this.locks) await new Promise(setImmediate); // nothing else lets the slice end
    }
  }

  count(waited) {
    const at = bucket(waited);
    this.turns++;
    this.longest = Math.max(this.longest, waited);
    this.waits.set(at, (this.waits.get(at) ?? 0) + 1);
  }

  enter() {
    const { claim, id } = this;
    claim.read();
    if (claim.words[0] !== 0n) this.violations++;
    if (claim.words[1] !== 0n && claim.words[1] !== id) this.handed++;
    claim.words[0] = claim.words[1] = id;
    claim.write();
  }

  leave() {
    const { claim, id } = this;
    claim.read();
    if (claim.words[0] !== id) this.violations++;
    claim.words[0] = 0n;
    claim.write();
  }
}

const cpuUs = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

const quantileUs = (sorted, share) =>
  sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] * 1000 : 0;

async function open(url, path_of_claims) {
  claims = openSync(path_of_claims, 'r+');
  const path = url.match(/^(?:redis|unix):\/\/(\/.*)$/);
  client = new Redis(path ? path[1] : url, { connectionName: `redlock-${process.pid}` });
  client.on('error', () => {}); // the next command says it
  await client.ping();
  redlock = new Redlock([client], { retryCount: FOR_EVER });
  return 'ok';
}

function start(kind, threads, names) {
  crew = undefined;
  if (kind !== 'lock' && kind !== 'none') throw new Error(`redlock has no kind ${kind}`);
  const one = names.startsWith('one:');
  const name = (i) => (one ? names.slice(4) : `bench:${process.pid}:${i}`);
  const claim = (i) => (one ? new SharedClaim(name(i)) : new OwnClaim());
  const loop = (_, i) => new Loop(name(i), claim(i), i, kind === 'lock');
  crew = { loops: Array.from({ length: threads }, loop), stop: false };
  return 'ok';
}

async function go(ms) {
  if (!crew) throw new Error('nobody to work');
  crew.stop = false;
  for (const loop of crew.loops) Object.assign(loop, { latencies: [], violations: 0, handed: 0 });
  const cpuBefore = cpuUs();
  const began = performance.now();
  const end = sleep(ms).then(() => (crew.stop = true));
  await Promise.all([end, ...crew.loops.map((loop) => loop.takeTurns())]);
  const seconds = (performance.now() - began) / 1000;
  const cpu = cpuUs() - cpuBefore;
  const latencies = Float64Array.from(crew.loops.flatMap((loop) => loop.latencies)).sort();
  const violations = crew.loops.reduce((sum, loop) => sum + loop.violations, 0);
  const handed = crew.loops.reduce((sum, loop) => sum + loop.handed, 0);
  const [p50, p99] = [0.5, 0.99].map((share) => quantileUs(latencies, share).toFixed(2));
  return `done ${latencies.length} ${seconds.toFixed(6)} ${cpu} ${p50} ${p99} ${violations} ${handed}`;
}

function isSocket(fd) {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
  } catch {
    return false; // closed meanwhile, as the one that lists them is
  }
}

// Of all turns since it was last asked for.
function tallies() {
  if (!crew) return '';
  const waits = new Map();
  for (const loop of crew.loops) for (const [at, count] of loop.waits) waits.set(at, (waits.get(at) ?? 0) + count);
  const longest = Math.max(...crew.loops.map((loop) => loop.longest)) * 1000;
  const turns = crew.loops.map((loop) => loop.turns).join(',');
  for (const loop of crew.loops) loop.forget();
  return ` longest_us=${longest.toFixed(1)} contenders=${turns} waits=${[...waits].map((each) => each.join(':')).join(',')}`;
}

function stats() {
  const connections = readdirSync('/proc/self/fd').filter((fd) => Number(fd) > 2 && isSocket(fd)).length;
  const status = readFileSync('/proc/self/status', 'ascii');
  const rssKib = status.match(/^RssAnon:\s*(\d+)/m)[1];
  const threads = status.match(/^Threads:\s*(\d+)/m)[1];
  return `stats rss_bytes=${rssKib * 1024} connections=${connections} threads=${threads} cpu_us=${cpuUs()}${tallies()}`;
}

function answer(words) {
  switch (words[0]) {
    case 'open':
      return open(words[1], words[2]);
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
