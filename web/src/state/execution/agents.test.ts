import { describe, expect, it } from "vitest";
import type { FoundAgent, Workspace } from "../../protocol";
import {
  agentChoices,
  argvOf,
  diskOf,
  hostsOf,
  lineOf,
  nameFromLocation,
  reportsNoCost,
  runnerAdvice,
  tellsNoCost,
} from "./agents";
import { EMPTY, type Floor } from "../hub/floor";
import { activity, project, runner, user, workspace } from "../testing/samples";

const agent = (name: string, version: string | null): FoundAgent => ({
  name,
  label: name,
  version,
  install: version ? null : `npm i -g ${name}`,
  headless: true,
});
const about = (...agents: FoundAgent[]) => ({ machine: "m", version: "1", labels: [], capacity: 4, agents });
const me = { user: user("ann"), observes: null, hub: "h", github: false, version: "0" };
const floor: Floor = {
  ...EMPTY,
  me,
  runners: new Map(
    [
      runner("r", { about: about(agent("claude", null), agent("codex", "1.0")) }),
      runner("s", { about: about(agent("claude", "2.0"), agent("gemini", null)) }),
      runner("off", { connected: false, about: about(agent("opencode", "1")) }),
      runner("theirs", { owner: { id: "bo", name: "bo" }, about: about(agent("secret", "1")) }),
    ].map((one) => [one.id, one]),
  ),
};

describe("other people's runners", () => {
  const bo = { id: "bo", name: "bo" };
  const shared = (
    visibility: "read-only" | "read-write",
    owner: "ann" | "bo",
    ...workspaces: Workspace[]
  ): Floor => ({
    ...floor,
    projects: new Map([
      ["p", project("p", { visibility, owner: owner === "bo" ? bo : { id: "ann", name: "ann" } })],
    ]),
    activities: new Map([["a", activity("a", { owner: owner === "bo" ? bo : { id: "ann", name: "ann" } })]]),
    workspaces: new Map(workspaces.map((one) => [one.id, one])),
  });
  const ids = (of: Floor) => hostsOf(of, "a").map((one) => one.id);

  it("are available when their owner works on the activity", () => {
    expect(ids(shared("read-write", "bo"))).toEqual(["theirs"]);
    expect(ids(shared("read-write", "ann", workspace("w", { owner: bo })))).toEqual(["theirs"]);
    expect(ids(shared("read-write", "ann"))).toEqual([]);
    expect(ids(shared("read-write", "ann", workspace("w", { owner: bo, status: "cleaned" })))).toEqual([]);
  });

  it("are not available without write access, when offline, or for an unknown activity", () => {
    expect(ids(shared("read-only", "ann", workspace("w", { owner: bo })))).toEqual([]);
    const away = new Map([["theirs", runner("theirs", { owner: bo, connected: false })]]);
    expect(ids({ ...shared("read-write", "bo"), runners: away })).toEqual([]);
    expect(hostsOf(shared("read-write", "bo"), "")).toEqual([]);
  });

  it("offer their own agents", () => {
    const [theirs] = hostsOf(shared("read-write", "bo"), "a");
    const choices = agentChoices(floor, theirs ? [theirs] : []);
    expect(choices.map((one) => one.name)).toEqual(["secret", "shell", "command"]);
  });
});

describe("agents", () => {
  it("are sorted: available, plain programs, not installed", () => {
    const choices = agentChoices(floor);
    expect(choices.map((one) => one.name)).toEqual(["claude", "codex", "shell", "command", "gemini"]);
    expect(choices[0]).toMatchObject({ version: "2.0", runners: [{ id: "s" }] });
    expect(choices.find((one) => one.name === "shell")?.runners).toHaveLength(2);
    expect(choices.at(-1)).toMatchObject({ install: "npm i -g gemini", runners: [] });
  });

  it("are none without an online runner", () => {
    expect(agentChoices({ ...floor, runners: new Map() })).toEqual([]);
  });

  it("that report no cost have no effective budget", () => {
    const mode = (costs?: boolean) => ({ mode: "headless" as const, prompt: true, resumes: true, costs });
    const choice = (name: string, ...modes: ReturnType<typeof mode>[]) => ({
      ...agent(name, "1"),
      modes,
      runners: [],
    });
    expect(tellsNoCost(choice("codex", mode(false)))).toBe(true);
    expect(tellsNoCost(choice("claude", mode(false), mode(true)))).toBe(false);
    expect(tellsNoCost(choice("older", mode()))).toBe(false);
    expect(tellsNoCost(choice("command", mode(false)))).toBe(false);
  });

  it("report no cost if they have no price", () => {
    const codex = {
      ...agent("codex", "1"),
      modes: [{ mode: "headless" as const, prompt: true, resumes: true, costs: false }],
    };
    const here = {
      ...floor,
      runners: new Map([["r", runner("r", { about: about(codex, agent("claude", "1")) })]]),
    };
    expect(["command", "codex", "claude", "unknown"].map((name) => reportsNoCost(here, name))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it("need a runner: only the hub owner is told to start the hub", () => {
    const invited = runnerAdvice(floor, "http://hub:1");
    expect(invited.commands).toEqual(["shopfloor runner --hub http://hub:1 --token-file FILE --name N"]);
    const owner = { ...me, user: user("ann", { hub_owner: true }) };
    const own = runnerAdvice({ ...floor, me: owner }, "http://hub:1");
    expect(own.commands).toEqual(["shopfloor up", ...invited.commands]);
    // Shown as plain text, not as Markdown.
    expect(invited.text + own.text).not.toMatch(/`|shopfloor up/);
  });
});

describe("a runner's disk", () => {
  it("is the sum of its existing workspaces", () => {
    const on = (id: string, of: string, disk_bytes: number | null, status: Workspace["status"] = "ready") =>
      workspace(id, { runner: of, disk_bytes, status });
    const all = [
      on("a", "r", 5),
      on("b", "r", 7),
      on("c", "r", null),
      on("d", "r", 9, "cleaned"),
      on("e", "s", null),
    ];
    const workspaces = new Map(all.map((one) => [one.id, one]));
    expect(diskOf({ ...floor, workspaces }, "r")).toBe(12);
    expect(diskOf({ ...floor, workspaces }, "s")).toBeNull();
  });
});

describe("a command line", () => {
  it("is split like in a shell, without expansion", () => {
    expect(argvOf(`make -j 2 "a b" 'c "d"' e\\ f`)).toEqual(["make", "-j", "2", "a b", 'c "d"', "e f"]);
    expect(argvOf(`echo $(id) ; rm * "" x`)).toEqual(["echo", "$(id)", ";", "rm", "*", "", "x"]);
    expect(argvOf("  ")).toEqual([]);
  });

  it("is quoted so that it splits into the same arguments", () => {
    const argv = ["sh", "-c", "echo 'a b' > $1", "", "./x"];
    expect(argvOf(lineOf(argv))).toEqual(argv);
    expect(lineOf(["make", "-j2"])).toBe("make -j2");
  });
});

describe("a project's name", () => {
  it("comes from the repository location", () => {
    expect(nameFromLocation("https://example.org/team/shop.git")).toBe("shop");
    expect(nameFromLocation("git@example.org:team/shop.git")).toBe("shop");
    expect(nameFromLocation("/home/ann/code/shop/")).toBe("shop");
    expect(nameFromLocation("")).toBe("My project");
  });
});
