import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** The texts of a page. The hub embeds only their compressed forms; crates/hub/src/http/page.rs has the same list. */
const TEXTS = /\.(?:js|css|html|svg|json|webmanifest|txt)$/;

/** Writes a Brotli and a gzip form beside every text of the built page. */
export function compress(): Plugin {
  let dist = "dist";
  return {
    name: "compress",
    apply: "build",
    configResolved: (config) => void (dist = join(config.root, config.build.outDir)),
    closeBundle: () => {
      for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (!entry.isFile() || !TEXTS.test(path)) continue;
        const text = readFileSync(path);
        const params = {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
        };
        writeFileSync(`${path}.br`, brotliCompressSync(text, { params }));
        writeFileSync(`${path}.gz`, gzipSync(text, { level: 9 }));
      }
    },
  };
}
