import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf, sources, wrongImport, wrongImports } from "./layers.mjs";

const root = join(import.meta.dirname, "../src");
const ours = sources(root).filter((path) => !path.includes("/protocol/") && !path.endsWith(".test.ts"));

describe("layers", () => {
  it("are kept by every import", () => {
    expect(ours.length).toBeGreaterThan(50);
    expect(wrongImports(root)).toEqual([]);
  });

  it("are broken by an import that points down", () => {
    expect(wrongImport("state/apply.ts", "ui/Icon.svelte")).toContain("state is below ui");
    expect(wrongImport("link/socket.ts", "state/floor")).toContain("link is below state");
    expect(wrongImport("features/chat/Chat.svelte", "app/Shell.svelte")).toContain("features is below app");
  });

  it("are broken by one feature that imports another", () => {
    expect(wrongImport("features/chat/Chat.svelte", "features/floor/Floor.svelte")).toContain(
      "do not know each other",
    );
    expect(wrongImport("features/chat/Chat.svelte", "features/chat/Composer.svelte")).toBeNull();
  });

  it("sees every way to import", () => {
    const text = `import a from "../ui/a"; import("../app/b"); import "./c.css"; export * from '../../x';`;
    expect(importsOf("/r", "/r/state/f.ts", text)).toEqual(["ui/a", "app/b", "state/c.css", "../x"]);
  });
});

describe("markup", () => {
  const FORBIDDEN = [
    /\{@html/,
    /innerHTML/,
    /outerHTML/,
    /insertAdjacentHTML/,
    /document\.write/,
    /\beval\(/,
    /new Function\(/,
    /srcdoc/,
  ];

  it("is never made from text", () => {
    for (const path of ours) {
      const text = readFileSync(path, "utf8");
      for (const pattern of FORBIDDEN) expect(pattern.test(text), `${path} has ${pattern}`).toBe(false);
    }
  });

  it("has no style attribute, which the content security policy would drop", () => {
    for (const path of ours.filter((one) => one.endsWith(".svelte"))) {
      expect(/\sstyle=/.test(readFileSync(path, "utf8")), path).toBe(false);
    }
  });

  it("has nothing inline in the page itself", () => {
    const page = readFileSync(join(root, "../index.html"), "utf8");
    expect(page).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=/);
  });
});
