import { describe, expect, it } from "vitest";
import { Failure } from "../lib/failure";
import { Fetched } from "./request.svelte";

/** A source whose answers the test resolves in any order. */
function asked() {
  const open: { answer: (value: string) => void; refuse: (detail: string) => void }[] = [];
  const read = () =>
    new Promise<string>((resolve, reject) => {
      open.push({
        answer: resolve,
        refuse: (detail) => reject(new Failure({ kind: "unavailable", status: 503, detail })),
      });
    });
  const at = async (index: number) => {
    await expect.poll(() => open.length, { interval: 1 }).toBeGreaterThan(index);
    return open[index] as (typeof open)[number];
  };
  return { read, at };
}

describe("Fetched", () => {
  it("ignores an older answer that arrives later", async () => {
    const hub = asked();
    const fetched = new Fetched(hub.read);
    const both = [fetched.load(), fetched.load()];
    (await hub.at(1)).answer("the last hour");
    await both[1];
    expect(fetched.value).toBe("the last hour");
    (await hub.at(0)).answer("the last 30 days");
    await both[0];
    expect(fetched.value).toBe("the last hour");
  });

  it("ignores the error of an older request", async () => {
    const hub = asked();
    const fetched = new Fetched(hub.read);
    const both = [fetched.load(), fetched.load()];
    (await hub.at(1)).answer("new");
    (await hub.at(0)).refuse("too slow");
    await Promise.all(both);
    expect([fetched.value, fetched.problem]).toEqual(["new", null]);
  });

  it("keeps the error of the latest request when an older answer arrives later", async () => {
    const hub = asked();
    const fetched = new Fetched(hub.read);
    const both = [fetched.load(), fetched.load()];
    (await hub.at(1)).refuse("gone");
    (await hub.at(0)).answer("old");
    await Promise.all(both);
    expect([fetched.value, fetched.problem?.detail]).toEqual([null, "gone"]);
  });

  it("shows an older answer until a newer one arrives", async () => {
    const hub = asked();
    const fetched = new Fetched(hub.read);
    const both = [fetched.load(), fetched.load()];
    (await hub.at(0)).answer("old");
    await both[0];
    expect([fetched.busy, fetched.value]).toEqual([true, "old"]);
    (await hub.at(1)).answer("new");
    await both[1];
    expect([fetched.busy, fetched.value]).toEqual([false, "new"]);
  });

  it("is not busy after the latest answer, while an older one is pending", async () => {
    const hub = asked();
    const fetched = new Fetched(hub.read);
    void fetched.load();
    const newest = fetched.load();
    (await hub.at(1)).answer("new");
    await newest;
    expect(fetched.busy).toBe(false);
  });

  it("fetches again after an action, even if a request was sent meanwhile", async () => {
    const hub = asked();
    const fetched = new Fetched(hub.read);
    let done: () => void = () => undefined;
    const after = fetched.after(() => new Promise<void>((resolve) => (done = resolve)));
    const meanwhile = fetched.load();
    // Answers may arrive in any order.
    const before = await hub.at(0);
    done();
    (await hub.at(1)).answer("without it");
    await after;
    before.answer("with it");
    await meanwhile;
    expect(fetched.value).toBe("without it");
  });

  it("keeps the error of an action, even if a request was sent meanwhile", async () => {
    const hub = asked();
    const fetched = new Fetched(hub.read);
    let fail: (thrown: Error) => void = () => undefined;
    const after = fetched.after(() => new Promise<void>((_, reject) => (fail = reject)));
    const meanwhile = fetched.load();
    fail(new Error("it may not be removed"));
    await after;
    (await hub.at(0)).answer("as before");
    await meanwhile;
    expect([fetched.value, fetched.problem?.detail]).toEqual(["as before", "it may not be removed"]);
    expect(fetched.busy).toBe(false);
  });

  it("does not show the value of another subject", async () => {
    const hub = asked();
    let hours = 720;
    const fetched = new Fetched(hub.read, () => hours);
    const first = fetched.load();
    (await hub.at(0)).answer("the last 30 days");
    await first;
    expect(fetched.value).toBe("the last 30 days");
    const again = fetched.load();
    hours = 1;
    const last = fetched.load();
    expect(fetched.value).toBeNull();
    (await hub.at(1)).answer("the last 30 days, again");
    await again;
    expect([fetched.busy, fetched.value]).toEqual([true, null]);
    (await hub.at(2)).answer("the last hour");
    await last;
    expect([fetched.busy, fetched.value]).toEqual([false, "the last hour"]);
  });
});
