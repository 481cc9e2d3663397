import type { Activity, Landing, TaskDetail } from "../src/protocol";
import { check } from "./axe";
import { expect, type Floor, sidebar, test } from "./fixtures";
import { add, start } from "./queue";
import { projectWithCode, run, session } from "./work";

/** A script that commits one more line to a file. */
const commits = (file: string) =>
  `echo line >> ${file} && git add ${file} && git -c user.name=Bo -c user.email=bo@example.org commit -qm ${file}`;

const landed = (floor: Floor, task: string) =>
  expect.poll(
    async () => {
      const all = await floor.hub.api<Landing[]>("GET", `/api/landings?task=${task}`);
      return all.filter((one) => one.state === "landed").length;
    },
    { timeout: 100_000 },
  );

test("work that is done again can land again, from its task and its activity", async ({ floor }) => {
  test.setTimeout(300_000);
  const project = await projectWithCode(floor);
  await floor.hub.api("PATCH", `/api/projects/${project.id}/merge/settings`, {
    checks: [{ argv: ["true"], seconds: 60 }],
  });
  const activity = await floor.activity(project, "Guide");
  const [first, second] = await add(
    floor,
    project,
    { description: "Write the guide", activity: activity.id },
    { description: "Write the index", activity: activity.id },
  );
  await start(floor, project, commits("guide.md"));
  const show = (id = first?.id) => floor.hub.api<TaskDetail>("GET", `/api/tasks/${id}`);
  const done = (id?: string) =>
    expect.poll(async () => (await show(id)).task.status, { timeout: 100_000 }).toBe("done");
  await done(first?.id);
  await done(second?.id);

  const page = await floor.owner();
  const landing = page.getByRole("region", { name: "Landing" });
  const land = landing.getByRole("button", { name: "Land", exact: true });
  await page.goto(`/t/${first?.id}`);
  await land.click();
  await expect(landing).toContainText("Landed", { timeout: 100_000 });
  await expect(land).toHaveCount(0);
  await expect(landing.getByRole("button", { name: "Open pull request" })).toHaveCount(0);

  await test.step("its activity offers the other task", async () => {
    await page.goto(`/p/${project.id}/a/${activity.id}`);
    await expect(landing).toContainText("There is newer work");
    const tasks = page.getByRole("region", { name: "Changes of tasks" });
    await expect(tasks.getByRole("link", { name: /^Changes of / })).toHaveCount(2);
    await check(page, "an activity with work to land");
    await land.click();
    await landed(floor, second?.id ?? "").toBe(1);
    await expect(land).toHaveCount(0);
  });

  await test.step("a reopened task that is done again lands again", async () => {
    await floor.hub.api("POST", `/api/tasks/${first?.id}/reopen`, { text: "one more line" });
    await expect.poll(async () => (await show()).reports.length, { timeout: 100_000 }).toBe(2);
    await done(first?.id);
    await page.goto(`/t/${first?.id}`);
    await expect(landing).toContainText("There is newer work");
    await land.click();
    await landed(floor, first?.id ?? "").toBe(2);
    await expect(land).toHaveCount(0);
  });

  await test.step("on GitHub, a pull request is offered instead", async () => {
    const github = { location: "https://github.com/example/shop.git", base_branch: null };
    await floor.hub.api("PATCH", `/api/projects/${project.id}`, {
      repositories: [...project.repositories, github],
    });
    await floor.hub.api("POST", `/api/tasks/${first?.id}/reopen`, { text: "and one more" });
    await expect.poll(async () => (await show()).reports.length, { timeout: 100_000 }).toBe(3);
    await done(first?.id);
    await expect(landing.getByRole("button", { name: "Open pull request" })).toBeVisible();
  });
});

test("the changes of an activity are shown at once, also after its workspace is gone", async ({ floor }) => {
  test.setTimeout(200_000);
  const project = await projectWithCode(floor);
  const { id, activity } = await run(floor, project, ["sh", "-c", commits("notes.md")]);
  await expect.poll(async () => (await session(floor, id)).state.status, { timeout: 20_000 }).toBe("exited");
  const page = await floor.owner();
  await page.goto(`/p/${project.id}/a/${activity}`);
  const workspaces = page.getByRole("region", { name: "Workspaces" });
  await expect(workspaces.getByRole("region", { name: "notes.md" })).toContainText("line", {
    timeout: 20_000,
  });
  await workspaces.getByRole("button", { name: "Changes" }).click();
  await expect(workspaces.getByRole("region", { name: "notes.md" })).toHaveCount(0);

  await test.step("a workspace with new commits can land again", async () => {
    await floor.hub.api("PATCH", `/api/projects/${project.id}/merge/settings`, {
      checks: [{ argv: ["true"], seconds: 60 }],
    });
    const land = workspaces.getByRole("button", { name: "Land", exact: true });
    await land.click();
    await expect(workspaces).toContainText("Landed", { timeout: 100_000 });
    const again = await floor.hub.api<{ id: string }>("POST", `/api/sessions`, {
      activity,
      agent: "command",
      argv: ["sh", "-c", commits("more.md")],
      workspace: (await session(floor, id)).workspace,
    });
    await expect
      .poll(async () => (await session(floor, again.id)).state.status, { timeout: 20_000 })
      .toBe("exited");
    await expect(workspaces).toContainText("There is newer work", { timeout: 20_000 });
    await expect(land).toBeVisible();
  });

  await test.step("of a task, without its workspace", async () => {
    const home = await floor.activity(project, "Guide");
    const [task] = await add(floor, project, { description: "Write the guide", activity: home.id });
    await floor.hub.api("PATCH", `/api/projects/${project.id}/landing`, { mode: "automatic" });
    await start(floor, project, commits("guide.md"));
    await landed(floor, task?.id ?? "").toBe(1);
    await page.goto(`/p/${project.id}/a/${home.id}`);
    const changes = page.getByRole("region", { name: "Changes", exact: true });
    await expect(changes.getByRole("region", { name: "guide.md" })).toContainText("line", {
      timeout: 60_000,
    });
    await check(page, "the changes of an activity without workspaces");
    expect((await floor.hub.api<Activity>("GET", `/api/activities/${home.id}`)).id).toBe(home.id);
  });
});

test("the floor shows a merge queue that stands still or waits for a person", async ({ floor }) => {
  test.setTimeout(200_000);
  const project = await projectWithCode(floor);
  const [task] = await add(floor, project, "Write the guide");
  await start(floor, project, commits("guide.md"));
  await expect
    .poll(async () => (await floor.hub.api<TaskDetail>("GET", `/api/tasks/${task?.id}`)).task.status, {
      timeout: 100_000,
    })
    .toBe("done");
  await floor.hub.api("POST", `/api/projects/${project.id}/landings`, { tasks: [task?.id] });
  const page = await floor.owner();
  const side = sidebar(page);
  const sign = side.getByRole("link", { name: "1 branch to confirm", exact: true });
  const needs = side.getByRole("region", { name: "Needs you" });
  await expect(sign).toBeVisible({ timeout: 60_000 });
  await expect(needs).toContainText("Shop: 1 branch to confirm");
  // It is part of what a client gets when it connects.
  await page.reload();
  await expect(sign).toBeVisible();
  await floor.hub.api("POST", `/api/projects/${project.id}/merge/pause`, { reason: "release day" });
  const paused = side.getByRole("link", { name: "Merge queue paused, 1 waiting", exact: true });
  await expect(paused).toBeVisible();
  await expect(paused).toHaveAttribute("title", /release day/);
  await page.reload();
  await expect(paused).toBeVisible();
  await check(page, "a floor with a paused merge queue");
  await needs.getByRole("link", { name: "Needs you" }).click();
  const merges = page.getByRole("region", { name: "Merge queues" });
  await expect(merges).toContainText("release day");
  await check(page, "a merge queue that needs a person");
  await merges.getByRole("link", { name: "main" }).click();
  const queue = page.getByRole("region", { name: "Merge queue of main" });
  await queue.getByRole("button", { name: "Resume" }).click();
  await queue.getByRole("button", { name: "Confirm" }).click();
  await expect(sign).toHaveCount(0, { timeout: 100_000 });
  await expect(paused).toHaveCount(0);
  await expect(needs).toHaveCount(0);
});
