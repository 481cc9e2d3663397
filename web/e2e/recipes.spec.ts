import type { Page } from "@playwright/test";
import type { Execution, Recipe, Schedule } from "../src/protocol";
import { check } from "./axe";
import { expect, test } from "./fixtures";

const TEXT = `name: greet
description: Says hello, waits, and asks
inputs:
  who: {type: string, default: world}
  word: {type: string, default: soon}
steps:
  - id: tell
    notify: {to: chat, text: "Hello {{ inputs.who }}"}
  - id: rest
    wait: {for: 2s}
  - id: ask
    approve: {question: "Say goodbye to {{ inputs.who }}?"}
  - id: bye
    notify: {to: chat, text: "Goodbye {{ inputs.who }}, see you {{ inputs.word }}"}
`;

/** Presses the last button of this name on all pages at once. The first answer may take the others' forms away. */
async function atOnce(pages: Page[], name: string): Promise<void> {
  const found = pages.map((one) => one.getByRole("button", { name, exact: true }).last().elementHandle());
  const buttons = await Promise.all(found);
  await Promise.all(buttons.map((button) => button?.evaluate((element: HTMLElement) => element.click())));
}

test("a recipe is written, run, paused and resumed from two pages, and approved", async ({ floor }) => {
  test.setTimeout(180_000);
  const project = await floor.project("shop");
  const page = await floor.owner();

  await test.step("the editor says what is wrong, and saves", async () => {
    await page.goto(`/p/${project.id}/recipes`);
    await expect(page.getByRole("heading", { name: "No recipes yet" })).toBeVisible();
    await check(page, "a project without recipes");
    await page.getByRole("link", { name: "Write a recipe" }).click();
    const editor = page.getByRole("textbox", { name: "Text of the recipe" });
    const write = async (text: string) => {
      await editor.click();
      await page.keyboard.press("Control+a");
      await page.keyboard.press("Delete");
      await page.keyboard.insertText(text);
    };
    await write(TEXT.replace("wait: {for: 2s}", "wait: {four: 2s}"));
    const findings = page.getByRole("region", { name: "Problems" });
    await expect(findings.getByRole("list").first()).toContainText("four");
    await expect(page.getByRole("button", { name: "Save recipe" })).toBeDisabled();
    await write(TEXT);
    await expect(findings).toContainText("No problems");
    await expect(findings).toContainText("Approval");
    await check(page, "the editor of a recipe");
    await page.getByRole("button", { name: "Save recipe" }).click();
    await expect(page.getByRole("heading", { name: "greet", level: 1 })).toBeVisible();
    await check(page, "a recipe");
  });

  await test.step("it runs with its inputs", async () => {
    await page.getByRole("button", { name: "Run greet" }).click();
    await page.getByLabel("who (optional)").fill("Ann");
    await page.getByRole("button", { name: "Start execution" }).click();
    const steps = page.getByRole("region", { name: "Steps" });
    await expect(steps.getByRole("button", { name: /^tell/ })).toContainText("Succeeded");
    await expect(steps.getByRole("button", { name: /^ask/ })).toContainText("Needs an answer", {
      timeout: 30_000,
    });
    await check(page, "an execution that asks");
  });

  const state = page.locator("[data-execution]");
  const other = await floor.owner();
  await other.goto(page.url());
  const there = other.locator("[data-execution]");
  await expect(there).toHaveAttribute("data-execution", "waiting");

  await test.step("a second page pauses it, both edit it at once, and the first resumes it", async () => {
    await other.getByRole("button", { name: "Pause", exact: true }).click();
    await other.getByLabel("Reason (optional)").fill("lunch");
    await other.getByRole("button", { name: "Pause", exact: true }).last().click();
    await expect(there).toHaveAttribute("data-execution", "paused");
    await expect(state).toHaveAttribute("data-execution", "paused");
    const words = ["tomorrow", "on Monday"];
    const edit = async (one: typeof page, word: string) => {
      await one.getByRole("button", { name: "Change inputs", exact: true }).click();
      await one.getByLabel("word (optional)").fill(word);
    };
    await edit(page, words[0] ?? "");
    await edit(other, words[1] ?? "");
    await atOnce([page, other], "Change inputs");
    const inputs = (one: typeof page) => one.getByRole("region", { name: "Inputs and outputs" });
    // One edit came last; both pages show that one.
    await expect
      .poll(async () => {
        const [here, there] = await Promise.all([inputs(page).innerText(), inputs(other).innerText()]);
        return here === there && words.some((word) => here.includes(word));
      })
      .toBe(true);
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await page.getByRole("button", { name: "Resume", exact: true }).last().click();
    await expect(there).toHaveAttribute("data-execution", "waiting");
  });

  await test.step("two pages change it at once: one of them wins, and both show it", async () => {
    for (const one of [page, other]) await one.getByRole("button", { name: "Pause", exact: true }).click();
    await atOnce([page, other], "Pause");
    for (const one of [state, there]) await expect(one).toHaveAttribute("data-execution", "paused");
    const { id } = (await floor.hub.api<Execution[]>("GET", `/api/projects/${project.id}/executions`))[0] ?? {
      id: "",
    };
    await floor.hub.api("POST", `/api/executions/${id}/resume`, { reason: "back" });
    for (const one of [state, there]) await expect(one).toHaveAttribute("data-execution", "waiting");
  });

  await test.step("it needs this person until it is approved", async () => {
    await page.goto("/needs");
    await page.getByRole("region", { name: "Executions that need a person" }).getByRole("link").click();
    await page.getByLabel("Comment (optional)").fill("fine");
    await page.getByRole("button", { name: "Approve" }).click();
    await expect(state).toHaveAttribute("data-execution", "completed");
    await expect(there).toHaveAttribute("data-execution", "completed");
    const timeline = page.getByRole("region", { name: "Timeline" });
    for (const step of ["tell", "bye"])
      await expect(timeline.getByRole("row").filter({ hasText: step })).toContainText("Succeeded");
    await page.locator("summary", { hasText: "Log" }).click();
    await expect(page.getByText("lunch")).toBeVisible();
    await check(page, "a completed execution");
    await page.goto(`/p/${project.id}`);
    await expect(page.getByText(/Goodbye Ann, see you (tomorrow|on Monday)/)).toBeVisible();
  });
});

test("a schedule shows its next times, and what became of each tick", async ({ floor }) => {
  const project = await floor.project("shop");
  const text = TEXT.replace("wait: {for: 2s}", "wait: {for: 1s}");
  await floor.hub.api<Recipe>("POST", `/api/projects/${project.id}/recipes`, { text });
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/schedules`);
  await page.getByRole("button", { name: "Add schedule" }).click();
  const dialog = page.getByRole("dialog", { name: "Add schedule" });
  await dialog.getByLabel("Cron expression").fill("0 9 * * *");
  await dialog.getByLabel("Time zone").fill("Europe/Berlin");
  await dialog.getByRole("button", { name: "Add schedule" }).click();
  const times = page.getByRole("region", { name: "Next times" });
  await expect(times.getByRole("listitem")).toHaveCount(10);
  await page.getByRole("button", { name: "Run now" }).click();
  const ticks = page.getByRole("region", { name: "Ticks" });
  await expect(ticks.getByRole("row").nth(1)).toContainText("Started");
  await check(page, "a schedule");
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByLabel("Note (optional)").fill("holidays");
  await page.getByRole("button", { name: "Pause", exact: true }).last().click();
  await expect(page.getByText("holidays")).toBeVisible();
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await expect(times).toBeVisible();

  await page.goto(`/p/${project.id}/schedules`);
  await expect(page.getByRole("list", { name: "The next seven days" }).getByRole("link")).not.toHaveCount(0);
  await check(page, "schedules");
  const hooks = page.getByRole("region", { name: "Webhooks" });
  await hooks.getByRole("button", { name: "Add webhook" }).click();
  await hooks.getByLabel("Name").fill("github");
  await hooks.getByRole("button", { name: "Add webhook" }).last().click();
  await expect(hooks.getByRole("textbox", { name: "Secret" })).toHaveValue(/^sfh_[0-9a-f]{64}$/);
  await expect(hooks.getByRole("listitem")).toContainText("nothing received yet");
  await check(page, "a webhook that was just added");
  await hooks.getByRole("button", { name: "Done" }).click();
  await expect(hooks.getByRole("textbox", { name: "Secret" })).toHaveCount(0);

  const all = await floor.hub.api<Schedule[]>("GET", `/api/projects/${project.id}/schedules`);
  expect(all).toHaveLength(1);
});

test("the question of an execution is fetched once for each change of it", async ({ floor }) => {
  const project = await floor.project("shop");
  const page = await floor.owner();
  let asked = 0;
  page.on("websocket", (socket) =>
    socket.on("framesent", (frame) => (asked += Number(String(frame.payload).includes("execution.show")))),
  );
  const text = "name: ask\ndescription: Asks\nsteps:\n  - id: sure\n    approve: {question: Are you sure?}\n";
  const recipe = await floor.hub.api<Recipe>("POST", `/api/projects/${project.id}/recipes`, { text });
  const path = `/api/recipes/${recipe.id}/executions`;
  const { id } = await floor.hub.api<Execution>("POST", path, { inputs: {} });
  await page.goto(`/p/${project.id}/executions/${id}`);
  await expect(page.getByRole("region", { name: "Needs you" }).first()).toContainText("Are you sure?");
  await page.goto("/needs");
  await expect(page.getByText("Are you sure?").first()).toBeVisible();
  await page.goto(`/p/${project.id}/recipes`);
  await expect(page.getByRole("link", { name: "ask" }).first()).toBeVisible();
  expect(asked).toBeLessThan(12);
});
