// sshx: its server, its client, and watchers over its own protocol (CBOR, AES-CTR by position).
import crypto from "node:crypto";
import net from "node:net";
import path from "node:path";
import { Encoder } from "cbor-x";
import { argon2id } from "hash-wasm";
import WebSocket from "ws";
import { freePort, run, until } from "./processes.mjs";

const TOOLS = path.resolve("target/tools/bin");
const SALT = "This is a non-random salt for sshx.io, since we want to stretch the security of 83-bit keys!";

export const name = "sshx";

/** All shells of one sshx client run the same program: it is given at the start. */
export async function start(_folder, program) {
  const port = await freePort();
  const server = run(path.join(TOOLS, "sshx-server"), ["--listen", "127.0.0.1", "--port", String(port)]);
  await until("sshx-server listens", () => listens(port));
  const client = run(path.join(TOOLS, "sshx"), ["--server", `http://127.0.0.1:${port}`, "--shell", program, "--quiet"]);
  const link = await until("sshx says its link", () => client.log.match(/\/s\/([A-Za-z0-9]+)#([A-Za-z0-9]+)/));
  const options = { salt: SALT, parallelism: 1, iterations: 2, memorySize: 19 * 1024, hashLength: 16, outputType: "binary" };
  const key = Buffer.from(await argon2id({ password: link[2], ...options }));
  const known = new Set();
  return {
    pids: { server: server.pid, client: client.pid },
    /** A shell that is made when somebody connects to it. */
    spawn: async () => ({ id: null }),
    connect: (shell, onData) => connect(port, link[1], key, known, shell, onData),
    end: async () => {},
  };
}

async function connect(port, name, key, known, shell, onData) {
  const cbor = new Encoder({ useRecords: false, int64AsNumber: false, mapsAsObjects: true, tagUint8Array: false });
  const cipher = (stream, offset, data) => {
    const counter = Buffer.alloc(16);
    counter.writeBigUInt64BE(stream, 0);
    counter.writeBigUInt64BE(offset >> 4n, 8);
    const stretch = crypto.createCipheriv("aes-128-ctr", key, counter);
    const skipped = Number(offset & 15n);
    if (skipped) stretch.update(Buffer.alloc(skipped));
    return stretch.update(data);
  };
  const zeros = crypto.createCipheriv("aes-128-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(16));
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/s/${name}`, { perMessageDeflate: false });
  const watcher = { frames: 0, snapshots: 0, bytes: 0, socket };
  const put = (message) => socket.send(cbor.encode(message));
  let counter = crypto.randomBytes(8).readBigUInt64BE() >> 1n;
  const subscribed = new Promise((resolve, reject) => {
    socket.on("error", reject);
    let asked = false;
    const subscribe = () => {
      put({ subscribe: [shell.id, 0] });
      resolve();
    };
    socket.on("message", (bytes) => {
      watcher.frames += 1;
      watcher.bytes += bytes.length;
      const said = cbor.decode(bytes);
      if (said.hello) put({ authenticate: [zeros, null] });
      else if (said.users && !asked) {
        asked = true;
        if (shell.id === null) put({ create: [0, 0] });
        else subscribe();
      } else if (said.shells && shell.id === null) {
        const fresh = said.shells.map((entry) => entry[0]).filter((id) => !known.has(id));
        if (fresh.length === 0) return;
        shell.id = fresh.at(-1);
        known.add(shell.id);
        subscribe();
      } else if (said.chunks) {
        let [id, sequence, chunks] = said.chunks;
        sequence = BigInt(sequence);
        for (const chunk of chunks) {
          onData(cipher(0x100000000n | BigInt(id), sequence, chunk));
          sequence += BigInt(chunk.length);
        }
      }
    });
  });
  await new Promise((resolve) => socket.on("open", resolve));
  await subscribed;
  watcher.send = (text) => {
    const bytes = Buffer.from(text);
    const offset = counter;
    counter += BigInt(bytes.length);
    put({ data: [shell.id, cipher(0x200000000n, offset, bytes), offset] });
  };
  watcher.close = () => socket.terminate();
  return watcher;
}

function listens(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => resolve(socket.destroy()));
    socket.on("error", () => resolve(false));
  });
}
