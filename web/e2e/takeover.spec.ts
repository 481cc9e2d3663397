import type { Page } from "@playwright/test";
import type { Floor } from "./fixtures";
import { expect, test } from "./fixtures";
import { add, detail, start } from "./queue";
import { projectWithCode, runnerFor, screen } from "./work";

// Leaves an uncommitted file and keeps running.
const WORK = "if [ -e half ]; then echo went on; sleep 600; fi; echo half > half; echo begun; sleep 600";

/** Bo with his own runner, and a task in progress at a worker of the owner. */
async function atWork(floor: Floor, share = true): Promise<{ bo: Page; task: string }> {
  const project = await projectWithCode(floor, "Shop", share);
  const [line] = await add(floor, project, "Long work");
  const task = line?.id ?? "";
  await start(floor, project, WORK);
  await expect.poll(async () => (await detail(floor, task)).task.status, { timeout: 30_000 }).toBe("running");
  const bo = await floor.guest("Bo");
  await runnerFor(floor, bo, "bos");
  await bo.goto(`/t/${task}`);
  await bo.getByRole("button", { name: "Take over" }).click();
  return { bo, task };
}

const REPOSITORY: Request = { kind: "Repository", answer: "Allow this text" };
const CODE: Request = { kind: "Code", answer: "Allow once" };

type Request = { kind: string; answer: string };

/** Waits for a text in Bo's session, after Bo answered the requests to run what the owner wrote. */
async function shows(floor: Floor, bo: Page, task: string, text: string, requests: Request[]): Promise<void> {
  const { session } = (await detail(floor, task)).task;
  await bo.locator(`main a[href="/s/${session}"]`).first().click();
  for (const { kind, answer } of requests) {
    const asked = bo.getByRole("article", { name: `${kind} by owner` });
    await asked.getByRole("button", { name: answer }).click({ timeout: 30_000 });
    await expect(asked.getByRole("button", { name: answer })).toHaveCount(0);
  }
  await expect(screen(bo)).toContainText(text, { timeout: 60_000 });
}

test("a colleague's task is taken over with its work, after a review of the command", async ({ floor }) => {
  const { bo, task } = await atWork(floor);
  const first = (await detail(floor, task)).task.session;
  const dialog = bo.getByRole("dialog", { name: "Take over “Long work”" });
  await expect(dialog).toContainText("saves the work of");
  await expect(dialog).toContainText("owner’s command. Review it first:");
  await expect(dialog.locator("pre")).toContainText("echo half > half");
  await expect(dialog.getByLabel("Runner").locator("option")).toHaveText([/^Any of your runners/, "bos"]);
  await bo.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  expect((await detail(floor, task)).task.session).toBe(first);

  await bo.getByRole("button", { name: "Take over" }).click();
  await dialog.getByRole("button", { name: "Take over and run command" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(bo.getByText("You took over “Long work”. Your runner continues the work.")).toBeVisible();
  await expect(bo.getByRole("region", { name: "Attempts" })).toContainText("Bo took it over");
  await expect(bo.getByRole("button", { name: "Take over" })).toHaveCount(0);
  await shows(floor, bo, task, "went on", [REPOSITORY, CODE]);
});

test("a hidden command does not run; an own command does", async ({ floor }) => {
  const { bo, task } = await atWork(floor, false);
  const dialog = bo.getByRole("dialog", { name: "Take over “Long work”" });
  await expect(dialog).toContainText("You cannot see the command");
  await expect(dialog.locator("pre")).toHaveCount(0);
  await expect(dialog.getByRole("button", { name: "Take over" })).toBeDisabled();
  await dialog.getByLabel("Your command").fill("sh -c 'cat half; echo mine; sleep 600'");
  await dialog.getByRole("button", { name: "Take over and run command" }).click();
  await expect(dialog).toHaveCount(0);
  await shows(floor, bo, task, "mine", [REPOSITORY, CODE]);
  expect((await detail(floor, task)).attempts.map((one) => one.outcome)).toEqual(["taken_over", "open"]);
});

test("taking an unassigned task requires an agent", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const [line] = await add(floor, project, "Waits");
  const bo = await floor.guest("Bo");
  await bo.goto(`/t/${line?.id}`);
  await bo.getByRole("button", { name: "Take", exact: true }).click();
  const dialog = bo.getByRole("dialog", { name: "Take over “Waits”" });
  await expect(dialog.getByText("None of your runners is online")).toBeVisible();
  await bo.keyboard.press("Escape");

  await runnerFor(floor, bo, "bos");
  await bo.goto(`/t/${line?.id}`);
  await bo.getByRole("button", { name: "Take", exact: true }).click();
  await expect(dialog.getByLabel("Agent").locator("option", { hasText: "The same" })).toHaveCount(0);
  await dialog.getByLabel("Agent").selectOption("command");
  await dialog.getByLabel("Your command").fill("sh -c 'echo done it; sleep 600'");
  await dialog.getByRole("button", { name: "Take over and run command" }).click();
  await expect(dialog).toHaveCount(0);
  await shows(floor, bo, line?.id ?? "", "done it", [REPOSITORY]);
});
