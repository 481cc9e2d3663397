// `make bench`, terminals: every number beside sshx or a bare read loop of the same run, with the goal it is held against.
// `main.mjs echo flood` measures these parts only: echo, flood, output, gigabyte, join, idle.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import * as corpus from "./corpus.mjs";
import * as measure from "./measure.mjs";
import * as ours from "./ours.mjs";
import { used } from "./processes.mjs";
import * as sshx from "./sshx.mjs";
import { inTurns, middle, on, stalls } from "./turns.mjs";

/** How often each peer is measured, in turns: what counts is the turn in the middle. */
const TURNS = { echo: 9, output: 5 };
/** Keys in a turn: the tenth slowest of a thousand is their p99. */
const KEYS = 1000;
const rows = [];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "shopfloor-bench-"));

function row(what, value, baseline, unit, goal) {
  const ratio = baseline ? value / baseline : null;
  const judged = goal && ("at_most" in goal || ratio !== null);
  const met = judged && { at_most: value <= goal.at_most, ratio_at_most: ratio <= goal.ratio_at_most, ratio_at_least: ratio >= goal.ratio_at_least }[Object.keys(goal)[0]];
  const number = (n) => (n === null ? "-" : n >= 100 ? n.toFixed(0) : n.toFixed(2));
  const verdict = goal ? `${judged ? (met ? "met" : "MISSED") : "not judged"} (goal ${Object.entries(goal)[0].join(" ")})` : "";
  console.log(`${what.padEnd(58)} ${number(value).padStart(10)} ${number(baseline).padStart(10)} ${unit.padEnd(10)} ${(ratio ? `${ratio.toFixed(2)}×` : "-").padStart(8)}  ${verdict}`);
  rows.push({ what, ours: value, baseline, unit, goal: goal ?? null });
}

const bare = ({ script, bytes }) => bytes / 1e6 / Number(execFileSync("target/release/bench", ["pty", script], { encoding: "utf8" }));

/** The middle of the turns, each number by itself, and all of them for who wants to look. */
function echoRows(what, [a, b], goals) {
  for (const by of ["p50", "p99"]) {
    row(`${what}, ${by}, beside sshx`, middle(a, by), middle(b, by), "ms", goals[by]);
    const turns = (of) => of.map((turn) => Number(turn[by].toFixed(2)));
    rows.at(-1).turns = { ours: turns(a), baseline: turns(b) };
    console.log(`  in turns: ours ${turns(a).join(" ")}; sshx ${turns(b).join(" ")}`);
  }
}

/** What can be measured, by its name. */
const parts = {
  async echo(programs) {
    const turns = await inTurns([ours, sshx], folder, TURNS.echo, programs.echo, (peer) => measure.quietEcho(peer, programs.echo, KEYS));
    echoRows("echo", turns, { p50: { ratio_at_most: 1 }, p99: { ratio_at_most: 1 } });
  },

  async flood(programs) {
    const turns = await inTurns([ours, sshx], folder, TURNS.echo, programs.either, (peer) => measure.loadedEcho(peer, programs.either, KEYS));
    echoRows("echo while another session floods", turns, { p99: { ratio_at_most: 1 / 3 } });
  },

  async output(programs) {
    for (const [name, program] of [["20 MB of agent output", programs.agent], ["50 MB of seq", programs.lines]]) {
      const alone = [];
      const turns = await inTurns([ours, sshx], folder, TURNS.output, program.script, (peer) => measure.flood(peer, program), () => alone.push({ rate: bare(program) }));
      const [x, y, z] = [...turns, alone].map((of) => (by) => middle(of, by));
      row(`${name} to a watcher's screen, beside sshx`, x("rate"), y("rate"), "MB/s", { ratio_at_least: 1.2 });
      row(`${name}, beside a bare read loop that shows nobody`, x("rate"), z("rate"), "MB/s", { ratio_at_least: 0.8 });
      row(`${name}, processor of hub and runner, beside sshx`, x("cpuPerMb"), y("cpuPerMb"), "ms/MB");
      row(`${name}, share that the watcher got as bytes`, x("share"), y("share"), "%");
      row(`${name}, screens that it got instead of the rest`, x("snapshots"), null, "");
    }
  },

  async gigabyte(programs) {
    await on(ours, folder, null, async (peer) => {
      const { grown, stopped } = await measure.gigabyte(peer, programs.gigabyte, programs.endless);
      for (const [who, bytes] of Object.entries(grown)) row(`1 GB of output, memory that the ${who} took in addition`, bytes / 1e6, null, "MB", { at_most: 8 });
      row("Ctrl-C while output floods, until the session is over", stopped, null, "ms", { at_most: 1000 });
    });
  },

  async join(programs) {
    const [[e], [f]] = await inTurns([ours, sshx], folder, 1, programs.history, (peer) => measure.join(peer, programs.history, 20));
    row("join with 100 MB of history, p50, beside sshx", e.p50, f?.p50 ?? null, "ms", { at_most: 10 });
    row("join with 100 MB of history, most bytes, beside sshx", e.bytes / 1000, f ? f.bytes / 1000 : null, "kB", { at_most: 16 });
  },

  async idle(programs) {
    await on(ours, folder, null, async (peer) => {
      const cost = await measure.idle(peer, programs.nothing, 50, 20);
      row("50 sessions that nobody watches, hub and runner", cost.share, null, "% of core", { at_most: 2 });
      const hosts = fs.readdirSync(path.join(peer.folder, "sessions")).map((name) => Number(fs.readFileSync(path.join(peer.folder, "sessions", name, "host.pid"), "utf8")));
      row("memory of a session's host, most", Math.max(...hosts.map((pid) => used(pid).rss)) / 1e6, null, "MB", { at_most: 12 });
      row("memory of the runner with them", used(peer.pids.runner).rss / 1e6, null, "MB");
      row("memory of the hub with them", used(peer.pids.hub).rss / 1e6, null, "MB");
    });
  },
};

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(name in parts));
if (unknown) {
  console.error(`there is no part ${unknown}: say some of ${Object.keys(parts).join(", ")}, or nothing for all`);
  process.exit(2);
}
try {
  const programs = corpus.write(folder);
  console.log(`\nTerminals, two hops\n${"".padEnd(58)} ${"ours".padStart(10)} ${"baseline".padStart(10)} ${"unit".padEnd(10)} ${"ratio".padStart(8)}`);
  for (const name of asked.length ? asked : Object.keys(parts)) await parts[name](programs);
  for (const stall of stalls) console.log(stall);
  const file = `bench/results/${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}-terminals.json`;
  fs.writeFileSync(file, JSON.stringify({ rows, stalls }, null, 2));
  console.log(`written to ${file}`);
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
