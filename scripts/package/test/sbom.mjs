#!/usr/bin/env node
// The bill of materials is CycloneDX, names the program that was packed, and lists what is in it: crates as Cargo.lock
// has them, and each crate whose source the program itself names.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const out = "target/package";
const program = "target/package-stage/bin/shopfloor";
const [name, ...more] = readdirSync(out).filter((one) => one.endsWith(".cdx.json"));
assert.ok(name && more.length === 0, "there is one bill of materials");
const bom = JSON.parse(readFileSync(`${out}/${name}`, "utf8"));

assert.equal(bom.bomFormat, "CycloneDX");
assert.equal(bom.specVersion, "1.5");
assert.ok(Number.isInteger(bom.version) && bom.version >= 1);
assert.ok(!Number.isNaN(Date.parse(bom.metadata.timestamp)));
const root = bom.metadata.component;
assert.equal(root.type, "application");
const version = execFileSync(program, ["--version"], { encoding: "utf8" }).trim();
assert.equal(`${root.name} ${root.version}`, version);

const refs = new Set([root["bom-ref"]]);
for (const one of bom.components) {
  assert.equal(one.type, "library", one.name);
  for (const field of ["bom-ref", "name", "version"]) assert.ok(one[field], `${one.name} has its ${field}`);
  assert.ok(!refs.has(one["bom-ref"]), `${one["bom-ref"]} is there once`);
  refs.add(one["bom-ref"]);
  for (const licence of one.licenses) assert.ok(licence.expression, `the licence of ${one.name}`);
  for (const hash of one.hashes ?? []) assert.match(`${hash.alg} ${hash.content}`, /^SHA-256 [0-9a-f]{64}$/);
}
for (const one of bom.dependencies)
  for (const ref of [one.ref, ...one.dependsOn]) assert.ok(refs.has(ref), `${ref} is a component`);

const locked = new Map();
for (const block of readFileSync("Cargo.lock", "utf8").split("[[package]]")) {
  const field = (key) => new RegExp(`^${key} = "(.*)"$`, "m").exec(block)?.[1];
  if (field("source")) locked.set(`${field("name")}-${field("version")}`, field("checksum"));
}
const crates = new Map(
  bom.components.filter((one) => one.purl?.startsWith("pkg:cargo/")).map((one) => [`${one.name}-${one.version}`, one]),
);
for (const [key, one] of crates) {
  assert.ok(locked.has(key), `${key} is in Cargo.lock`);
  assert.equal(one.hashes?.[0]?.content, locked.get(key), `the checksum of ${key}`);
}
for (const one of ["proptest", "testkit"])
  assert.ok(!bom.components.some((each) => each.name === one), `${one} is only for tests`);

// Messages of panics name their source, after the folder of the registry.
const text = readFileSync(program).toString("latin1");
const named = new Set([...text.matchAll(/registry\/src\/[^/\s]+\/([A-Za-z0-9_-]+-\d+\.\d+\.\d+[^/\s]*)\//g)].map((one) => one[1]));
assert.ok(named.size > 50, `the program names the sources of ${named.size} crates`);
for (const key of named) assert.ok(crates.has(key), `${key} is in the program, so it is in the bill of materials`);

// The page is in the program, too.
const page = JSON.parse(readFileSync("web/package-lock.json", "utf8")).packages;
for (const one of ["svelte", "@xterm/xterm"])
  assert.ok(
    bom.components.some((each) => each.name === one && each.version === page[`node_modules/${one}`].version),
    `${one} of the page`,
  );
console.log(`ok sbom: ${crates.size} crates, ${named.size} of them named by the program itself`);
