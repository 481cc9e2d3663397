// Prints the thirty slowest tests of the last runs: Rust tests from nextest's JUnit file, browser tests from Playwright's JSON.
import { existsSync, readFileSync } from "node:fs";

const COUNT = 30;
const root = new URL("..", import.meta.url);
const read = (path) => {
  const file = new URL(path, root);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
};

const junit = read("target/nextest/default/junit.xml") ?? "";
const rust = [...junit.matchAll(/<testcase name="([^"]*)" classname="([^"]*)"[^>]* time="([\d.]+)"/g)].map(
  ([, name, suite, time]) => ({ seconds: Number(time), name: `${suite} ${name}` }),
);

function* specs(suite) {
  yield* suite.specs ?? [];
  for (const inner of suite.suites ?? []) yield* specs(inner);
}
const report = JSON.parse(read("web/test-results/report.json") ?? '{"suites":[]}');
const page = [...specs(report)].map((spec) => ({
  seconds: Math.max(0, ...spec.tests.flatMap((test) => test.results.map((result) => result.duration))) / 1000,
  name: `web ${spec.file} ${spec.title}`,
}));

const all = [...rust, ...page].sort((a, b) => b.seconds - a.seconds);
if (all.length > 0) {
  console.log(`\nThe slowest ${Math.min(COUNT, all.length)} of ${all.length} tests:`);
  for (const test of all.slice(0, COUNT)) console.log(`${test.seconds.toFixed(1).padStart(6)} s  ${test.name}`);
}
