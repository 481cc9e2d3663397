import type { Activity } from "../src/protocol";
import { expect, sidebar, test } from "./fixtures";
import { add, ask, take } from "./queue";
import { projectWithCode, run, session } from "./work";

test("an activity whose sessions have ended is closed with one key, and opened again", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const running = await run(floor, project, ["sh", "-c", "echo hello; exec cat"]);
  const over = await run(floor, project, ["sh", "-c", "echo bye"]);
  await floor.hub.api("PATCH", `/api/activities/${running.activity}`, { content: "Parser" });
  await floor.hub.api("PATCH", `/api/activities/${over.activity}`, { content: "Rounding" });
  await expect.poll(async () => (await session(floor, over.id)).state.status).toBe("exited");
  const page = await floor.owner();
  const side = sidebar(page);
  await expect(side.getByRole("link", { name: /Parser/ })).toBeVisible();
  const group = side.getByRole("button", { name: "Ended, not closed (1)" });
  await expect(side.getByRole("link", { name: /Rounding/ })).toHaveCount(0);
  await expect(page.locator("main").getByRole("link", { name: "Rounding", exact: true })).toHaveCount(0);
  await group.click();
  const row = side.getByRole("link", { name: /Rounding/ });
  const status = async () =>
    (await floor.hub.api<Activity>("GET", `/api/activities/${over.activity}`)).status;

  await row.focus();
  await page.keyboard.press("c");
  await expect(side.getByRole("button", { name: "Finished (1)" })).toBeVisible();
  await expect.poll(status).toBe("completed");
  await expect(page.getByText("Rounding: completed")).toBeVisible();
  await page.keyboard.press("u");
  await expect.poll(status).toBe("active");
  await expect(group).toBeVisible();

  await side.getByRole("button", { name: "Abandon Rounding" }).click();
  await expect.poll(status).toBe("abandoned");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect.poll(status).toBe("active");
});

test("the box on the floor, the number in the top bar and the tab count the same", async ({ floor }) => {
  const project = await floor.project("Plans");
  await floor.activity(project, "Upgrade the toolchain", "blocked");
  await add(floor, project, "Round the cents");
  await ask(floor, await take(floor, project, "outside"), "Half up or half down?");
  const page = await floor.owner();
  const box = sidebar(page).getByRole("region", { name: "Needs you" });
  await expect(box.getByRole("listitem")).toHaveCount(2);
  await expect(box.locator(".count")).toHaveText("2");
  await expect(page.getByRole("link", { name: "2 need you" })).toBeVisible();
  await expect(page).toHaveTitle(/^\(2 need you\) /);
  // One filled mark; the rows are plain.
  const fill = (element: Element) => getComputedStyle(element).backgroundColor;
  for (const row of await box.locator("li a").all())
    expect(await row.evaluate(fill)).toBe("rgba(0, 0, 0, 0)");
});
