// Shopfloor: a hub, a runner, and watchers over the real protocol.
import fs from "node:fs";
import path from "node:path";
import WebSocket from "ws";
import { freePort, rest, run, until } from "./processes.mjs";

const SHOPFLOOR = path.resolve("target/release/shopfloor");
const [SNAPSHOT, DATA, EXIT, INPUT, CREDIT] = [1, 2, 3, 4, 5];

export const name = "shopfloor";

export async function start(folder) {
  const port = await freePort();
  const data = path.join(folder, "hub");
  const hub = run(SHOPFLOOR, ["serve", "--data-dir", data, "--listen", `127.0.0.1:${port}`]);
  const url = `http://127.0.0.1:${port}`;
  await until("the hub answers", () => hub.log.includes("shopfloor is up"));
  const token = fs.readFileSync(path.join(data, "token"), "utf8").trim();
  const ask = async (method, at, body) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(url + at, { method, headers, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${at}: ${answer.status} ${await answer.text()}`);
    return answer.status === 204 ? null : answer.json();
  };
  const made = await ask("POST", "/api/runners", { name: "bench" });
  const secret = path.join(folder, "runner-token");
  fs.writeFileSync(secret, made.secret, { mode: 0o600 });
  const place = path.join(folder, "runner");
  const runner = run(SHOPFLOOR, ["runner", "--hub", url, "--token-file", secret, "--name", "bench", "--data-dir", place, "--capacity", "200"]);
  await until("the runner is connected", async () => (await ask("GET", "/api/runners"))[0].connected);
  const project = await ask("POST", "/api/projects", { content: "bench" });
  const sessions = [];

  return {
    pids: { hub: hub.pid, runner: runner.pid },
    folder: place,
    host: (session) => Number(fs.readFileSync(path.join(place, "sessions", session, "host.pid"), "utf8")),
    /** Starts a program in a terminal of its own. */
    async spawn(argv) {
      const session = await ask("POST", "/api/sessions", { project: project.id, agent: "command", argv, cols: 80, rows: 24 });
      sessions.push(session.id);
      await until("the session runs", async () => (await ask("GET", `/api/sessions/${session.id}`)).session.state.status !== "starting");
      return session.id;
    },
    connect: (session, onData) => connect(url, token, session, onData),
    async end() {
      for (const session of sessions) await ask("POST", `/api/sessions/${session}/stop`, { force: true });
      await until("every session ended", async () => (await ask("GET", "/api/sessions")).length === 0);
    },
  };
}

async function connect(url, token, session, onData) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/ws`, { headers: { authorization: `Bearer ${token}` }, perMessageDeflate: false });
  const watcher = { frames: 0, snapshots: 0, bytes: 0, ended: false, socket };
  const frame = (kind, offset, bytes = Buffer.alloc(0)) => {
    const head = Buffer.alloc(13);
    head[0] = kind;
    head.writeUInt32BE(1, 1);
    head.writeBigUInt64BE(offset, 5);
    return Buffer.concat([head, bytes]);
  };
  const live = new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("message", (message, binary) => {
      if (!binary) {
        const said = JSON.parse(message);
        if (said.type === "live") resolve();
        if (said.type === "unwatched") throw new Error(said.problem.detail);
        return;
      }
      watcher.frames += 1;
      watcher.bytes += message.length;
      const offset = message.readBigUInt64BE(5);
      if (message[0] === DATA) {
        const bytes = message.subarray(13);
        onData(bytes);
        socket.send(frame(CREDIT, offset + BigInt(bytes.length)));
      } else if (message[0] === SNAPSHOT) {
        watcher.snapshots += 1;
        onData(message.subarray(19 + message.readUInt16BE(17)));
        socket.send(frame(CREDIT, offset));
      } else if (message[0] === EXIT) watcher.ended = true;
      else throw new Error(`an unknown frame: ${message[0]}`);
    });
  });
  await new Promise((resolve) => socket.on("open", resolve));
  socket.send(JSON.stringify({ type: "hello", protocol: 1 }));
  await live;
  watcher.watch = () => socket.send(JSON.stringify({ type: "watch", channel: 1, session }));
  watcher.watch();
  watcher.send = (text) => socket.send(frame(INPUT, 0n, Buffer.from(text)));
  watcher.close = () => socket.terminate();
  await rest(0);
  return watcher;
}
