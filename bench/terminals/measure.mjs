// The measurements, the same for every peer.
import { rest, until, used } from "./processes.mjs";

/** Somebody who watches a terminal: what came last, and a promise of what is to come. */
async function watch(peer, terminal) {
  let tail = Buffer.alloc(0);
  let hear = null;
  const seen = { bytes: 0 };
  const watcher = await peer.connect(terminal, (bytes) => {
    seen.bytes += bytes.length;
    tail = Buffer.concat([tail.subarray(-64), bytes.subarray(-512)]);
    hear?.(bytes);
  });
  const shows = (text) =>
    new Promise((resolve) => {
      const look = () => {
        if (!tail.includes(text)) return;
        hear = null;
        resolve();
      };
      hear = look;
      look();
    });
  const next = () => new Promise((resolve) => (hear = () => resolve((hear = null))));
  return { ...watcher, snapshots: () => watcher.snapshots, ended: () => watcher.ended, seen, shows, next };
}

const cpu = (peer) => Object.values(peer.pids).reduce((sum, pid) => sum + used(pid).cpu, 0);

/** Milliseconds from a key to its echo, through everything, `count` times. */
export async function echo(peer, watcher, count) {
  const times = [];
  for (let number = 0; number < count; number += 1) {
    const heard = watcher.next();
    const begin = performance.now();
    watcher.send("x");
    await heard;
    times.push(performance.now() - begin);
    await rest(3);
  }
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

export async function quietEcho(peer, script, count) {
  const watcher = await watch(peer, await peer.spawn([script]));
  await watcher.shows("READY>");
  await echo(peer, watcher, 50);
  const result = await echo(peer, watcher, count);
  watcher.close();
  return result;
}

/** The same while another session floods another watcher. */
export async function loadedEcho(peer, script, count) {
  const watcher = await watch(peer, await peer.spawn([script]));
  await watcher.shows("READY>");
  watcher.send("e");
  await rest(200);
  const flood = await watch(peer, await peer.spawn([script]));
  await flood.shows("READY>");
  flood.send("f");
  await until("the flood flows", () => flood.seen.bytes > 5_000_000);
  const result = await echo(peer, watcher, count);
  flood.close();
  watcher.close();
  return result;
}

/**
 * How fast a program's output comes to its end on a watcher's screen: from the key that starts it until the watcher has
 * its last characters. What the watcher was shown in between may be bytes, or a screen in place of many.
 */
export async function flood(peer, { script, bytes }) {
  const watcher = await watch(peer, await peer.spawn([script]));
  await watcher.shows("READY>");
  const before = cpu(peer);
  const [shown, screens] = [watcher.seen.bytes, watcher.snapshots()];
  const begin = performance.now();
  watcher.send("\n");
  await watcher.shows("##END##");
  const seconds = (performance.now() - begin) / 1000;
  const share = Math.min(100, ((watcher.seen.bytes - shown) / bytes) * 100);
  const result = { rate: bytes / 1e6 / seconds, cpuPerMb: (cpu(peer) - before) / (bytes / 1e6), share, snapshots: watcher.snapshots() - screens };
  watcher.close();
  return result;
}

/** What much output adds to the memory of everybody whom it passes, and how long a flood outlives Ctrl-C. */
export async function gigabyte(peer, script, endless) {
  const session = await peer.spawn([script]);
  const pids = { host: peer.host(session), ...peer.pids };
  const peaks = () => Object.fromEntries(Object.entries(pids).map(([who, pid]) => [who, used(pid).most]));
  const watcher = await watch(peer, session);
  await watcher.shows("READY>");
  watcher.send("\n");
  await watcher.shows("##FIRST##");
  const before = peaks();
  watcher.send("\n");
  await watcher.shows("##END##");
  const after = peaks();
  watcher.close();
  const flood = await watch(peer, await peer.spawn([endless]));
  await flood.shows("READY>");
  flood.send("\n");
  await until("the flood flows", () => flood.seen.bytes > 5_000_000);
  const begin = performance.now();
  flood.send("\x03");
  await until("the session is over", () => flood.ended());
  const stopped = performance.now() - begin;
  flood.close();
  return { grown: Object.fromEntries(Object.keys(pids).map((who) => [who, after[who] - before[who]])), stopped };
}

/** What a watcher who comes late waits for and is sent. */
export async function join(peer, script, count) {
  const terminal = await peer.spawn([script]);
  const first = await watch(peer, terminal);
  await first.shows("READY>");
  first.send("\n");
  await first.shows("##END##");
  const times = [];
  let bytes = 0;
  for (let number = 0; number < count; number += 1) {
    const begin = performance.now();
    const late = await watch(peer, terminal);
    await late.shows("##END##");
    times.push(performance.now() - begin);
    bytes = Math.max(bytes, late.seen.bytes);
    late.close();
  }
  first.close();
  return { p50: percentile(times, 0.5), bytes };
}

/** What sessions cost that nobody watches. */
export async function idle(peer, script, count, seconds) {
  for (let number = 0; number < count; number += 1) await peer.spawn([script]);
  await rest(5000);
  const before = cpu(peer);
  await rest(seconds * 1000);
  return { share: (cpu(peer) - before) / (seconds * 10) };
}

function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)];
}
