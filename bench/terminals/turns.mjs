// Peers by turns, each started fresh; one of another that stalls costs its turn, not the run.
import fs from "node:fs";
import path from "node:path";
import { endAll } from "./processes.mjs";
import * as ours from "./ours.mjs";

/** How long a turn may take, and how often one is tried again that a peer did not finish. */
const PATIENCE = 60_000;
const TRIES = 3;

/** What stalled, in words, for the results. */
export const stalls = [];

/** Measures one peer, started fresh and ended afterwards. */
export async function on(peer, folder, program, work, patience = 300_000) {
  const place = fs.mkdtempSync(path.join(folder, "peer-"));
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not finish in ${patience / 1000} s`)), patience);
  });
  let started;
  const measured = (async () => work((started = await peer.start(place, program))))();
  // What comes of it after its time is of no interest.
  measured.catch(() => {});
  try {
    return await Promise.race([measured, late]);
  } finally {
    clearTimeout(timer);
    await started?.end();
    await endAll();
  }
}

/**
 * Measures peers one after the other, and again, `turns` times; returns the turns of each. We have to finish every turn.
 * A peer that does not is tried again, and goes without that turn if it never does.
 */
export async function inTurns(peers, folder, turns, program, work, alone = () => {}) {
  const runs = peers.map(() => []);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [who, peer] of peers.entries()) {
      if (peer === ours) runs[who].push(await on(peer, folder, program, work, PATIENCE));
      else await patiently(`${peer.name}, turn ${turn + 1} of ${turns}`, async () => runs[who].push(await on(peer, folder, program, work, PATIENCE)));
    }
    alone();
  }
  return runs;
}

async function patiently(which, work) {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      stalls.push(`${which}, ${attempt < TRIES ? "was begun again" : "was left out"}: ${error.message}`);
    }
  }
}

/** The middle of the turns by one number; nothing if there were none. */
export function middle(turns, by) {
  if (turns.length === 0) return null;
  const sorted = turns.map((turn) => turn[by]).toSorted((one, other) => one - other);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}
