import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importsOf, sources, wrongImport, wrongImports } from "./layers.mjs";

const root = join(import.meta.dirname, "../src");
const ours = sources(root).filter((path) => !path.includes("/protocol/") && !path.endsWith(".test.ts"));

describe("layers", () => {
  it("hold for every import", () => {
    expect(ours.length).toBeGreaterThan(50);
    expect(wrongImports(root)).toEqual([]);
  });

  it("reject an import from a higher layer", () => {
    expect(wrongImport("state/hub/apply.ts", "ui/Icon.svelte")).toContain("state is below ui");
    expect(wrongImport("link/socket.ts", "state/hub/floor")).toContain("link is below state");
    expect(wrongImport("features/chat/Chat.svelte", "app/Shell.svelte")).toContain("features is below app");
  });

  it("keep the product out of ui and lib", () => {
    expect(wrongImport("ui/Problem.svelte", "protocol")).toContain("knows nothing of the product");
    expect(wrongImport("ui/Time.svelte", "state/hub/floor")).toContain("knows nothing of the product");
    expect(wrongImport("ui/Time.svelte", "link/http")).toContain("knows nothing of the product");
    expect(wrongImport("lib/time.ts", "protocol")).toContain("lib is below protocol");
    expect(wrongImport("ui/Time.svelte", "lib/time")).toBeNull();
  });

  it("reject an import from another feature, except from features/shared", () => {
    expect(wrongImport("features/shared/work/TaskLink.svelte", "features/tasks/Card.svelte")).toContain(
      "do not know each other",
    );
    expect(wrongImport("features/chat/Chat.svelte", "features/shared/work/TaskLink.svelte")).toBeNull();
    expect(wrongImport("features/chat/Chat.svelte", "features/floor/Floor.svelte")).toContain(
      "do not know each other",
    );
    expect(wrongImport("features/chat/Chat.svelte", "features/chat/Composer.svelte")).toBeNull();
  });

  it("apply to every form of import", () => {
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

  it("takes its spacing from the scale in ui/tokens.css", () => {
    const spacing = /^\s*(?:row-|column-)?(?:gap|padding|margin)[a-z-]*:[^;]*;/gm;
    for (const path of ours.filter((one) => one.endsWith(".svelte"))) {
      const wrong = [...readFileSync(path, "utf8").matchAll(spacing)]
        .map(([text]) => text.trim())
        // A hairline, an overlap and the offset of a dialog are no steps of the scale.
        .filter((text) => /(?<![\d-])(?!1px)\d+px/.test(text.replaceAll(/(?:calc|min)\([^;]*\)/g, "")));
      expect(wrong, path).toEqual([]);
    }
  });

  it("has nothing inline in the page itself", () => {
    const page = readFileSync(join(root, "../index.html"), "utf8");
    expect(page).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=/);
  });
});
