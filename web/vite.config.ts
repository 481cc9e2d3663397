import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { compress } from "./compress.ts";

// For `make dev`: the page with live reload in front of a running hub.
const hub = process.env.SHOPFLOOR_URL ?? "http://127.0.0.1:4720";

export default defineConfig({
  plugins: [svelte(), compress()],
  resolve: {
    alias: { entities: fileURLToPath(new URL("./src/ui/markdown/entities.ts", import.meta.url)) },
  },
  build: {
    target: "es2023",
    cssTarget: "chrome123",
    // An inlined asset would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: { "/api": { target: hub, ws: true, changeOrigin: true, headers: { Origin: hub } } },
  },
  test: {
    include: ["src/**/*.test.ts", "scripts/**/*.test.ts"],
    environment: "node",
  },
});
