import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Task, TaskDetail, Workspace } from "../src/protocol";
import { check } from "./axe";
import { expect, test } from "./fixtures";
import { add, start } from "./queue";
import { projectWithCode } from "./work";

test("changes are commented, sent back and approved", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  const [task] = await add(floor, project, {
    description: "Improve the words",
    acceptance: [{ kind: "approved" }],
  });
  await start(
    floor,
    project,
    "sed -i 's/^# Shop$/# Shop floor/; s/^two$/two and a half/' README.md; mkdir -p docs; echo more >> docs/more.md; echo improved it",
  );
  const show = () => floor.hub.api<TaskDetail>("GET", `/api/tasks/${task?.id}`);
  const asked = (count: number) =>
    expect
      .poll(async () => (await show()).escalations.filter((one) => one.kind === "review").length, {
        timeout: 60_000,
      })
      .toBe(count);
  await asked(1);

  const page = await floor.owner();
  await page.goto(`/t/${task?.id}`);
  const changes = page.getByRole("region", { name: "Changes" });
  const readme = changes.getByRole("region", { name: "README.md" });
  await expect(readme).toContainText("two and a half");
  await expect(readme.locator("mark")).toHaveText(["floor"]);
  await expect(changes.getByRole("navigation", { name: "Changed files" })).toContainText("more.md");

  await test.step("both layouts are remembered", async () => {
    await changes.getByRole("button", { name: "Side by side" }).click();
    await expect(readme.locator(".row").first()).toBeVisible();
    await page.reload();
    await expect(readme.locator(".row").first()).toBeVisible();
    await changes.getByRole("button", { name: "Unified" }).click();
    await expect(readme.locator(".row")).toHaveCount(0);
  });

  await test.step("a comment on lines is sent with a message", async () => {
    await readme.getByRole("button", { name: "Comment on line 4 of README.md" }).press("Enter");
    await readme.getByLabel("Comment on line 4 of README.md", { exact: true }).last().fill("Use digits");
    await readme.getByRole("spinbutton").fill("5");
    await readme.getByRole("button", { name: "Add comment" }).click();
    const thread = readme.getByRole("article", { name: "Comments on README.md:4-5" });
    await expect(thread).toContainText("Open");
    await expect(thread).toContainText("Use digits");
    await check(page, "a review");
    await changes.getByLabel("Message to the agent").fill("Nearly there");
    await changes.getByRole("button", { name: "Send back (1 comment)" }).click();
    await expect(thread).toContainText("Sent");
  });

  await asked(2);
  const [first] = (await show()).reports;
  expect(first?.reason).toContain("sent it back with 1 comment: Nearly there");

  await test.step("a viewed file stays closed, and the approval ends the task", async () => {
    const more = changes.getByRole("region", { name: "docs/more.md" });
    await more.getByLabel("Viewed").check();
    await expect(more.getByRole("button", { expanded: false })).toBeVisible();
    await page.reload();
    await expect(more.getByLabel("Viewed")).toBeChecked();
    await changes.getByRole("button", { name: "Approve" }).click();
    await expect(changes).toContainText("Approved by owner");
    await expect.poll(async () => ((await show()).task as Task).status).toBe("done");
  });

  await test.step("a phone shows it in one column", async () => {
    const phone = await floor.owner({ viewport: { width: 390, height: 800 } });
    await phone.goto(`/t/${task?.id}`);
    await expect(phone.getByRole("region", { name: "README.md" })).toContainText("two and a half");
    const wide = await phone.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
    expect(wide).toBe(false);
    await check(phone, "a review on a phone");
  });
});

test("changes that cannot be shown cannot be approved", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const [task] = await add(floor, project, {
    description: "Improve the words",
    acceptance: [{ kind: "approved" }],
  });
  await start(floor, project, "echo more >> README.md");
  const show = () => floor.hub.api<TaskDetail>("GET", `/api/tasks/${task?.id}`);
  await expect.poll(async () => (await show()).task.status, { timeout: 60_000 }).toBe("escalated");
  const page = await floor.owner();
  await page.goto(`/t/${task?.id}`);
  const changes = page.getByRole("region", { name: "Changes" });
  const approve = changes.getByRole("button", { name: "Approve" });
  await expect(approve).toBeEnabled();

  const workspace = `/api/workspaces/${(await show()).attempts[0]?.workspace}`;
  await floor.hub.api("POST", `${workspace}/discard`);
  await expect.poll(async () => (await floor.hub.api<Workspace>("GET", workspace)).status).toBe("cleaned");
  // The runner also loses what it kept.
  rmSync(join(floor.hub.data, "runner", "repositories"), { recursive: true });
  await page.reload();
  await expect(changes).toContainText("Cannot show the changes");
  await expect(approve).toBeDisabled();
  await expect(changes).toContainText("Changes that cannot be shown cannot be approved.");
  await changes.getByLabel("Message to the agent").fill("Please do it again");
  await expect(changes.getByRole("button", { name: "Send back" })).toBeEnabled();
});
