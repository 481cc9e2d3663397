// pg-boss: enqueue one by one, complete N at once, then measure how long a job waits on an idle queue.
import { PgBoss } from 'pg-boss';

const [connectionString, count, concurrency, mode] = process.argv.slice(2);
const [jobs, workers, batch] = [Number(count), Number(concurrency), mode === 'batched' ? 100 : 1];
const options = { connectionString, max: workers + 4, supervise: false, schedule: false, useListenNotify: true };
const boss = new PgBoss(options);
boss.on('error', (error) => console.error(error));
await boss.start();
await boss.createQueue('noop', { notify: true });
const work = { localConcurrency: workers, pollingIntervalSeconds: 0.5 };
if (mode === 'idle') {
  await boss.work('noop', work, async () => {});
  console.log('ready');
  await new Promise(() => {});
}
const begun = performance.now();
let next = 0;
const add = async () => {
  while (next < jobs) await boss.send('noop', { i: next++ });
};
await Promise.all(Array.from({ length: workers }, add));
const enqueue = jobs / ((performance.now() - begun) / 1000);

const from = performance.now();
if (batch === 1) {
  // One by one its workers wait for their polling interval between jobs: fetch and complete without it.
  const one = async () => {
    for (;;) {
      const [job] = await boss.fetch('noop');
      if (!job) return;
      await boss.complete('noop', job.id);
    }
  };
  await Promise.all(Array.from({ length: workers }, one));
} else {
  let done = 0;
  let finish;
  const finished = new Promise((resolve) => (finish = resolve));
  await boss.work('noop', { ...work, batchSize: batch, burstWhenBatchFull: true }, async (taken) => {
    done += taken.length;
    if (done >= jobs) finish();
  });
  await finished;
  // Begun is not completed: what was taken is handed back, and counts, later.
  const left = `select 1 from pgboss.job where name = 'noop' and state <> 'completed' limit 1`;
  while ((await boss.getDb().executeSql(left)).rows.length > 0);
}
const complete = jobs / ((performance.now() - from) / 1000);
await boss.offWork('noop').catch(() => {});

const waits = [];
let started;
await boss.createQueue('wait', { notify: true });
await boss.work('wait', { localConcurrency: 2, pollingIntervalSeconds: 0.5 }, async ([job]) => {
  waits.push(performance.now() - job.data.at);
  started();
});
await new Promise((resolve) => setTimeout(resolve, 1500));
for (let i = 0; i < 200; i++) {
  const start = new Promise((resolve) => (started = resolve));
  await boss.send('wait', { at: performance.now() });
  await start;
  await new Promise((resolve) => setTimeout(resolve, 10));
}
console.log(JSON.stringify({ enqueue, complete, waits }));
process.exit(0);
