import { describe, expect, it } from "vitest";
import { Failure } from "../../lib/failure";
import type { SearchHit, SearchResults } from "../../protocol";
import { Finder } from "./finder.svelte";

const hit = (id: string): SearchHit => ({
  kind: "task",
  id,
  project: "prj_1",
  project_name: "Parser",
  title: [{ text: id, hit: true }],
  snippet: [],
  open: true,
  at: "2026-01-01T00:00:00Z",
});

/** A hub that answers when the test says so. */
function hub() {
  const asked = new Map<string, (answer: SearchResults | Failure) => void>();
  const search = (text: string) =>
    new Promise<SearchResults>((resolve, reject) => {
      asked.set(text, (answer) => (answer instanceof Failure ? reject(answer) : resolve(answer)));
    });
  const answer = async (text: string, value: SearchResults | Failure) => {
    await expect.poll(() => asked.has(text), { interval: 1 }).toBe(true);
    asked.get(text)?.(value);
    await Promise.resolve();
  };
  return { search, answer, asked };
}

describe("Finder", () => {
  it("ignores an answer to an earlier text", async () => {
    const { search, answer, asked } = hub();
    const finder = new Finder(search, 0);
    finder.ask("de");
    await expect.poll(() => asked.has("de"), { interval: 1 }).toBe(true);
    finder.ask("deploy");
    await answer("deploy", { hits: [hit("deploy")], truncated: false });
    await expect.poll(() => finder.busy, { interval: 1 }).toBe(false);
    await answer("de", { hits: [hit("deadline")], truncated: true });
    await Promise.resolve();
    expect(finder.hits.map((one) => one.id)).toEqual(["deploy"]);
    expect(finder.truncated).toBe(false);
  });

  it("asks once for what is typed within the pause", async () => {
    const { search, answer, asked } = hub();
    const finder = new Finder(search, 1);
    for (const text of ["d", "de", "dep"]) finder.ask(text);
    await answer("dep", { hits: [hit("deploy")], truncated: false });
    await expect.poll(() => finder.hits.length, { interval: 1 }).toBe(1);
    expect([...asked.keys()]).toEqual(["dep"]);
  });

  it("counts the runners that did not answer", async () => {
    const finder = new Finder<string>(
      () => Promise.resolve({ hits: ["a"], truncated: true, unanswered: 2 }),
      0,
    );
    finder.ask("dep");
    await expect.poll(() => finder.hits, { interval: 1 }).toEqual(["a"]);
    expect([finder.truncated, finder.unanswered]).toEqual([true, 2]);
    finder.ask("");
    expect([finder.hits.length, finder.unanswered]).toEqual([0, 0]);
  });

  it("shows nothing for an empty text, and the problem of the current one", async () => {
    const { search, answer } = hub();
    const finder = new Finder(search, 0);
    finder.ask("dep");
    await answer("dep", { hits: [hit("deploy")], truncated: false });
    await expect.poll(() => finder.hits.length, { interval: 1 }).toBe(1);
    finder.ask(" ");
    expect([finder.hits.length, finder.busy]).toEqual([0, false]);
    finder.ask("x");
    await answer("x", new Failure({ kind: "unavailable", status: 503, detail: "gone" }));
    await expect.poll(() => finder.problem?.detail, { interval: 1 }).toBe("gone");
  });
});
