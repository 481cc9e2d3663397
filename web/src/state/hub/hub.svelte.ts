import { type AnswerTo, type CallOf, type Verb } from "../../link/answers";
import type { Connection } from "../../link/connection";
import { asProblem } from "../../lib/failure";
import { whoAmI } from "../../link/http";
import { Link } from "../../link/socket";
import type { FromHub, Place, TaskStatus } from "../../protocol";
import { apply } from "./apply";
import { type Board, NO_BOARD, paged } from "../tasks/board";
import { Channels } from "../execution/channels";
import { newestPage, olderPage, UNREAD_CHAT } from "../chat/chat";
import { EMPTY, type Floor } from "./floor";
import { put } from "../../lib/maps";
import { failed, type Pending, retried, sent, settled } from "../chat/outbox";

/** Messages per page of history. */
export const PAGE = 100;

/** Tasks per page, and the maximum per status on a board. */
const TASKS = 1_000;
const MOST_TASKS = 10_000;

/** The order in which a large board is fetched. */
const BY_URGENCY: readonly TaskStatus[] = [
  "escalated",
  "running",
  "assigned",
  "validating",
  "reported",
  "failed",
  "ready",
  "blocked",
  "done",
  "cancelled",
];

/** The state of the page and its requests to the hub; renders at most once per frame. */
class HubConnection {
  #floor: Floor = EMPTY;
  #shown = $state.raw<Floor>(EMPTY);
  #connection = $state.raw<Connection>({ phase: "connecting", staleSince: null });
  #outbox = $state.raw<readonly Pending[]>([]);
  #scheduled = false;
  #link: Link | null = null;

  /** The terminals that are watched over this connection. */
  readonly channels = new Channels({
    tell: (frame) => this.#link?.tell(frame) ?? false,
    send: (bytes) => this.#link?.send(bytes) ?? false,
  });

  /** Called for every change, also in a background tab, which does not render. */
  onChange: (floor: Floor) => void = () => undefined;

  /** The rendered state. */
  get floor(): Floor {
    return this.#shown;
  }

  /** The state of the connection. */
  get connection(): Connection {
    return this.#connection;
  }

  /** Messages that the hub has not confirmed. */
  get outbox(): readonly Pending[] {
    return this.#outbox;
  }

  /** Connects; the credential is the login cookie. */
  start(): void {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.#link = new Link({
      url: `${scheme}//${location.host}/api/ws`,
      stillLoggedIn: async () => (await whoAmI()) !== null,
      resume: () =>
        this.#floor.loaded && this.#floor.hub ? { hub: this.#floor.hub, since: this.#floor.seq } : null,
      onFrame: (frame) => this.#hear(frame),
      onTerminal: (frame) => this.channels.heard(frame),
      onConnection: (connection) => this.#connected(connection),
    });
    this.#link.start();
  }

  /** Disconnects and clears the state. */
  stop(): void {
    this.#link?.stop();
    this.#link = null;
    this.#outbox = [];
    this.#update(EMPTY);
  }

  /** Sends a request to the hub. */
  call<V extends Verb>(call: CallOf<V>, key?: string): Promise<AnswerTo<V>> {
    if (!this.#link) return Promise.reject(new Error("The page is not connected."));
    return this.#link.request<V>(call, key);
  }

  /** Reports the current page to others, and whether somebody looks at it. */
  look(place: Place | null, visible: boolean): void {
    this.#link?.look(place, visible);
  }

  /** Reconnects now. */
  nudge(): void {
    this.#link?.nudge();
  }

  /** Called when the browser goes offline. */
  networkLost(): void {
    this.#link?.networkLost();
  }

  /** Fetches the newest page of a chat. */
  async readChat(project: string): Promise<void> {
    const page = await this.call({ verb: "chat.history", project, page: { limit: PAGE } });
    const chat = this.#floor.chats.get(project) ?? UNREAD_CHAT;
    this.#update({ ...this.#floor, chats: put(this.#floor.chats, project, newestPage(chat, page, PAGE)) });
  }

  /** Fetches the page of a chat before the loaded messages. */
  async readOlder(project: string): Promise<void> {
    const before = this.#floor.chats.get(project)?.messages[0]?.number;
    const page = await this.call({
      verb: "chat.history",
      project,
      page: { limit: PAGE, ...(before ? { before } : {}) },
    });
    const chat = this.#floor.chats.get(project);
    if (chat)
      this.#update({ ...this.#floor, chats: put(this.#floor.chats, project, olderPage(chat, page, PAGE)) });
  }

  /** Fetches a project's tasks; if there are many, by urgency. */
  async readBoard(project: string): Promise<void> {
    this.#board(project, (board) => ({ ...board, wanted: true }));
    const first = await this.call({ verb: "task.list", filter: { project, limit: TASKS } });
    this.#board(project, (board) => paged(board, first));
    let cut = false;
    if (first.length >= TASKS)
      for (const status of BY_URGENCY) cut = (await this.#readStatus(project, status)) || cut;
    this.#board(project, (board) => ({ ...board, fresh: true, cut }));
  }

  /** Fetches the tasks in progress, without loading the whole board. */
  async readHeld(project: string): Promise<void> {
    const held: TaskStatus[] = ["assigned", "running", "reported", "validating"];
    await Promise.all(held.map((status) => this.#readStatus(project, status)));
  }

  async #readStatus(project: string, status: TaskStatus): Promise<boolean> {
    let after: string | undefined;
    for (let count = 0; count < MOST_TASKS;) {
      const filter = { project, status, limit: TASKS, ...(after ? { after } : {}) };
      const page = await this.call({ verb: "task.list", filter });
      this.#board(project, (board) => paged(board, page));
      if (page.length < TASKS) return false;
      after = page.at(-1)?.id;
      count += page.length;
    }
    return true;
  }

  #board(project: string, to: (board: Board) => Board): void {
    const board = to(this.#floor.boards.get(project) ?? NO_BOARD);
    this.#update({ ...this.#floor, boards: put(this.#floor.boards, project, board) });
  }

  /** Sends a chat message and shows it immediately. */
  say(project: string, content: string): void {
    const pending: Pending = { key: crypto.randomUUID(), project, content, at: Date.now(), problem: null };
    this.#outbox = sent(this.#outbox, pending);
    void this.#deliver(pending);
  }

  /** Sends a rejected message again, with the same key. */
  sayAgain(pending: Pending): void {
    this.#outbox = retried(this.#outbox, pending.key);
    void this.#deliver(pending);
  }

  /** Discards a rejected message. */
  unsay(pending: Pending): void {
    this.#outbox = settled(this.#outbox, pending.key);
  }

  async #deliver({ key, project, content }: Pending): Promise<void> {
    try {
      await this.call({ verb: "chat.send", project, input: { content } }, key);
      this.#outbox = settled(this.#outbox, key);
    } catch (thrown) {
      this.#outbox = failed(this.#outbox, key, asProblem(thrown));
    }
  }

  #connected(connection: Connection): void {
    const wasLive = this.#connection.phase === "live";
    this.#connection = connection;
    if (connection.phase === "live") this.channels.live();
    else if (wasLive) this.channels.lost();
  }

  #hear(frame: FromHub): void {
    if (frame.type === "watching" || frame.type === "unwatched") return this.channels.said(frame);
    this.#update(apply(this.#floor, frame));
    // Code that awaits an answer must see its effect.
    if (frame.type === "answer") this.#shown = this.#floor;
    const key = frame.type === "delta" && frame.change.kind === "message" ? frame.change.key : null;
    if (key !== null) this.#outbox = settled(this.#outbox, key);
  }

  // Render once per animation frame: a burst is one update, and a background tab does nothing.
  #update(floor: Floor): void {
    this.#floor = floor;
    this.onChange(floor);
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#shown = this.#floor;
    });
  }
}

/** The page's connection to the hub. */
export const hub = new HubConnection();
