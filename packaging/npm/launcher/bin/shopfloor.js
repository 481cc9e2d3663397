#!/usr/bin/env node
// Starts the program of the package for this platform.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `shopfloor-${process.platform}-${process.arch}`;

function program() {
  try {
    return require.resolve(`${platform}/bin/shopfloor`);
  } catch {
    console.error(
      `error: the package ${platform} is not installed.\n` +
        "  Shopfloor has npm packages for linux-x64; elsewhere, build it from source.\n" +
        "  If this is linux-x64, install again without --omit=optional.",
    );
    process.exit(1);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
// Ctrl-C reaches the program from the terminal; it decides when to end. Other signals reach only this process.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP", "SIGQUIT"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: could not start ${child.spawnfile}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
