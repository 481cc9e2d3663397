// graphile-worker: enqueue one by one, complete N at once, then measure how long a job waits on an idle queue.
import { Logger, makeWorkerUtils, run } from 'graphile-worker';

const [connectionString, count, concurrency, mode] = process.argv.slice(2);
const [jobs, workers, batched] = [Number(count), Number(concurrency), mode === 'batched'];
const logger = new Logger(() => () => {});
const preset = {
  worker: {
    connectionString,
    concurrentJobs: workers,
    maxPoolSize: workers + 2,
    logger,
    ...(batched ? { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } : {}),
  },
};
if (mode === 'idle') {
  await run({ preset, taskList: { noop: async () => {} } });
  console.log('ready');
  await new Promise(() => {});
}
const utils = await makeWorkerUtils({ connectionString, maxPoolSize: workers + 2, logger });
await utils.migrate();
const begun = performance.now();
let next = 0;
const add = async () => {
  while (next < jobs) await utils.addJob('noop', { i: next++ });
};
await Promise.all(Array.from({ length: workers }, add));
const enqueue = jobs / ((performance.now() - begun) / 1000);

let done = 0;
let finish;
const finished = new Promise((resolve) => (finish = resolve));
const waits = [];
let started;
const from = performance.now();
const taskList = {
  noop: async () => {
    if (++done >= jobs) finish();
  },
  wait: async (payload) => {
    waits.push(performance.now() - payload.at);
    started();
  },
};
const runner = await run({ preset, taskList });
await finished;
// Begun is not completed: batches are handed back later, and what is done is gone from the table.
const left = (client) => client.query('select 1 from graphile_worker._private_jobs limit 1');
while ((await utils.withPgClient(left)).rowCount > 0);
const complete = jobs / ((performance.now() - from) / 1000);
await new Promise((resolve) => setTimeout(resolve, 500));
for (let i = 0; i < 200; i++) {
  const start = new Promise((resolve) => (started = resolve));
  await utils.addJob('wait', { at: performance.now() });
  await start;
  await new Promise((resolve) => setTimeout(resolve, 10));
}
console.log(JSON.stringify({ enqueue, complete, waits }));
await runner.stop();
process.exit(0);
