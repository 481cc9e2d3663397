import type { TaskLine } from "../src/protocol";
import { expect, live, test } from "./fixtures";
import { add, ask, column, detail, has, progress, report, take } from "./queue";

test("tasks move on all open boards", async ({ floor }) => {
  const project = await floor.project("Plans");
  const page = await floor.owner();
  const guest = await floor.guest("Bo");
  await page.goto(`/p/${project.id}`);
  await page.getByRole("link", { name: "Board" }).click();
  await expect(page.getByRole("heading", { name: "No tasks yet" })).toBeVisible();
  await expect(page.getByText('shopfloor task add --project Plans "…"')).toBeVisible();
  await guest.goto(`/p/${project.id}/tasks`);
  await live(guest);

  await test.step("a task is added with the keyboard", async () => {
    await page.keyboard.press("+");
    await page.getByLabel("Description").fill("Fix the parser\nIt loses the last line.");
    await page.getByRole("button", { name: "Add criterion" }).click();
    await page.getByLabel("Criterion 1", { exact: true }).selectOption("Person reviews");
    await page.getByLabel("Person reviews: value").fill("It is easy to read");
    await page.getByLabel("Description").press("Control+Enter");
    await expect(page.getByRole("complementary", { name: "Task" })).toContainText("It is easy to read");
    await has(page, "Ready", "Fix the parser");
    await has(guest, "Ready", "Fix the parser");
  });

  const [second] = await add(floor, project, { description: "Write the guide", priority: 9 });
  await add(floor, project, { description: "Publish it", deps: [second?.id ?? ""] });
  await has(page, "Ready", "Write the guide", "Fix the parser");
  await has(page, "Blocked", "Publish it");

  await test.step("a worker takes it, reports progress, and completes it", async () => {
    const taken = await take(floor, project, "outside");
    expect(taken.task.id).toBe(second?.id);
    await has(guest, "In progress", "Write the guide");
    await expect(column(guest, "In progress")).toContainText("outside");
    await progress(floor, taken, "half of it is written");
    await expect(column(guest, "In progress")).toContainText("half of it is written");
    await report(floor, taken, "Written.");
    await has(guest, "Done", "Write the guide");
    await has(guest, "Ready", "Fix the parser", "Publish it");
    await expect(guest.locator("[data-moves]")).toContainText(/Done|Ready/, { timeout: 15_000 });
  });

  await test.step("the details are beside the board and on their own page", async () => {
    await page.goto(`/t/${second?.id}`);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Write the guide");
    await expect(page.getByRole("region", { name: "Attempts" })).toContainText("outside");
    await expect(page.getByRole("region", { name: "Reports" })).toContainText("Written.");
    await expect(page.getByRole("region", { name: "Dependent tasks" })).toContainText("Publish it");
    await expect(page).toHaveTitle(/Write the guide/);
  });
});

test("a cancelled task blocks its dependants and can be retried", async ({ floor }) => {
  const project = await floor.project("Plans");
  const [first] = await add(
    floor,
    project,
    { id: "a", description: "First" },
    { description: "Second", deps: ["a"] },
  );
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks/${first?.id}`);
  const task = page.getByRole("complementary", { name: "Task" });
  await task.getByRole("button", { name: "Cancel task" }).click();
  await task.getByPlaceholder("Reason (optional)").fill("not now");
  await page.keyboard.press("Enter");
  await has(page, "Failed or cancelled", "First");
  await expect(column(page, "Blocked")).toContainText("First");
  await task.getByRole("button", { name: "Retry" }).click();
  await task.getByPlaceholder("Message to the agent (optional)").fill("now");
  await page.keyboard.press("Enter");
  await has(page, "Ready", "First");
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(`/p/${project.id}/tasks`);
});

test("pasted tasks are added all or none", async ({ floor }) => {
  const project = await floor.project("Plans");
  await add(floor, project, "Fix the parser for empty input files");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks`);
  await live(page);
  const paste = async (text: string) => {
    await page.getByRole("button", { name: "Add tasks" }).click();
    await page.getByRole("button", { name: "Paste Markdown or JSON" }).click();
    await page.getByLabel("Tasks", { exact: true }).fill(text);
  };

  await test.step("errors have line numbers", async () => {
    await paste('{"description":"a"}\n{"description":');
    await expect(page.getByText(/Line 2, tasks\[1\]: invalid JSON/)).toBeVisible();
    await expect(page.getByRole("button", { name: "Add task", exact: true })).toBeDisabled();
    await page.keyboard.press("Escape");
  });

  await test.step("Enter selects a dependency without submitting the form", async () => {
    await page.getByRole("button", { name: "Add tasks" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Description").fill("Write it down");
    await dialog.getByText("Dependencies, priority, files").click();
    await dialog.getByLabel("Dependencies", { exact: true }).fill("no such thing");
    await page.keyboard.press("Enter");
    await dialog.getByLabel("Dependencies", { exact: true }).fill("parser");
    await page.keyboard.press("Enter");
    await expect(dialog.getByRole("button", { name: /^Remove dependency Fix the parser/ })).toBeVisible();
    await expect(dialog.getByLabel("Dependencies", { exact: true })).toHaveValue("");
    await page.keyboard.press("Escape");
    await has(page, "Ready", "Fix the parser for empty input files");
  });

  await test.step("a cycle is rejected, and nothing is added", async () => {
    await paste('[{"id":"a","description":"One","deps":["b"]},{"id":"b","description":"Two","deps":["a"]}]');
    await expect(
      page.getByText(/Line 1, tasks\[0\]\.deps: these tasks depend on each other in a cycle.*a → b → a/),
    ).toBeVisible();
    await expect(page.getByRole("button", { name: "Add 2 tasks" })).toBeDisabled();
    await page.keyboard.press("Escape");
    await has(page, "Ready", "Fix the parser for empty input files");
  });

  await test.step("a Markdown list is added; a duplicate is reported and cancelled", async () => {
    await paste("# Plan\n\n- [ ] fix the parser for empty input files!\n- [x] Done\n- [ ] Draw the logo\n");
    await expect(page.getByText("2 tasks, 1 already done and skipped:")).toBeVisible();
    await page.getByRole("button", { name: "Add 2 tasks" }).click();
    const dialog = page.getByRole("dialog");
    await expect(dialog).toContainText("is similar to");
    await dialog.getByRole("button", { name: "Cancel new task" }).click();
    await expect(dialog).toHaveCount(0);
    await has(page, "Ready", "Fix the parser for empty input files", "Draw the logo");
    await has(page, "Failed or cancelled", "fix the parser for empty input files!");
  });

  await test.step("a plan that is added again updates its open tasks", async () => {
    await paste("- [ ] Draw the logo\n  In two colours.\n- [ ] Print the cards\n");
    const dialog = page.getByRole("dialog");
    await expect(dialog.getByRole("listitem").filter({ hasText: "Draw the logo" })).toContainText(
      /updates\s+[A-Z]+-\d+/,
    );
    await expect(dialog.getByRole("switch")).toBeChecked();
    await dialog.getByRole("switch").click();
    await expect(dialog.getByRole("button", { name: "Add 2 tasks" })).toBeVisible();
    await dialog.getByRole("switch").click();
    await dialog.getByRole("button", { name: "Update 1 task, add 1" }).click();
    await expect(dialog).toHaveCount(0);
    await has(page, "Ready", "Fix the parser for empty input files", "Draw the logo", "Print the cards");
  });

  await test.step("what people answered stays, and a task that cannot change does not stop the others", async () => {
    const plan = (priority: number) =>
      JSON.stringify([
        { description: "Draw the logo", context: "For the shop.", needs: ["hands"] },
        { description: "Print the cards", priority },
      ]);
    await paste(plan(6));
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Update 2 tasks" }).click();
    await expect(dialog).toHaveCount(0);
    const lines = await floor.hub.api<TaskLine[]>("GET", `/api/tasks?project=${project.id}`);
    const id = (title: string) =>
      lines.find((one) => one.title === title && one.status === "ready")?.id ?? "";
    const logo = await take(floor, project, "hands", id("Draw the logo"), ["hands"]);
    await ask(floor, logo, "Which colour?");
    const [open] = (await detail(floor, logo.task.id)).escalations;
    await floor.hub.api("POST", `/api/escalations/${open?.id}/answer`, { act: "tell", text: "Blue." });
    // A worker has it: what it needs cannot change, and its context only grows.
    await paste(plan(8).replace("hands", "eyes").replace("For the shop.", "For the new shop."));
    await dialog.getByRole("button", { name: "Update 2 tasks" }).click();
    await expect(dialog.getByRole("alert")).toContainText(new RegExp(`${logo.task.short}: `));
    await expect.poll(async () => (await detail(floor, id("Print the cards"))).task.priority).toBe(8);
    await dialog
      .getByLabel("Tasks", { exact: true })
      .fill(plan(8).replace("For the shop.", "For the new shop."));
    await dialog.getByRole("button", { name: "Update 2 tasks" }).click();
    await expect(dialog).toHaveCount(0);
    const { context } = (await detail(floor, logo.task.id)).task;
    expect(context).toMatch(/^For the new shop\.\n\nQuestion: Which colour\?\nAnswer by owner: Blue\./u);
  });
});

test("cards keep their places under the pointer", async ({ floor }) => {
  const project = await floor.project("Plans");
  const [first] = await add(floor, project, "One", "Two", "Three");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks`);
  await has(page, "Ready", "One", "Two", "Three");
  const ready = column(page, "Ready");
  await ready.getByRole("link", { name: /^Two/ }).hover();
  const before = await ready.getByRole("link", { name: /^Two/ }).boundingBox();
  const taken = await take(floor, project, "outside", first?.id);
  await add(floor, project, { description: "Urgent", priority: 9 });
  await has(page, "In progress", "One");
  await expect(ready.getByRole("link", { name: /^One/ })).toContainText("→ Assigned");
  await expect(ready.getByRole("button", { name: "1 new" })).toBeVisible();
  const button = await ready.getByRole("button", { name: "1 new" }).boundingBox();
  const after = await ready.getByRole("link", { name: /^Two/ }).boundingBox();
  expect((after?.y ?? 0) - (before?.y ?? 0)).toBeLessThanOrEqual((button?.height ?? 0) + 10);
  await report(floor, taken, "done");
  await page.mouse.move(5, 5);
  await has(page, "Ready", "Urgent", "Two", "Three");
});

test("the board has keyboard navigation and a filter in its URL", async ({ floor }) => {
  const project = await floor.project("Plans");
  const [one] = await add(floor, project, "Parser: one", "Parser: two", "Lexer: three");
  const taken = await take(floor, project, "outside", one?.id);
  const page = await floor.owner();
  await page.goto(`/p/${project.id}`);
  await live(page);
  await page.locator("main").focus();
  await page.keyboard.press("b");
  await has(page, "Ready", "Parser: two", "Lexer: three");
  await page.keyboard.press("j");
  await expect(column(page, "Ready").getByRole("link", { name: /^Parser: two/ })).toBeFocused();
  await page.keyboard.press("j");
  await expect(column(page, "Ready").getByRole("link", { name: /^Lexer: three/ })).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(column(page, "In progress").getByRole("link", { name: /^Parser: one/ })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`/p/${project.id}/tasks/${taken.task.id}`);
  await expect(page.getByRole("complementary", { name: "Task" })).toContainText("outside");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("parser");
  await has(page, "Ready", "Parser: two");
  await expect(page).toHaveURL(`/p/${project.id}/tasks?q=parser`);
  await page.getByLabel("Worker", { exact: true }).selectOption("outside");
  await has(page, "Ready");
  await has(page, "In progress", "Parser: one");
  await page.reload();
  await has(page, "In progress", "Parser: one");
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await has(page, "Ready", "Parser: two", "Lexer: three");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("lexer three");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/tasks\/tsk_/);
});

test("a board with thousands of tasks is fast", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await floor.project("Plans");
  for (let part = 0; part < 6; part++)
    await add(
      floor,
      project,
      ...Array.from(
        { length: 500 },
        (_, at) => `Task ${part * 500 + at} of many, quite unlike ${part * 500 + at}`,
      ),
    );
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks`);
  await expect(column(page, "Ready").getByRole("heading")).toContainText("3000", { timeout: 30_000 });
  expect(await page.locator("a.card").count()).toBeLessThan(80);
  // Short names are searched, too: only the last task has this number.
  await page.getByLabel("Search tasks").fill("unlike 3000");
  await has(page, "Ready", `Task 2999 of many, quite unlike 2999`);
  const taken = await take(floor, project, "outside");
  await page.getByLabel("Search tasks").fill("");
  await expect(column(page, "In progress").locator(".title")).toHaveCount(1);
  await report(floor, taken, "done");
  await expect(column(page, "Done").locator(".title")).toHaveCount(1);
  await page.goto(`/p/${project.id}/graph`);
  await expect(page.getByRole("heading", { name: /too many for the graph/ })).toBeVisible({
    timeout: 30_000,
  });
});

test("a board is up to date after a hub restart", async ({ floor }) => {
  const project = await floor.project("Plans");
  await add(floor, project, "One");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks`);
  await has(page, "Ready", "One");
  await floor.hub.kill();
  await floor.hub.start();
  await live(page);
  const taken = await take(floor, project, "outside");
  await has(page, "In progress", "One");
  await report(floor, taken, "done");
  await has(page, "Done", "One");
});

test("the graph shows dependencies", async ({ floor }) => {
  const project = await floor.project("Plans");
  const made = await add(
    floor,
    project,
    { id: "a", description: "Base" },
    { id: "b", description: "Left", deps: ["a"] },
    { id: "c", description: "Right", deps: ["a"] },
    { description: "Top", deps: ["b", "c"] },
    "Alone",
  );
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/graph`);
  const picture = page.getByRole("group", { name: "Task graph" });
  const node = (name: RegExp) => picture.getByRole("link", { name });
  await expect(page.locator("path.edge")).toHaveCount(4);
  await expect(node(/^Top: Blocked, waiting for 2 tasks/)).toBeVisible();
  const x = async (name: RegExp) => (await node(name).boundingBox())?.x ?? 0;
  expect(await x(/^Base/)).toBeLessThan(await x(/^Left/));
  expect(await x(/^Left/)).toBeLessThan(await x(/^Top/));

  await test.step("arrow keys follow the edges", async () => {
    await node(/^Base/).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await expect(node(/^Top/)).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(`/p/${project.id}/graph/${made[3]?.id}`);
    await expect(page.getByRole("complementary", { name: "Task" })).toContainText("Left");
    const wide = (await node(/^Top/).boundingBox())?.width ?? 0;
    await page.keyboard.press("-");
    await expect.poll(async () => (await node(/^Top/).boundingBox())?.width ?? 0).toBeLessThan(wide);
  });

  await test.step("nodes update in place", async () => {
    const before = await node(/^Left/).boundingBox();
    await report(floor, await take(floor, project, "outside", made[0]?.id), "done");
    await expect(node(/^Left: Ready/)).toBeVisible();
    await expect(node(/^Base: Done/)).toBeVisible();
    const after = await node(/^Left/).boundingBox();
    expect(after?.x).toBeCloseTo(before?.x ?? 0, 0);
    expect(after?.y).toBeCloseTo(before?.y ?? 0, 0);
  });
});

test("a question appears on all pages, and the answer is added to the task", async ({ floor }) => {
  const project = await floor.project("Plans");
  await add(floor, project, "Round the cents", "Draw the logo");
  const page = await floor.owner({ permissions: ["notifications"] });
  await page.evaluate(() => {
    const told: string[] = [];
    document.hasFocus = () => false;
    const Fake = class {
      static permission = "granted";
      static requestPermission = () => Promise.resolve("granted");
      close() {}
      constructor(title: string, { body }: { body: string }) {
        told.push(`${title}: ${body}`);
      }
    };
    Object.assign(window, { told, Notification: Fake });
  });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("turn on notifications");
  await page.keyboard.press("Enter");
  const guest = await floor.guest("Bo");
  await guest.goto(`/p/${project.id}`);
  const taken = await take(floor, project, "outside");
  await ask(floor, taken, "Half up or half down?", ["Half up", "Half down"]);

  const needs = page.getByRole("navigation", { name: "Floor" }).getByRole("region", { name: "Needs you" });
  await expect(needs).toContainText("Half up or half down?");
  await expect(page.getByRole("link", { name: "1 needs you" })).toBeVisible();
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { told: string[] }).told))
    .toEqual(["Round the cents needs you: Half up or half down?"]);
  await expect(page).toHaveTitle(/^\(1 needs you\) /);
  await expect(guest.getByRole("article", { name: "Needs you: Round the cents" })).toBeVisible();
  await needs.getByRole("link", { name: /Half up or half down/ }).click();
  await expect(page).toHaveURL(/\/e\/esc_/);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Round the cents");

  await page.goto(`/p/${project.id}`);
  const card = page.getByRole("article", { name: "Needs you: Round the cents" });
  await card.getByLabel("Message to the agent").fill("as the bank does");
  await card.getByRole("button", { name: "Half up", exact: true }).click();
  await expect(card).toHaveCount(0);
  await expect(needs).toHaveCount(0);
  await expect(guest.getByRole("article", { name: "Needs you: Round the cents" })).toHaveCount(0);
  expect((await detail(floor, taken.task.id)).task.context).toContain("as the bank does");
  await page.goto(`/p/${project.id}/escalations`);
  await expect(page.getByRole("region", { name: /^Answered/ })).toContainText("as the bank does");
  await expect(page.getByRole("heading", { name: "No open requests" })).toBeVisible();
});
