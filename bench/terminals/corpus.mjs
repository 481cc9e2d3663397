// What the measured programs write: an agent's repainting screen, plain lines, and the scripts around them.
import fs from "node:fs";
import path from "node:path";

const E = "\x1b";
const WORDS = "Compiling Checking warning error note help fresh target debug release crate module async".split(" ");

/** Writes corpora and scripts into `folder`; returns their paths. */
export function write(folder) {
  const file = (name, content, mode) => {
    const at = path.join(folder, name);
    fs.writeFileSync(at, content, { mode });
    return at;
  };
  const agent = file("agent.bin", agentOutput(20_000_000));
  const lines = file("lines.txt", seq(50_000_000));
  const script = (name, text) => file(name, `#!/bin/sh\n${text}\n`, 0o755);
  const flood = (name, content) =>
    script(name, `stty -echo\nprintf 'READY>'\nread x\ncat ${content}\nprintf '##END##'\nexec sleep 600`);
  return {
    agent: { script: flood("agent.sh", agent), bytes: fs.statSync(agent).size },
    lines: { script: flood("lines.sh", lines), bytes: fs.statSync(lines).size },
    echo: script("echo.sh", "stty raw -echo\nprintf 'READY>'\nexec cat"),
    /** The first byte decides: `e` echoes, `f` floods for ever. */
    either: script("either.sh", `stty raw -echo\nprintf 'READY>'\nm=$(head -c 1)\nif [ "$m" = f ]; then while :; do cat ${agent}; done; fi\nexec cat`),
    history: script("history.sh", `stty -echo\nprintf 'READY>'\nread x\ncat ${lines} ${lines}\nprintf '##END##'\nexec sleep 600`),
    /** 50 MB first, then a GB. */
    gigabyte: script("gigabyte.sh", `stty -echo\nprintf 'READY>'\nread x\ncat ${lines}\nprintf '##FIRST##'\nread x\nfor turn in $(seq 15); do cat ${lines} ${agent}; done\nprintf '##END##'\nexec sleep 600`),
    endless: script("endless.sh", `stty -echo\nprintf 'READY>'\nread x\nwhile :; do cat ${agent}; done`),
    nothing: script("nothing.sh", "exec sleep 600"),
  };
}

function seq(bytes) {
  const parts = [];
  for (let size = 0, number = 1; size < bytes; number += 1) {
    const line = `${number}\n`;
    parts.push(line);
    size += line.length;
  }
  return parts.join("");
}

/** A box that is repainted in place under a transcript, as agents' screens are; the same bytes every time. */
function agentOutput(bytes) {
  let seed = 7;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  const words = (count) => Array.from({ length: count }, () => WORDS[random(WORDS.length)]).join(" ");
  const spinner = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
  const frames = [`${E}[?2004h${E}[?25l`];
  for (let size = 0, number = 1; size < bytes; number += 1) {
    let frame = `${E}[?2026h`;
    if (number > 1) frame += `${E}[2K${E}[1A`.repeat(11) + `${E}[2K${E}[G`;
    if (number % 7 === 0) frame += `${E}[38;5;208m●${E}[39m ${E}[1mBash${E}[22m(cargo test ${words(1)}) ✅\r\n  ${E}[2m⎿  ${words(8)}${E}[22m\r\n\r\n`;
    frame += `${E}[38;5;174m${spinner[number % 10]} Thinking…${E}[39m ${E}[2m(${number}s · ↑ ${random(99)}k tokens · esc to interrupt)${E}[22m\r\n\r\n`;
    frame += `${E}[38;5;244m╭${"─".repeat(76)}╮${E}[39m\r\n`;
    for (let row = 0; row < 6; row += 1) frame += `${E}[38;5;244m│${E}[39m ${E}[${31 + random(6)}m${words(6).slice(0, 72).padEnd(74)}${E}[0m ${E}[38;5;244m│${E}[39m\r\n`;
    frame += `${E}[38;5;244m╰${"─".repeat(76)}╯${E}[39m\r\n  ${E}[2m? for shortcuts${E}[22m${E}[?2026l`;
    frames.push(frame);
    size += Buffer.byteLength(frame);
  }
  return frames.join("");
}
