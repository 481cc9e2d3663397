// `make bench`, terminals: every number beside sshx or a bare read loop of the same run, with the goal it is held against.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import * as corpus from "./corpus.mjs";
import * as measure from "./measure.mjs";
import * as ours from "./ours.mjs";
import { endAll, used } from "./processes.mjs";
import * as sshx from "./sshx.mjs";

const TURNS = 5;
const rows = [];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "shopfloor-bench-"));

function row(what, value, baseline, unit, goal) {
  const ratio = baseline ? value / baseline : null;
  const met = goal && { at_most: value <= goal.at_most, ratio_at_most: ratio <= goal.ratio_at_most, ratio_at_least: ratio >= goal.ratio_at_least }[Object.keys(goal)[0]];
  const number = (n) => (n === null ? "-" : n >= 100 ? n.toFixed(0) : n.toFixed(2));
  const verdict = goal ? `${met ? "met" : "MISSED"} (goal ${Object.entries(goal)[0].join(" ")})` : "";
  console.log(`${what.padEnd(58)} ${number(value).padStart(10)} ${number(baseline).padStart(10)} ${unit.padEnd(10)} ${(ratio ? `${ratio.toFixed(2)}×` : "-").padStart(8)}  ${verdict}`);
  rows.push({ what, ours: value, baseline, unit, goal: goal ?? null });
}

/** Measures one peer, started fresh and ended afterwards. */
async function on(peer, program, work) {
  const place = fs.mkdtempSync(path.join(folder, "peer-"));
  const started = await peer.start(place, program);
  try {
    return await work(started);
  } finally {
    await started.end();
    await endAll();
  }
}

const bare = ({ script, bytes }) => bytes / 1e6 / Number(execFileSync("target/release/bench", ["pty", script], { encoding: "utf8" }));

try {
  const programs = corpus.write(folder);
  console.log(`\nTerminals, two hops\n${"".padEnd(58)} ${"ours".padStart(10)} ${"baseline".padStart(10)} ${"unit".padEnd(10)} ${"ratio".padStart(8)}`);
  const both = async (program, work) => [await on(ours, program, work), await on(sshx, program, work)];

  // In turns, and the one in the middle of each: one run alone says more about the machine's other business.
  const middle = (runs, by) => runs.toSorted((one, other) => one[by] - other[by])[(TURNS - 1) / 2];
  const inTurns = async (program, work, by, alone = () => ({})) => {
    const runs = [[], [], []];
    for (let turn = 0; turn < TURNS; turn += 1) [...(await both(program, work)), alone()].forEach((run, who) => runs[who].push(run));
    return runs.map((of) => middle(of, by));
  };

  const [a, b] = await inTurns(programs.echo, (peer) => measure.quietEcho(peer, programs.echo, 1000), "p99");
  row("echo, p50, beside sshx", a.p50, b.p50, "ms", { ratio_at_most: 1 });
  row("echo, p99, beside sshx", a.p99, b.p99, "ms", { ratio_at_most: 1 });

  const [c, d] = await inTurns(programs.either, (peer) => measure.loadedEcho(peer, programs.either, 500), "p99");
  row("echo while another session floods, p50, beside sshx", c.p50, d.p50, "ms");
  row("echo while another session floods, p99, beside sshx", c.p99, d.p99, "ms", { ratio_at_most: 1 / 3 });

  for (const [name, program] of [["20 MB of agent output", programs.agent], ["50 MB of seq", programs.lines]]) {
    const [x, y, z] = await inTurns(program.script, (peer) => measure.flood(peer, program), "rate", () => ({ rate: bare(program) }));
    row(`${name} to a watcher's screen, beside sshx`, x.rate, y.rate, "MB/s", { ratio_at_least: 1.2 });
    row(`${name}, beside a bare read loop that shows nobody`, x.rate, z.rate, "MB/s", { ratio_at_least: 0.8 });
    row(`${name}, processor of hub and runner, beside sshx`, x.cpuPerMb, y.cpuPerMb, "ms/MB");
    row(`${name}, share that the watcher got as bytes`, x.share, y.share, "%");
    row(`${name}, screens that it got instead of the rest`, x.snapshots, null, "");
  }

  await on(ours, null, async (peer) => {
    const { grown, stopped } = await measure.gigabyte(peer, programs.gigabyte, programs.endless);
    for (const [who, bytes] of Object.entries(grown)) row(`1 GB of output, memory that the ${who} took in addition`, bytes / 1e6, null, "MB", { at_most: 8 });
    row("Ctrl-C while output floods, until the session is over", stopped, null, "ms", { at_most: 1000 });
  });

  const [e, f] = await both(programs.history, (peer) => measure.join(peer, programs.history, 20));
  row("join with 100 MB of history, p50, beside sshx", e.p50, f.p50, "ms", { at_most: 10 });
  row("join with 100 MB of history, most bytes, beside sshx", e.bytes / 1000, f.bytes / 1000, "kB", { at_most: 16 });

  await on(ours, null, async (peer) => {
    const cost = await measure.idle(peer, programs.nothing, 50, 20);
    row("50 sessions that nobody watches, hub and runner", cost.share, null, "% of core", { at_most: 2 });
    const hosts = fs.readdirSync(path.join(peer.folder, "sessions")).map((name) => Number(fs.readFileSync(path.join(peer.folder, "sessions", name, "host.pid"), "utf8")));
    row("memory of a session's host, most", Math.max(...hosts.map((pid) => used(pid).rss)) / 1e6, null, "MB", { at_most: 12 });
    row("memory of the runner with them", used(peer.pids.runner).rss / 1e6, null, "MB");
    row("memory of the hub with them", used(peer.pids.hub).rss / 1e6, null, "MB");
  });

  const file = `bench/results/${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}-terminals.json`;
  fs.writeFileSync(file, JSON.stringify({ rows }, null, 2));
  console.log(`written to ${file}`);
} finally {
  await endAll();
  fs.rmSync(folder, { recursive: true, force: true });
}
