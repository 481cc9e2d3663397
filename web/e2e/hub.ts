import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const root = resolve(import.meta.dirname, "../..");
const binary = resolve(process.env.SHOPFLOOR_BIN ?? join(root, "target/debug/shopfloor"));

// Not below /tmp, where Codex does not install its helpers.
function freshDir(): string {
  const base = join(root, "target/tmp");
  mkdirSync(base, { recursive: true });
  return mkdtempSync(join(base, "page-"));
}

/** A real hub in its own directory, started with `shopfloor up`. */
export class Hub {
  readonly dir = freshDir();
  /** The data directory, outside the home folder, because a sandbox treats them differently. */
  readonly data = join(this.dir, "data");
  url = "";
  /** The login link that it printed at its start. */
  loginLink = "";
  #process: ChildProcess | null = null;
  readonly #runners: ChildProcess[] = [];
  readonly #agents: boolean;

  constructor(agents = false) {
    this.#agents = agents;
  }

  /** Adds a custom agent; call before the start. */
  addAgent(name: string, toml: string): void {
    const agents = join(this.dir, "config", "shopfloor", "agents");
    mkdirSync(agents, { recursive: true });
    writeFileSync(join(agents, `${name}.toml`), toml);
  }

  // Its own home folder, and no network access beyond this machine.
  #environment(): NodeJS.ProcessEnv {
    const home = join(this.dir, "home");
    mkdirSync(home, { recursive: true });
    const path = process.env.PATH ?? "";
    const nobody = "http://127.0.0.1:9";
    return {
      ...process.env,
      HOME: home,
      PATH: (this.#agents ? [join(root, "target/tools/agents/bin"), path] : [path]).join(":"),
      XDG_CONFIG_HOME: join(this.dir, "config"),
      // Not after the account that runs the tests.
      SHOPFLOOR_OWNER_NAME: "owner",
      OPENAI_API_KEY: "sk-none",
      // With a lower priority, an agent would hardly run beside two browsers.
      SHOPFLOOR_SESSION_NICE: "0",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_SHARE: "1",
      HTTP_PROXY: nobody,
      HTTPS_PROXY: nobody,
      NO_PROXY: "127.0.0.1,localhost",
    };
  }

  /** Starts the hub and waits until it is up. */
  async start(): Promise<void> {
    const listen = this.url ? new URL(this.url).host : "127.0.0.1:0";
    const child = spawn(
      binary,
      ["up", "--no-open", "--listen", listen, "--data-dir", this.data, "--notify-allow-host", "127.0.0.1"],
      {
        stdio: ["ignore", "pipe", "pipe"],
        env: this.#environment(),
      },
    );
    this.#process = child;
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await new Promise<void>((done, fail) => {
      child.once("exit", (code) => fail(new Error(`the hub ended with ${code}: ${said}`)));
      child.once("error", fail);
      const hear = (line: string) => {
        said += `${line}\n`;
        this.url = /^shopfloor is up: (http:\/\/[^\s]+?)\/?(\s|$)/.exec(line)?.[1] ?? this.url;
        this.loginLink = /(http:\/\/\S+\/login#\S+)/.exec(line)?.[1] ?? this.loginLink;
        if (said.includes("shopfloor is up:") && said.includes("/login#")) done();
      };
      for (const stream of [child.stdout, child.stderr])
        if (stream) createInterface({ input: stream }).on("line", hear);
    });
    child.removeAllListeners("exit");
  }

  /** Starts another runner in its own folder. */
  startRunner(name: string, token: string): void {
    const dir = join(this.dir, "runners", name);
    mkdirSync(dir, { recursive: true });
    const args = ["runner", "--hub", this.url, "--name", name, "--data-dir", dir];
    const env = { ...this.#environment(), SHOPFLOOR_RUNNER_TOKEN: token };
    this.#runners.push(spawn(binary, args, { stdio: "ignore", env }));
  }

  /** Kills the hub like a crash, by its pid file. */
  async kill(): Promise<void> {
    const { pid } = JSON.parse(readFileSync(join(this.data, "hub.json"), "utf8")) as { pid: number };
    const ended = new Promise((done) => this.#process?.once("exit", done));
    process.kill(pid, "SIGKILL");
    if (this.#process?.exitCode === null && this.#process.signalCode === null) await ended;
    this.#process = null;
  }

  /** Stops the hub and deletes its directory. */
  async remove(): Promise<void> {
    const child = this.#process;
    if (child && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((done) => child.once("exit", done));
      // SIGTERM also stops its runner.
      child.kill("SIGTERM");
      await ended;
    }
    for (const runner of this.#runners) runner.kill("SIGKILL");
    this.#endSessions();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** The process of its runner. */
  get runnerPid(): number {
    const text = readFileSync(join(this.data, "runner", "runner.json"), "utf8");
    return (JSON.parse(text) as { pid: number }).pid;
  }

  // The runner and the session hosts survive a killed hub; each has a pid file.
  #endSessions(): void {
    const others = join(this.dir, "runners");
    const runners = [
      join(this.data, "runner"),
      ...(existsSync(others) ? readdirSync(others).map((name) => join(others, name)) : []),
    ];
    const pids = existsSync(join(this.data, "runner", "runner.json")) ? [this.runnerPid] : [];
    for (const sessions of runners.map((runner) => join(runner, "sessions")).filter((dir) => existsSync(dir)))
      for (const id of readdirSync(sessions)) {
        const file = join(sessions, id, "host.pid");
        if (existsSync(file)) pids.push(Number(readFileSync(file, "utf8")));
      }
    for (const pid of pids) {
      try {
        if (pid > 1) process.kill(pid, "SIGKILL");
      } catch {
        // Already ended.
      }
    }
  }

  /** Calls the HTTP API as the hub's owner. */
  async api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const token = readFileSync(join(this.data, "token"), "utf8").trim();
    const response = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }
}
