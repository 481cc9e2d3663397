import { expect, live, test } from "./fixtures";
import { add, column, has, start, take } from "./queue";
import { projectWithCode } from "./work";

const WORK = "echo made > made.txt; sleep 0.3; echo all done";

test("workers are started, do tasks, and are stopped", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  await add(floor, project, "First", {
    description: "Judge it",
    acceptance: [{ kind: "text", text: "nice" }],
  });
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/workers`);
  await expect(page.getByRole("heading", { name: "No workers yet" })).toBeVisible();

  await test.step("a form starts them", async () => {
    await page.getByRole("button", { name: "Start workers" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: "Command" }).check();
    await dialog.getByLabel("Command", { exact: true }).last().fill(`sh -c "${WORK}"`);
    await dialog.getByLabel("Number of workers").fill("2");
    await dialog.getByLabel("Budget per worker, in dollars").fill("5");
    await expect(dialog.locator("code").last()).toContainText("--count 2 --budget 5");
    await dialog.getByRole("button", { name: "Start 2 workers" }).click();
    await expect(page.locator("li.card")).toHaveCount(2);
    await expect(page.getByRole("meter").first()).toHaveAttribute("aria-valuetext", "$0.00 of $5.00");
  });

  await test.step("they complete tasks and ask a person for a review", async () => {
    await page.goto(`/p/${project.id}/tasks`);
    await has(page, "Done", "First");
    await has(page, "Needs you", "Judge it");
    await page.goto("/needs");
    await page.getByRole("link", { name: "Open", exact: true }).click();
    await expect(page.getByRole("group", { name: "Changes of Judge it" })).toContainText("made.txt");
    await expect(page.getByRole("group", { name: "Last output" })).toContainText("all done");
    await page.goto(`/p/${project.id}/tasks`);
    await column(page, "Needs you")
      .getByRole("link", { name: /^Judge it/ })
      .click();
    const task = page.getByRole("complementary", { name: "Task" });
    await expect(task.getByRole("region", { name: "Attempts" })).toContainText("command");
    await expect(task.getByRole("link", { name: "Recording" }).first()).toBeVisible();
    await task.getByRole("button", { name: "Accept", exact: true }).click();
    await has(page, "Done", "First", "Judge it");
  });

  await test.step("a worker is stopped, restarted and removed", async () => {
    await page.goto(`/p/${project.id}/workers`);
    await page.getByRole("link", { name: "command 1" }).click();
    const worker = page.getByRole("complementary", { name: "Worker" });
    await expect(worker.getByRole("region", { name: "History" })).toContainText(/First|Judge it/);
    await worker.getByRole("button", { name: "Stop", exact: true }).click();
    await worker.getByRole("button", { name: "Stop", exact: true }).last().click();
    await expect(worker.getByText("Stopped", { exact: true }).first()).toBeVisible();
    await worker.getByRole("button", { name: "Start again" }).click();
    await worker.getByRole("button", { name: "Start again" }).last().click();
    await expect(worker.getByText("Idle")).toBeVisible();
    await worker.getByRole("button", { name: "Edit the budget" }).click();
    await worker.getByLabel("Total budget in dollars").fill("7.50");
    await worker.getByRole("button", { name: "Set budget" }).click();
    await expect(worker.getByText("of $7.50")).toBeVisible();
    await worker.getByRole("button", { name: "Remove" }).click();
    await worker.getByRole("button", { name: "Remove" }).last().click();
    await expect(page).toHaveURL(`/p/${project.id}/workers`);
    await expect(page.locator("li.card")).toHaveCount(1);
  });

  await test.step("metrics have a table for every plot", async () => {
    await page.goto(`/p/${project.id}/metrics`);
    const figure = page.getByRole("figure", { name: "Finished tasks" });
    await expect(figure).toContainText("2 done");
    await figure.getByText("As a table").click();
    await expect(figure.getByRole("table")).toContainText("Done");
    await expect(page.getByRole("region", { name: "Per worker" })).toContainText("command 2");
  });

  await test.step("the owner changes the task settings", async () => {
    await page.goto(`/p/${project.id}/work`);
    await page.getByLabel("Lease (s)").fill("120");
    await page.getByRole("radio", { name: /Round-robin/ }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("Saved. The settings apply from the next task on.")).toBeVisible();
    await page.reload();
    await expect(page.getByLabel("Lease (s)")).toHaveValue("120");
    await expect(page.getByRole("radio", { name: /Round-robin/ })).toBeChecked();
    const guest = await floor.guest("Bo");
    await guest.goto(`/p/${project.id}/work`);
    await expect(guest.getByLabel("Lease (s)")).toBeDisabled();
  });
});

test("a budget input survives updates, and a budget without effect is explained", async ({ floor }) => {
  const project = await floor.project("Plans");
  await add(floor, project, "First", "Another thing");
  const { task, lease } = await take(floor, project, "ann");
  const usage = { input_tokens: 1_000, cached_tokens: 0, output_tokens: 20, cost_micros: null };
  await floor.hub.api("POST", `/api/tasks/${task.id}/report`, {
    fence: lease.fence,
    summary: "Did it",
    usage,
  });
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/workers`);
  await page.getByRole("link", { name: "ann" }).click();
  const worker = page.getByRole("complementary", { name: "Worker" });
  await worker.getByRole("button", { name: "Edit the budget" }).click();
  const amount = worker.getByLabel("Total budget in dollars");
  await amount.fill("7.5");
  await take(floor, project, "ann");
  await expect(worker.getByRole("region", { name: "Current task" })).toContainText("Another thing");
  await expect(amount).toHaveValue("7.5");

  // Tokens without a cost do not count as zero cost.
  await worker.getByRole("button", { name: "Set budget" }).click();
  await expect(worker).toContainText("cost unknown of $7.50");
  await expect(worker).toContainText("the budget has no effect");
  await expect(page.getByRole("meter")).toHaveCount(0);
});

test("a worker has the same colour in the pool, on its task and in its terminal", async ({ floor }) => {
  test.setTimeout(90_000);
  const project = await projectWithCode(floor);
  await add(floor, project, "Long work", "More long work");
  await start(floor, project, "echo at it; exec sleep 60", 2);
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/workers`);
  const card = page.locator("li.card").filter({ hasText: "command 2" });
  await expect(card.getByRole("link", { name: "Terminal" })).toBeVisible({ timeout: 20_000 });
  const dotOf = (place: string) =>
    page
      .locator(place)
      .first()
      .evaluate((dot) => getComputedStyle(dot).backgroundColor);
  const colour = await card.locator(".dot").evaluate((dot) => getComputedStyle(dot).backgroundColor);
  expect(colour).toBe("rgb(16, 185, 129)");
  await card.getByRole("link", { name: "Terminal" }).click();
  await expect(page.getByRole("navigation", { name: "Open terminals" })).toBeVisible();
  expect(await dotOf("section.tile .dot")).toBe(colour);
  await page.goto(`/p/${project.id}/tasks`);
  const at = page.locator("a.card").filter({ hasText: "command 2" });
  expect(await at.locator(".dot").evaluate((dot) => getComputedStyle(dot).backgroundColor)).toBe(colour);
});

test("stop everything asks first, is shown to all, and can be thawed", async ({ floor }) => {
  test.setTimeout(90_000);
  const project = await projectWithCode(floor);
  await add(floor, project, "Long work");
  await start(floor, project, "echo at it; exec sleep 300");
  const page = await floor.owner();
  const guest = await floor.guest("Bo");
  await guest.goto(`/p/${project.id}/tasks`);
  await page.goto(`/p/${project.id}/tasks`);
  await has(page, "In progress", "Long work");
  await live(page);
  await page.locator("main").focus();
  await page.keyboard.press("!");
  const dialog = page.getByRole("dialog", { name: "Stop everything" });
  await expect(dialog).toContainText("1 worker");
  await expect(dialog).toContainText("1 session");
  await dialog.getByRole("button", { name: "Stop everything" }).click();
  await expect(page.getByText("You stopped everything.")).toBeVisible();
  await expect(guest.getByText(/stopped everything in Shop/)).toBeVisible();
  await has(page, "Ready", "Long work");
  await page.getByRole("button", { name: "Thaw" }).click();
  await expect(page.getByText("You stopped everything.")).toHaveCount(0);
  await expect(guest.getByText(/stopped everything in Shop/)).toHaveCount(0);
  await has(page, "In progress", "Long work");
});

test("a worker that fails too often is paused, with a reason", async ({ floor }) => {
  test.setTimeout(90_000);
  const project = await projectWithCode(floor);
  await floor.hub.api("PATCH", `/api/projects/${project.id}/work`, {
    breaker_failures: 1,
    workers_per_task: 9,
  });
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/decisions`);
  await expect(page.getByRole("heading", { name: "No decisions yet" })).toBeVisible();
  await add(floor, project, "Impossible");
  await start(floor, project, "echo no; exit 3");
  await expect(page.getByText("Breaker open", { exact: true })).toBeVisible({ timeout: 20_000 });
  await page.goto(`/p/${project.id}/workers`);
  await expect(page.locator("li.card")).toContainText("Breaker open");
});

test("taking over a colleague's task keeps its history", async ({ floor }) => {
  test.setTimeout(90_000);
  const project = await projectWithCode(floor);
  const [task] = await add(floor, project, "Shared work");
  const guest = await floor.guest("Bo");
  await guest.evaluate(
    (path) =>
      fetch(path, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: '{"worker":"theirs"}',
      }).then((answer) => answer.ok || Promise.reject(new Error(String(answer.status)))),
    `/api/projects/${project.id}/take`,
  );
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/tasks/${task?.id}`);
  const shown = page.getByRole("complementary", { name: "Task" });
  await expect(shown).toContainText("theirs");
  await shown.getByRole("button", { name: "Take over" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("theirs is an external worker and loses this task. It belongs to Bo.");
  await dialog.getByLabel("Agent").selectOption("asker");
  await dialog.getByRole("button", { name: "Take over" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(shown.getByRole("region", { name: "Attempts" })).toContainText("Taken over");
  await expect(shown.getByRole("link", { name: "Terminal" }).first()).toBeVisible({ timeout: 20_000 });
});
