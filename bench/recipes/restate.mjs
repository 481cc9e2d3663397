// Restate: its server in a folder of its own, a service with a handler of three steps, and N calls at once.
// Usage: restate.mjs FOLDER CALLS AT_ONCE
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as restate from '@restatedev/restate-sdk';

// Older versions of Node lack it, and the SDK uses it.
Promise.withResolvers ??= () => {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};
const [folder, count, concurrency] = process.argv.slice(2);
const [calls, atOnce] = [Number(count), Number(concurrency)];

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const [ingress, admin, service, node] = [await freePort(), await freePort(), await freePort(), await freePort()];
mkdirSync(folder, { recursive: true });
const config = join(folder, 'restate.toml');
writeFileSync(
  config,
  `cluster-name = "bench"
node-name = "n1"
bind-address = "127.0.0.1:${node}"
base-dir = ${JSON.stringify(join(folder, 'data'))}
[ingress]
bind-address = "127.0.0.1:${ingress}"
[admin]
bind-address = "127.0.0.1:${admin}"
`,
);
const three = restate.service({
  name: 'Three',
  handlers: {
    run: async (ctx, x) => {
      const a = await ctx.run('s1', () => x + 1);
      const b = await ctx.run('s2', () => a + 1);
      return await ctx.run('s3', () => b + 1);
    },
  },
});
await restate.serve({ services: [three], port: service });

// The package's own command starts this program, and would leave it behind.
const here = dirname(fileURLToPath(import.meta.url));
const packaged = `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
const log = openSync(join(folder, 'restate.log'), 'a');
const server = spawn(join(here, packaged), ['--config-file', config], {
  stdio: ['ignore', log, log],
  env: { ...process.env, DO_NOT_TRACK: '1', RESTATE_LOG_FILTER: 'error' },
});
process.on('exit', () => server.kill('SIGKILL'));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce });
const post = (port, path, body) =>
  new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = http.request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => (answer.statusCode < 300 ? resolve() : reject(new Error(`${path}: ${answer.statusCode}`))));
    });
    request.on('error', reject);
    request.end(body);
  });
const patiently = async (ask) => {
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries >= 150) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
};
await patiently(() => post(admin, '/deployments', JSON.stringify({ uri: `http://127.0.0.1:${service}` })));
await patiently(() => post(ingress, '/Three/run', '1'));

let next = 0;
const begun = performance.now();
const call = async () => {
  while (next++ < calls) await post(ingress, '/Three/run', '1');
};
await Promise.all(Array.from({ length: atOnce }, call));
console.log(JSON.stringify({ rate: calls / ((performance.now() - begun) / 1000) }));
process.exit(0);
