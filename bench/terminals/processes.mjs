// Processes that a measurement starts, what they use, and that they end.
import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";

const started = [];

/** Starts a program that ends with us; `log` is everything it printed. */
export function run(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  child.log = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (child.log += text));
  started.push(child);
  return child;
}

/** Ends everything that was started, and waits for it. */
export async function endAll() {
  for (const child of started.splice(0).reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const patience = setTimeout(() => child.kill("SIGKILL"), 5000);
    await ended;
    clearTimeout(patience);
  }
}

/** Milliseconds of processor time and bytes of memory of a process so far. */
export function used(pid) {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = (name) => Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))?.[1] ?? 0);
  return { cpu: (Number(fields[11]) + Number(fields[12])) * 10, rss: kilobytes("VmRSS") * 1024, most: kilobytes("VmHWM") * 1024 };
}

/** Asks until there is an answer. */
export async function until(reason, ask, patience = 30_000) {
  const end = Date.now() + patience;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`timed out waiting until ${reason}`);
    await rest(10);
  }
}

export const rest = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A port of this machine that nobody listens on. */
export function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
