import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { MergeSettings, TaskDetail } from "../src/protocol";
import { check } from "./axe";
import { expect, test } from "./fixtures";
import { add, start } from "./queue";
import { projectWithCode } from "./work";

test("accepted work waits in the merge queue, is tested, and lands", async ({ floor }) => {
  test.setTimeout(240_000);
  const project = await projectWithCode(floor);
  const [task] = await add(floor, project, "Write the guide");
  await start(
    floor,
    project,
    "echo guide > guide.md && git add guide.md && git -c user.name=Bo -c user.email=bo@example.org commit -qm guide",
  );
  const show = () => floor.hub.api<TaskDetail>("GET", `/api/tasks/${task?.id}`);
  await expect.poll(async () => (await show()).task.status, { timeout: 100_000 }).toBe("done");

  const page = await floor.owner();
  await page.goto(`/p/${project.id}/merge`);
  await expect(page.getByRole("heading", { name: "No branch has been added yet" })).toBeVisible();

  await test.step("the checks are set", async () => {
    await page.locator("summary", { hasText: "Settings" }).click();
    const form = page.getByRole("form", { name: "Checks" });
    await expect(form).toContainText("a person must confirm each branch");
    await form.getByLabel("Check 1", { exact: true }).fill("test -f README.md && make");
    await expect(form).toContainText("sh -c");
    await form.getByLabel("Check 1", { exact: true }).fill("test -f README.md");
    await form.getByRole("button", { name: "Add a check" }).click();
    await form.getByLabel("Check 2", { exact: true }).fill('sh -c \'set -e\ntest "$(pwd)" != "a  b"');
    await expect(form).toContainText("A quote is not closed.");
    await expect(form.getByRole("button", { name: "Save checks" })).toBeDisabled();
    await form.getByLabel("Check 2", { exact: true }).press("End");
    await page.keyboard.type("'");
    await form.getByLabel("Time limit of check 2 in seconds").fill("90");
    await check(page, "the form of the checks");
    await form.getByRole("button", { name: "Save checks" }).click();
    await expect(page.getByText("Saved.")).toBeVisible();
    const saved = () =>
      floor.hub
        .api<MergeSettings>("GET", `/api/projects/${project.id}/merge/settings`)
        .then((all) => all.checks);
    const script = 'set -e\ntest "$(pwd)" != "a  b"';
    const both = [
      { argv: ["test", "-f", "README.md"], seconds: 1800 },
      { argv: ["sh", "-c", script], seconds: 90 },
    ];
    expect(await saved()).toEqual(both);
    // A later change of one check leaves the other as it is.
    await page.reload();
    await page.locator("summary", { hasText: "Settings" }).click();
    await form.getByLabel("Time limit of check 1 in seconds").fill("60");
    await form.getByRole("button", { name: "Save checks" }).click();
    await expect(page.getByText("Saved.")).toBeVisible();
    expect(await saved()).toEqual([{ ...both[0], seconds: 60 }, both[1]]);
  });

  // While the queue is paused, its row does not move on.
  await floor.hub.api("POST", `/api/projects/${project.id}/merge/pause`, { reason: "for the test" });
  await test.step("the work is added by its task's page", async () => {
    await page.goto(`/t/${task?.id}`);
    const landing = page.getByRole("region", { name: "Landing" });
    await landing.getByRole("button", { name: "Land", exact: true }).click();
    await expect(landing).toContainText("In the merge queue", { timeout: 100_000 });
  });

  const queue = page.getByRole("region", { name: "Merge queue of main" });
  const row = queue.getByRole("listitem").filter({ hasText: "Write the guide" });
  const history = page.getByRole("region", { name: "History" });
  await test.step("the queue shows it, and moves when it is resumed", async () => {
    await page.goto(`/p/${project.id}/merge`);
    await expect(queue).toContainText("Paused");
    await expect(queue).toContainText("for the test");
    await expect(row).toContainText("Waiting");
    await expect(history).toContainText("No branch has landed or left yet.");
    await check(page, "a paused merge queue");
    await queue.getByRole("button", { name: "Resume" }).click();
    await expect(row).toHaveCount(0, { timeout: 100_000 });
    await expect(queue).toContainText("No branch is waiting.");
  });

  await test.step("the history has its runs, and the repository its work", async () => {
    const landed = history.getByRole("listitem").first();
    await expect(landed).toContainText("Landed");
    await landed.getByRole("button", { name: "Runs", exact: true }).click();
    await expect(landed).toContainText(/test -f README.md\s+passed/);
    await check(page, "the history of a merge queue");
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd: join(floor.hub.dir, "code", "shop"), encoding: "utf8" });
    expect(git("show", "main:guide.md")).toBe("guide\n");
    await page.goto(`/t/${task?.id}`);
    await expect(page.getByRole("region", { name: "Landing" })).toContainText("Landed");
  });
});

test("a branch that fails is sent back, and one can be removed", async ({ floor }) => {
  test.setTimeout(240_000);
  const project = await projectWithCode(floor);
  const dir = join(floor.hub.dir, "code", "shop");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", ...args], { cwd: dir });
  for (const branch of ["bad", "other"]) {
    git("checkout", "-q", "-b", branch, "main");
    if (branch === "bad") git("rm", "-q", "README.md");
    git("commit", "-q", "--allow-empty", "-m", branch);
  }
  git("checkout", "-q", "main");
  await floor.hub.api("PATCH", `/api/projects/${project.id}/merge/settings`, {
    checks: [{ argv: ["test", "-f", "README.md"], seconds: 60 }],
  });
  await floor.hub.api("POST", `/api/projects/${project.id}/merge/pause`, {});

  const page = await floor.owner();
  await page.goto(`/p/${project.id}/merge`);
  const queue = page.getByRole("region", { name: "Merge queue of main" });
  const history = page.getByRole("region", { name: "History" });
  for (const branch of ["bad", "other"]) {
    await page.getByLabel("Branch", { exact: true }).fill(branch);
    await page.getByRole("button", { name: "Add to the queue" }).click();
    await expect(queue.getByRole("listitem").filter({ hasText: branch })).toContainText("Waiting");
  }
  await queue
    .getByRole("listitem")
    .filter({ hasText: "other" })
    .getByRole("button", { name: "Remove" })
    .click();
  await expect(history.getByRole("listitem").filter({ hasText: "other" })).toContainText("Removed");
  await queue.getByRole("button", { name: "Resume" }).click();
  const bad = history.getByRole("listitem").filter({ hasText: "bad" });
  await expect(bad).toContainText("Sent back", { timeout: 100_000 });
  await expect(queue).toContainText("No branch is waiting.");
});
