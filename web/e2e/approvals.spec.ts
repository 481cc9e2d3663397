import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import type { Activity, AddedTasks, Approval, Grant, Project, Runner } from "../src/protocol";
import { check } from "./axe";
import { expect, type Floor, live, sidebar, test } from "./fixtures";
import { detail, start } from "./queue";
import { projectWithCode, run, runner, screen, session } from "./work";

const WORK = "echo made > made.txt";
const HTML = "<img src=x onerror=alert(1)>";

/** Calls the API as the person who is logged in on a page. */
async function as<T>(page: Page, path: string, body: unknown): Promise<T> {
  const answer = await page.evaluate(
    async ([path, body]) => {
      const response = await fetch(path as string, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { ok: response.ok, text: await response.text() };
    },
    [path, body],
  );
  if (!answer.ok) throw new Error(`${path}: ${answer.text}`);
  return JSON.parse(answer.text) as T;
}

/** A task by Bo whose acceptance command writes a file outside the workspace, and a worker of the owner for it. */
async function plant(floor: Floor, bo: Page, project: Project, title = "Make it") {
  const canary = join(floor.hub.dir, "canary");
  const acceptance = [
    { kind: "command", argv: ["sh", "-c", `: "${HTML}"; test -e made.txt && echo ran >> ${canary}`] },
  ];
  const added = await as<AddedTasks>(bo, `/api/projects/${project.id}/tasks`, {
    tasks: [{ description: title, acceptance }],
  });
  await start(floor, project, WORK);
  return { canary, task: added.tasks[0]?.id ?? "" };
}

function card(page: Page, name: string | RegExp) {
  return page.getByRole("article", { name });
}

test("a colleague's command runs after the runner's owner allowed it", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  const bo = await floor.guest("Bo");
  const page = await floor.owner();
  const { canary, task } = await plant(floor, bo, project);

  await test.step("the approval is the owner's first request, with author, text, place and reason", async () => {
    const needs = sidebar(page).getByRole("region", { name: "Needs you" });
    const link = needs.getByRole("link", { name: /^Allow\? Bo: .*canary/ });
    await expect(link).toBeVisible({ timeout: 30_000 });
    await expect(page).toHaveTitle(/^\(1 needs you\) /);
    await expect(page.getByRole("link", { name: "1 needs you" })).toBeVisible();
    await link.click();
    const asked = card(page, "Acceptance command by Bo");
    await expect(asked).toContainText("Written by Bo");
    await expect(asked.getByRole("group", { name: "Exact text" })).toContainText(
      `: "${HTML}"; test -e made.txt && echo ran >> ${canary}`,
    );
    await expect(asked).toContainText("It would check the work on Make it", { ignoreCase: true });
    await expect(asked).toContainText("No: it can do everything that you can do on");
    await expect(asked.getByRole("link", { name: "Shop" })).toBeVisible();
    const [open] = await floor.hub.api<Approval[]>("GET", "/api/approvals");
    await expect(asked).toContainText(open?.sha256.slice(0, 12) ?? "none");
    await check(page, "one request");
  });

  await test.step("everyone sees that the task waits, and only the owner sees the command", async () => {
    await bo.goto(`/p/${project.id}/tasks`);
    await expect(bo.locator("main")).toContainText("waits until owner allows something to run on");
    await bo.goto(`/t/${task}`);
    await expect(bo.getByText(/^waits until owner allows something/)).toBeVisible();
    await expect(bo.getByRole("article")).toHaveCount(0);
    await page.goto(`/p/${project.id}/tasks`);
    await expect(page.getByRole("link", { name: /^Make it .*Allow\?/ })).toBeVisible();
    await check(page, "the board");
  });

  expect(existsSync(canary)).toBe(false);
  await page.goto(`/t/${task}`);
  const asked = card(page, "Acceptance command by Bo");
  await check(page, "the task");
  await asked.getByRole("button", { name: "Allow this text" }).click();
  await expect(asked).toContainText("Allowed: this exact text in this project");
  await expect.poll(async () => (await detail(floor, task)).task.status, { timeout: 30_000 }).toBe("done");
  expect(existsSync(canary)).toBe(true);
  await expect(sidebar(page).getByRole("region", { name: "Needs you" })).toHaveCount(0);

  await test.step("a permanent permission is listed on the runner and can be revoked", async () => {
    await page.goto("/runners");
    await page.getByText(/^Commands from others: ask me, 1 allowed$/).click();
    const allowed = page.getByRole("region", { name: /^Allowed on/ });
    await expect(allowed).toContainText("Acceptance command by Bo");
    await expect(allowed).toContainText("Shop");
    await check(page, "the runner");
    await allowed.getByRole("button", { name: /^Revoke/ }).click();
    await expect(allowed).toContainText("None.");
    expect(await floor.hub.api<Grant[]>("GET", "/api/grants")).toEqual([]);
  });
});

test("a denied command does not run, and the task shows the denial", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  const bo = await floor.guest("Bo");
  const page = await floor.owner();
  const elsewhere = await floor.owner();
  await page.goto("/needs");
  const { canary, task } = await plant(floor, bo, project);
  const asked = card(page, "Acceptance command by Bo");
  await expect(asked.first()).toBeVisible({ timeout: 30_000 });
  const [open] = await floor.hub.api<Approval[]>("GET", "/api/approvals");

  await test.step("it is denied with the keyboard, and another page updates without moving", async () => {
    await elsewhere.goto(`/approvals/${open?.id}`);
    const deny = elsewhere.getByRole("button", { name: "Deny" });
    await expect(deny).toBeVisible();
    const before = await card(elsewhere, "Acceptance command by Bo").boundingBox();
    await page.getByRole("group", { name: "Exact text" }).first().focus();
    for (let at = 0; at < 12; at++) {
      if (await page.evaluate(() => document.activeElement?.textContent?.trim() === "Deny")) break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await expect(asked.first()).toContainText("Denied");
    await expect(card(elsewhere, "Acceptance command by Bo")).toContainText("Denied");
    await expect(deny).toHaveCount(0);
    const after = await card(elsewhere, "Acceptance command by Bo").boundingBox();
    expect(after?.height).toBe(before?.height);
  });

  await expect(async () => {
    const { reports } = await detail(floor, task);
    expect(JSON.stringify(reports)).toContain("did not allow");
  }).toPass({ timeout: 30_000 });
  expect(existsSync(canary)).toBe(false);
  expect((await detail(floor, task)).task.status).not.toBe("done");
});

test("answering an approval twice shows the error beside it", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  const bo = await floor.guest("Bo");
  const page = await floor.owner();
  await page.routeWebSocket(/\/api\/ws/, (socket) => {
    const hub = socket.connectToServer();
    // This page does not receive the first answer.
    hub.onMessage((message) => {
      if (typeof message === "string" && /"answer":"once"/.test(message)) return;
      socket.send(message);
    });
  });
  await page.goto("/needs");
  await plant(floor, bo, project);
  const asked = card(page, "Acceptance command by Bo");
  await expect(asked).toBeVisible({ timeout: 30_000 });
  const [open] = await floor.hub.api<Approval[]>("GET", "/api/approvals");
  await floor.hub.api("POST", `/api/approvals/${open?.id}/answer`, { answer: "once" });
  await asked.getByRole("button", { name: "Allow everything by Bo in this project" }).click();
  await asked.getByText("without asking you").waitFor();
  await check(page, "allow everything");
  await asked.getByRole("button", { name: "Allow everything by Bo in this project" }).last().click();
  await expect(asked.getByRole("alert")).toContainText("answered already");
});

test("a colleague requests a session on the owner's runner, and the owner allows it", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  const own = await run(floor, project, ["sh", "-c", "echo own; exec cat"]);
  const activity = await floor.hub.api<Activity>("GET", `/api/activities/${own.activity}`);
  const vm = await runner(floor);
  const bo = await floor.guest("Bo");
  await bo.goto(`/p/${project.id}/a/${activity.id}`);
  await live(bo);
  await bo.getByRole("button", { name: "Start an agent" }).last().click();
  const dialog = bo.getByRole("dialog", { name: "Start an agent" });
  await expect(dialog.getByLabel("Runner").locator("option:checked")).toHaveText(
    `${vm.name} (owner, asks for permission)`,
  );
  await dialog.getByRole("radio", { name: /Command/ }).check();
  await dialog.getByLabel("Command", { exact: true }).last().fill(`sh -c 'echo bo was here; exec cat'`);
  await check(bo, "asking");
  await dialog.getByRole("button", { name: "Ask owner" }).click();
  await expect(bo.getByText("Request sent. The session starts when owner allows it.")).toBeVisible();
  await expect(bo.getByText("Starts when owner allows it.", { exact: true })).toBeVisible();

  const page = await floor.owner();
  const [open] = await floor.hub.api<Approval[]>("GET", "/api/approvals");
  expect(open?.kind).toBe("session");
  const asked = open?.session ?? "";
  await page.goto(`/s/${asked}`);
  await expect(page.getByText("Requested by Bo").first()).toBeVisible();
  const request = card(page, "Session by Bo");
  await expect(request).toContainText("Requested by Bo");
  await expect(request.getByRole("group", { name: "Exact text" })).toContainText("bo was here");
  await check(page, "a session that waits");
  await request.getByRole("button", { name: "Allow once" }).click();
  await expect(screen(page)).toContainText("bo was here", { timeout: 30_000 });
  await expect(screen(bo)).toContainText("bo was here", { timeout: 30_000 });
  const made = await session(floor, asked);
  expect([made.owner.name, made.asked_by?.user.name]).toEqual(["owner", "Bo"]);
});

test("the runner's owner sets its policy, and the project's owner its sandbox", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const page = await floor.owner();
  const vm = await runner(floor);
  const known = async () => {
    const all = await floor.hub.api<Runner[]>("GET", "/api/runners");
    const { policy, sandbox_others } = all.find((one) => one.id === vm.id) ?? vm;
    return { policy, sandbox_others };
  };
  await page.goto("/runners");
  await page.getByText("Commands from others: ask me").click();
  await expect(page.getByText("Nothing runs until you allow it.")).toBeVisible();
  await page.getByRole("radio", { name: /^Trust project owners/ }).click();
  await expect(page.getByText("Commands from others: trust project owners")).toBeVisible();
  await page.getByRole("switch", { name: "Sandbox other people's sessions" }).click();
  await expect(page.getByText("Commands from others: trust project owners, in a sandbox")).toBeVisible();
  expect(await known()).toEqual({ policy: "project-owner", sandbox_others: true });
  await page.reload();
  await expect(page.getByText("Commands from others: trust project owners, in a sandbox")).toBeVisible();

  const bo = await floor.guest("Bo");
  await bo.goto("/runners");
  await expect(bo.getByText(vm.name).first()).toBeVisible();
  await expect(bo.getByText("Commands from others")).toHaveCount(0);

  await page.goto(`/p/${project.id}/settings`);
  await page.getByRole("switch", { name: "Sandbox other people's sessions" }).click();
  await expect
    .poll(async () => (await floor.hub.api<Project>("GET", `/api/projects/${project.id}`)).sandbox_others)
    .toBe(true);
});
