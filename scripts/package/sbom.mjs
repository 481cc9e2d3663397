#!/usr/bin/env node
// Prints a bill of materials (CycloneDX 1.5): the crates that cargo links for the target, and the page's packages.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const [version, target] = process.argv.slice(2);
const cargo = (...args) => execFileSync("cargo", args, { encoding: "utf8", maxBuffer: 1 << 28 });
const metadata = JSON.parse(
  cargo("metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", target),
);
const packages = new Map(metadata.packages.map((one) => [one.id, one]));
const nodes = new Map(metadata.resolve.nodes.map((one) => [one.id, one]));

// Cargo.lock has the checksum of every crate.
const sums = new Map();
for (const block of readFileSync("Cargo.lock", "utf8").split("[[package]]")) {
  const field = (name) => new RegExp(`^${name} = "(.*)"$`, "m").exec(block)?.[1];
  if (field("checksum")) sums.set(`${field("name")} ${field("version")}`, field("checksum"));
}

// Only what is linked: `cargo tree` knows which features are on, which metadata of a workspace does not.
const linked = new Set(
  cargo("tree", "-p", "shopfloor", "-e", "normal", "--target", target, "--prefix", "none", "--format", "{p}", "--locked", "--offline")
    .split("\n")
    .map((line) => /^(\S+) v(\S+)/.exec(line))
    .filter(Boolean)
    .map(([, name, number]) => `${name} ${number}`),
);
const key = (one) => `${one.name} ${one.version}`;
const ref = (one) => `pkg:cargo/${one.name}@${one.version}`;
const crates = [...packages.values()].filter((one) => linked.has(key(one)));
const ours = (one) => one.source === null;

const licence = (expression) => (expression ? [{ expression: expression.replaceAll("/", " OR ") }] : []);
const components = crates
  .filter((one) => one.name !== "shopfloor")
  .map((one) => ({
    type: "library",
    "bom-ref": ref(one),
    name: one.name,
    version: one.version,
    licenses: licence(one.license),
    ...(ours(one) ? {} : { purl: ref(one) }),
    ...(sums.has(key(one)) ? { hashes: [{ alg: "SHA-256", content: sums.get(key(one)) }] } : {}),
  }));

const page = JSON.parse(readFileSync("web/package-lock.json", "utf8"));
const manifest = page.packages[""];
// Of what the page is built with, Svelte's runtime is part of it.
const wanted = ["svelte", ...Object.keys(manifest.dependencies ?? {})];
const npm = new Map();
for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
  const one = page.packages[`node_modules/${name}`];
  if (!one || npm.has(name)) continue;
  npm.set(name, {
    type: "library",
    "bom-ref": `pkg:npm/${name.replace("@", "%40")}@${one.version}`,
    name,
    version: one.version,
    licenses: licence(one.license),
    purl: `pkg:npm/${name.replace("@", "%40")}@${one.version}`,
  });
  wanted.push(...Object.keys(one.dependencies ?? {}));
}

const known = new Set(crates.map((one) => one.id));
const root = crates.find((one) => one.name === "shopfloor");
const dependencies = crates.map((one) => ({
  ref: ref(one),
  dependsOn: [
    ...nodes
      .get(one.id)
      .deps.filter((dep) => known.has(dep.pkg) && dep.dep_kinds.some((kind) => kind.kind === null))
      .map((dep) => ref(packages.get(dep.pkg))),
    ...(one === root ? [...npm.values()].map((dep) => dep["bom-ref"]) : []),
  ].sort(),
}));

const stamp = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000).toISOString();
const bom = {
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: {
    timestamp: stamp,
    component: { type: "application", "bom-ref": ref(root), name: "shopfloor", version, licenses: licence("Apache-2.0") },
  },
  components: [...components, ...npm.values()].sort((a, b) => a["bom-ref"].localeCompare(b["bom-ref"])),
  dependencies: dependencies.sort((a, b) => a.ref.localeCompare(b.ref)),
};
process.stdout.write(`${JSON.stringify(bom, null, 1)}\n`);
