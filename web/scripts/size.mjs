// Fails when the first load has more compressed script than the budget.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const BUDGET = 150_000;
const dist = join(import.meta.dirname, "../dist");
const page = readFileSync(join(dist, "index.html"), "utf8");
const scripts = [...page.matchAll(/(?:src|href)="(\/[^"]+\.js)"/g)].map(([, path]) => path);
const sizes = scripts.map((path) => ({
  path,
  bytes: gzipSync(readFileSync(join(dist, path)), { level: 9 }).length,
}));
const total = sizes.reduce((sum, one) => sum + one.bytes, 0);

for (const one of sizes) console.log(`${String(one.bytes).padStart(8)} ${one.path}`);
console.log(
  `${String(total).padStart(8)} bytes of compressed script in the first load; the budget is ${BUDGET}`,
);
if (sizes.length === 0 || total > BUDGET) {
  console.error(sizes.length === 0 ? "No script found: run `npm run build` first." : "Over budget.");
  process.exit(1);
}
