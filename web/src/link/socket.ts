import type { Answer, Call, FromHub, Place, Problem, ToHub } from "../protocol";
import { ANSWER_KIND } from "../protocol/verbs";
import type { AnswerTo, CallOf, Verb } from "./answers";
import { backoff } from "./backoff";
import type { Connection } from "./connection";
import { Failure } from "../lib/failure";
import { OutstandingRequests } from "./outstanding";
import { decodeTerminal, type TerminalFrame } from "./terminal";

/** The protocol version that this page speaks. */
export const PROTOCOL = 1;

const ANSWER_DEADLINE_MS = 15_000;
/** Requests that the hub forwards to a runner take longer; the hub times out before the page does. */
const RUNNER_DEADLINE_MS = 40_000;
const HANDSHAKE_DEADLINE_MS = 10_000;
const QUIET_MS = 45_000;

/** Where to resume: the database and the last change seen in it. */
export type Resume = { hub: string; since: number };

/** The environment of a link; tests replace it. */
export type LinkOptions = {
  url: string;
  open?: (url: string) => WebSocket;
  now?: () => number;
  random?: () => number;
  online?: () => boolean;
  visible?: () => boolean;
  /** Whether the credential is still valid, after a connection failed to open. */
  stillLoggedIn: () => Promise<boolean>;
  resume: () => Resume | null;
  onFrame: (frame: FromHub) => void;
  onTerminal: (frame: TerminalFrame) => void;
  onConnection: (connection: Connection) => void;
};

/** A WebSocket to the hub that reconnects, resumes, and performs every request exactly once. */
export class Link {
  #options: Required<LinkOptions>;
  #socket: WebSocket | null = null;
  #requests = new OutstandingRequests();
  #connection: Connection = { phase: "connecting", staleSince: null };
  #attempt = 0;
  #staleSince: number | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watchdog: ReturnType<typeof setInterval> | undefined;
  #place: Place | null = null;
  #visible = false;
  #openedAt = 0;
  #heardAt = 0;
  #ready = false;

  constructor(options: LinkOptions) {
    this.#options = {
      open: (url) => new WebSocket(url),
      now: Date.now,
      random: Math.random,
      online: () => navigator.onLine,
      visible: () => document.visibilityState === "visible",
      ...options,
    };
  }

  /** Connects, and reconnects until `stop`. */
  start(): void {
    this.#watchdog = setInterval(() => this.#watch(), 2_000);
    this.#connect();
  }

  /** Disconnects and rejects open requests. */
  stop(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#watchdog);
    this.#drop();
    this.#requests.refuseAll(gone("The page is no longer connected."));
  }

  /** Sends a request. It waits for a connection, and is sent again with the same key after a disconnection. */
  async request<V extends Verb>(call: CallOf<V>, key: string = crypto.randomUUID()): Promise<AnswerTo<V>> {
    if (this.#connection.phase === "ended") throw new Failure(ended());
    const { request, answer } = this.#requests.add(call as Call, key);
    if (this.#ready) this.#sendRequest(request);
    const got: Answer = await answer;
    if (got.kind !== ANSWER_KIND[call.verb as V]) {
      throw new Failure({
        kind: "protocol",
        status: 0,
        detail: `The hub answered ${call.verb} with ${got.kind}. Reload the page.`,
      });
    }
    return ("value" in got ? got.value : undefined) as AnswerTo<V>;
  }

  /** Reports the current page to others, null for none, and whether somebody looks at it. */
  look(place: Place | null, visible: boolean): void {
    this.#place = place;
    this.#visible = visible;
    if (this.#ready) this.#send(lookFrame(place, visible));
  }

  /** Sends a frame without an answer; returns false without a connection. */
  tell(frame: ToHub): boolean {
    if (this.#ready) this.#send(frame);
    return this.#ready;
  }

  /** Sends a terminal frame; returns false without a connection. */
  send(bytes: Uint8Array<ArrayBuffer>): boolean {
    if (this.#ready && this.#socket?.readyState === 1) this.#socket.send(bytes);
    return this.#ready;
  }

  /** Reconnects now instead of after the delay. */
  nudge(): void {
    const { phase } = this.#connection;
    if (phase === "waiting" || phase === "offline") {
      clearTimeout(this.#timer);
      this.#connect();
    } else if (phase === "live" && this.#options.now() - this.#heardAt > 10_000) {
      this.#probe();
    }
  }

  /** Called when the browser goes offline. */
  networkLost(): void {
    if (this.#connection.phase === "ended" || this.#connection.phase === "outdated") return;
    clearTimeout(this.#timer);
    this.#drop();
    this.#become({ phase: "offline", staleSince: this.#staleSince });
  }

  #connect(): void {
    if (!this.#options.online()) return this.networkLost();
    this.#become({ phase: "connecting", staleSince: this.#staleSince });
    this.#openedAt = this.#options.now();
    const socket = this.#options.open(this.#options.url);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    let opened = false;
    socket.onopen = () => {
      opened = true;
      this.#heardAt = this.#options.now();
      const resume = this.#options.resume();
      this.#send({ type: "hello", protocol: PROTOCOL, client: "page", ...(resume ?? {}) });
    };
    socket.onmessage = (event: MessageEvent<unknown>) => {
      if (socket !== this.#socket) return;
      if (event.data instanceof ArrayBuffer) this.#hearTerminal(event.data);
      else this.#hear(String(event.data));
    };
    socket.onclose = (event: CloseEvent) => {
      if (socket === this.#socket) void this.#closed(event.code, opened);
    };
  }

  #hearTerminal(bytes: ArrayBuffer): void {
    this.#heardAt = this.#options.now();
    const frame = decodeTerminal(bytes);
    if (frame) this.#options.onTerminal(frame);
  }

  #hear(text: string): void {
    this.#heardAt = this.#options.now();
    const frame = JSON.parse(text) as FromHub;
    switch (frame.type) {
      case "answer":
        // Update the state before the caller continues.
        this.#options.onFrame(frame);
        return this.#requests.answered(frame.id, frame.answer);
      case "error":
        if (frame.id !== undefined) return this.#requests.refused(frame.id, frame.problem);
        if (frame.problem.kind === "protocol" && !this.#ready) this.#outdated();
        return;
      case "welcome":
        if (frame.protocol !== PROTOCOL) return this.#outdated();
        this.#options.onFrame(frame);
        return this.#become({ phase: "catching_up", staleSince: this.#staleSince });
      case "live":
        this.#options.onFrame(frame);
        return this.#live();
      default:
        this.#options.onFrame(frame);
    }
  }

  #live(): void {
    this.#attempt = 0;
    this.#staleSince = null;
    this.#ready = true;
    if (this.#place || this.#visible) this.#send(lookFrame(this.#place, this.#visible));
    for (const request of this.#requests.all()) this.#sendRequest(request);
    this.#become({ phase: "live" });
  }

  async #closed(code: number, opened: boolean): Promise<void> {
    this.#drop();
    if (code === 4401) return this.#end();
    if (!opened) {
      this.#become({ phase: "connecting", staleSince: this.#staleSince });
      // Browsers do not tell why a WebSocket failed to open: check the login over HTTP.
      if (!(await this.#options.stillLoggedIn().catch(() => true))) return this.#end();
      if (this.#socket) return;
    }
    if (!this.#options.online()) return this.networkLost();
    this.#attempt += code === 4429 ? 3 : 1;
    const wait = backoff(this.#attempt, this.#options.random);
    this.#become({ phase: "waiting", staleSince: this.#staleSince, retryAt: this.#options.now() + wait });
    this.#timer = setTimeout(() => this.#connect(), wait);
  }

  #end(): void {
    this.#requests.refuseAll(ended());
    this.#become({ phase: "ended", staleSince: this.#staleSince });
  }

  #outdated(): void {
    this.#drop();
    this.#requests.refuseAll(gone("This page is older than the hub. Reload the page."));
    this.#become({ phase: "outdated", staleSince: this.#staleSince });
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    this.#requests.unsend();
    if (this.#ready) this.#staleSince = this.#options.now();
    this.#ready = false;
    socket?.close();
  }

  // Pages cannot send pings: detect a dead peer by missing answers.
  #watch(): void {
    if (!this.#socket) return;
    const now = this.#options.now();
    const late = this.#requests
      .all()
      .some((open) => open.sentAt !== null && now - open.sentAt > deadline(open.call));
    const stuck = !this.#ready && now - Math.max(this.#openedAt, this.#heardAt) > HANDSHAKE_DEADLINE_MS;
    if (late || stuck) {
      void this.#closed(1006, true);
    } else if (this.#ready && this.#options.visible() && now - this.#heardAt > QUIET_MS) {
      this.#probe();
    }
  }

  #probe(): void {
    this.#heardAt = this.#options.now();
    this.request({ verb: "me" }).catch(() => undefined);
  }

  #sendRequest(request: { id: number; key: string; call: Call; sentAt: number | null }): void {
    request.sentAt = this.#options.now();
    this.#send({ type: "request", id: request.id, key: request.key, call: request.call });
  }

  #send(frame: ToHub): void {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(frame));
  }

  #become(connection: Connection): void {
    this.#connection = connection;
    this.#options.onConnection(connection);
  }
}

function deadline(call: Call): number {
  return /^(workspace|recording|session)\./.test(call.verb) ? RUNNER_DEADLINE_MS : ANSWER_DEADLINE_MS;
}

function lookFrame(place: Place | null, visible: boolean): ToHub {
  return { type: "look", ...(place ? { at: place } : {}), ...(visible ? { visible } : {}) };
}

function gone(detail: string): Problem {
  return { kind: "unavailable", status: 0, detail };
}

function ended(): Problem {
  return {
    kind: "unauthenticated",
    status: 401,
    detail: "Your login has expired. Log in again and retry.",
  };
}
