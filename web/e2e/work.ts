import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, type Locator, type Page } from "@playwright/test";
import type { Project, Runner, Session, SessionSpawn } from "../src/protocol";
import type { Floor } from "./fixtures";

/** A git repository with one commit, in the test's own directory. */
export function repository(floor: Floor, name = "shop"): string {
  const dir = join(floor.hub.dir, "code", name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "README.md"), "# Shop\n\none\ntwo\nthree\n");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", ...args], {
      cwd: dir,
      env: { PATH: process.env.PATH ?? "", HOME: floor.hub.dir, GIT_CONFIG_NOSYSTEM: "1" },
    });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-q", "-m", "start");
  return dir;
}

/** Waits until the hub's own runner is online. */
export async function runner(floor: Floor): Promise<Runner> {
  let found: Runner | undefined;
  await expect(async () => {
    found = (await floor.hub.api<Runner[]>("GET", "/api/runners")).find((one) => one.connected);
    expect(found).toBeDefined();
  }).toPass();
  return found as Runner;
}

/** An online runner of the person who is logged in on a page. */
export async function runnerFor(floor: Floor, page: Page, name: string): Promise<void> {
  await page.goto("/runners");
  await page.getByLabel("Runner name").fill(name);
  await page.getByRole("button", { name: "Register runner" }).click();
  const secret = page.getByLabel("Secret", { exact: true });
  await expect(secret).toHaveValue(/^sf_/);
  floor.hub.startRunner(name, await secret.inputValue());
  await expect(async () => {
    const all = await floor.hub.api<Runner[]>("GET", "/api/runners");
    expect(all.some((one) => one.name === name && one.connected)).toBe(true);
  }).toPass({ timeout: 30_000 });
}

/** A project with a new repository. */
export async function projectWithCode(floor: Floor, name = "Shop", share = true): Promise<Project> {
  await runner(floor);
  return floor.hub.api("POST", "/api/projects", {
    content: name,
    visibility: "read-write",
    share_execution: share,
    repositories: [{ location: repository(floor), base_branch: null }],
  });
}

/** A session that runs a program. */
export function run(
  floor: Floor,
  project: Project,
  argv: string[],
  more: Partial<SessionSpawn> = {},
): Promise<Session> {
  return floor.hub.api("POST", "/api/sessions", { project: project.id, agent: "command", argv, ...more });
}

/** A session from the API. */
export async function session(floor: Floor, id: string): Promise<Session> {
  return (await floor.hub.api<{ session: Session }>("GET", `/api/sessions/${id}`)).session;
}

/** The text of a terminal. */
export function screen(page: Page, title?: string): Locator {
  const tile = title ? page.getByRole("region", { name: `Terminal: ${title}` }) : page;
  return tile.locator(".xterm-rows").first();
}

/** Types a line into the terminal that has the focus. */
export async function typeLine(page: Page, line: string): Promise<void> {
  await page.keyboard.type(line);
  await page.keyboard.press("Enter");
}
