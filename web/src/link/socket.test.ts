import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FromHub, ToHub } from "../protocol";
import { backoff } from "./backoff";
import type { Connection } from "./connection";
import { Link } from "./socket";

const me = { user: null, observes: null, hub: "h", github: false, version: "0" };

class FakeSocket {
  readyState = 0;
  sent: ToHub[] = [];
  onopen?: () => void;
  onmessage?: (event: { data: string }) => void;
  onclose?: (event: { code: number }) => void;
  send(text: string) {
    this.sent.push(JSON.parse(text) as ToHub);
  }
  close() {
    this.readyState = 3;
  }
  open() {
    this.readyState = 1;
    this.onopen?.();
  }
  hear(frame: FromHub) {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  drop(code: number) {
    this.readyState = 3;
    this.onclose?.({ code });
  }
  goLive() {
    this.open();
    this.hear({ type: "welcome", protocol: 1, hub: "h", me, resumed: false });
    this.hear({ type: "live", seq: 7 });
  }
  requests() {
    return this.sent.flatMap((frame) => (frame.type === "request" ? [frame] : []));
  }
}

function setUp(options: { loggedIn?: boolean } = {}) {
  const sockets: FakeSocket[] = [];
  const states: Connection[] = [];
  let online = true;
  const link = new Link({
    url: "ws://hub/api/ws",
    open: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
    random: () => 1,
    online: () => online,
    visible: () => true,
    stillLoggedIn: () => Promise.resolve(options.loggedIn ?? true),
    resume: () => (sockets.length > 1 ? { hub: "h", since: 7 } : null),
    onFrame: () => undefined,
    onTerminal: () => undefined,
    onConnection: (connection) => states.push(connection),
  });
  link.start();
  const last = () => sockets.at(-1) as FakeSocket;
  return {
    link,
    sockets,
    states,
    last,
    phase: () => states.at(-1)?.phase,
    goOffline: () => (online = false),
  };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("the link", () => {
  it("sends hello and is live after the hub's live frame", () => {
    const { last, states } = setUp();
    last().goLive();
    expect(last().sent[0]).toEqual({ type: "hello", protocol: 1, client: "page" });
    expect(states.map((state) => state.phase)).toEqual(["connecting", "catching_up", "live"]);
  });

  it("reconnects, resumes, and reports since when it is stale", async () => {
    const { last, sockets, states, phase } = setUp();
    last().goLive();
    const lostAt = Date.now();
    last().drop(1006);
    expect(states.at(-1)).toEqual({ phase: "waiting", staleSince: lostAt, retryAt: lostAt + 500 });
    await vi.advanceTimersByTimeAsync(500);
    expect(sockets).toHaveLength(2);
    last().open();
    expect(last().sent[0]).toMatchObject({ type: "hello", hub: "h", since: 7 });
    last().hear({ type: "welcome", protocol: 1, hub: "h", me, resumed: true });
    last().hear({ type: "live", seq: 9 });
    expect(phase()).toBe("live");
  });

  it("resends an unanswered request with the same key and resolves it once", async () => {
    const { link, last } = setUp();
    last().goLive();
    const answer = link.request({ verb: "chat.send", project: "p", input: { content: "x" } });
    const [first] = last().requests();
    last().drop(1006);
    await vi.advanceTimersByTimeAsync(500);
    last().goLive();
    const [again] = last().requests();
    expect(again).toEqual(first);
    const value = { id: "m" } as never;
    last().hear({ type: "answer", id: again?.id ?? 0, answer: { kind: "message", value } });
    last().hear({ type: "answer", id: again?.id ?? 0, answer: { kind: "message", value } });
    await expect(answer).resolves.toEqual({ id: "m" });
  });

  it("queues requests until it is live", () => {
    const { link, last } = setUp();
    void link.request({ verb: "me" }).catch(() => undefined);
    last().open();
    expect(last().requests()).toHaveLength(0);
    last().hear({ type: "welcome", protocol: 1, hub: "h", me, resumed: false });
    last().hear({ type: "live", seq: 1 });
    expect(last().requests()).toHaveLength(1);
  });

  it("rejects a request with the hub's problem", async () => {
    const { link, last } = setUp();
    last().goLive();
    const answer = link.request({ verb: "project.show", project: "p" });
    const problem = { kind: "not_found", status: 404, detail: "no" } as const;
    last().hear({ type: "error", id: last().requests()[0]?.id ?? 0, problem });
    await expect(answer).rejects.toMatchObject({ problem });
  });

  it("ends when the login expires and rejects open requests", async () => {
    const { link, last, sockets, phase } = setUp();
    last().goLive();
    const answer = expect(link.request({ verb: "me" })).rejects.toThrow("login has expired");
    last().drop(4401);
    await answer;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(phase()).toBe("ended");
    expect(sockets).toHaveLength(1);
  });

  it("checks the login when a connection fails to open", async () => {
    const { last, phase } = setUp({ loggedIn: false });
    last().drop(1006);
    await vi.advanceTimersByTimeAsync(0);
    expect(phase()).toBe("ended");
  });

  it("detects a silent hub", async () => {
    const { link, last, sockets, phase } = setUp();
    last().goLive();
    void link.request({ verb: "me" }).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(18_000);
    expect(sockets.length).toBeGreaterThan(1);
    expect(phase()).not.toBe("live");
  });

  it("reconnects immediately on demand and reports when the browser is offline", async () => {
    const { link, last, sockets, phase, goOffline } = setUp();
    last().goLive();
    last().drop(1001);
    link.nudge();
    expect(sockets).toHaveLength(2);
    goOffline();
    link.networkLost();
    expect(phase()).toBe("offline");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sockets).toHaveLength(2);
  });

  it("is outdated when the hub has another protocol version", () => {
    const { last, phase } = setUp();
    last().open();
    last().hear({ type: "welcome", protocol: 2, hub: "h", me, resumed: false });
    expect(phase()).toBe("outdated");
  });

  it("reports the current page again after reconnecting", async () => {
    const { link, last } = setUp();
    last().goLive();
    link.look({ project: "p", activity: null }, true);
    last().drop(1013);
    await vi.advanceTimersByTimeAsync(500);
    last().goLive();
    expect(last().sent).toContainEqual({ type: "look", at: { project: "p", activity: null }, visible: true });
  });
});

describe("backoff", () => {
  it("doubles up to a limit, half of it random", () => {
    expect([1, 2, 3, 9].map((attempt) => backoff(attempt, () => 1))).toEqual([500, 1_000, 2_000, 20_000]);
    expect(backoff(3, () => 0)).toBe(1_000);
  });
});
