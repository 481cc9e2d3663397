import { check } from "./axe";
import { expect, type Floor, live, test } from "./fixtures";
import { add, ask, start, take } from "./queue";
import { projectWithCode, run, screen, session } from "./work";

async function furnish(floor: Floor) {
  const project = await floor.project(
    "Payments rewrite\n\n- one\n- [ ] two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted `code`\n\n```\nlong\n```",
  );
  const activity = await floor.activity(project, "Dual-write\n\n# Plan\nall of it");
  await floor.activity(project, "Backfill", "blocked");
  await floor.activity(project, "Load test", "completed");
  await floor.hub.api("PATCH", `/api/activities/${activity.id}`, {
    links: [{ kind: "branch", target: "feature/x" }],
    content: "Dual-write\n\n# Plan\nmost of it",
  });
  await floor.say(project, `hello, see #${activity.id} and https://example.org`);
  await floor.hub.api("POST", "/api/runners", { name: "laptop" });
  const code = { location: "/srv/code", base_branch: "main", setup: "make", copy: [".env"] };
  await floor.hub.api("PATCH", `/api/projects/${project.id}`, { repositories: [code] });
  return { project, activity };
}

const LOOKS = [
  { colorScheme: "light", size: "desktop", viewport: { width: 1280, height: 800 } },
  { colorScheme: "dark", size: "desktop", viewport: { width: 1280, height: 800 } },
  { colorScheme: "light", size: "phone", viewport: { width: 390, height: 844 } },
] as const;

for (const { colorScheme, size, viewport } of LOOKS) {
  test(`axe finds no violations, ${colorScheme}, ${size}`, async ({ floor }) => {
    test.setTimeout(180_000);
    const { project, activity } = await furnish(floor);
    const guest = await floor.guest("Bo");
    await guest.goto(`/p/${project.id}`);
    const page = await floor.owner({ colorScheme, viewport });
    const places = [
      "/",
      `/p/${project.id}`,
      `/p/${project.id}/a/${activity.id}`,
      `/p/${project.id}/settings`,
    ];
    for (const path of [
      ...places,
      "/people",
      "/runners",
      "/audit",
      "/settings",
      "/nowhere",
      "/p/prj_0/a/act_0",
    ]) {
      await page.goto(path);
      await live(page);
      await expect(page.locator(".skeleton")).toHaveCount(0);
      await check(page, path);
    }
    await page.goto(`/p/${project.id}/settings`);
    await page.getByRole("button", { name: "Edit /srv/code" }).click();
    const repository = page.getByRole("form", { name: "Repository /srv/code" });
    await repository.getByLabel("Ports", { exact: true }).fill("none");
    await repository.getByRole("button", { name: "Save repository" }).click();
    await expect(repository.getByText("is not a range of ports")).toBeVisible();
    await check(page, "a repository");
    await page.goto(`/p/${project.id}/a/${activity.id}`);
    await page.getByRole("button", { name: "History" }).click();
    await expect(page.getByRole("group", { name: /Changes in version/ })).toBeVisible();
    await check(page, "history");
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("textbox", { name: "Description of the activity" }).fill("Dual-write\nmine");
    await floor.hub.api("PATCH", `/api/activities/${activity.id}`, { content: "Dual-write\ntheirs" });
    await expect(page.getByRole("button", { name: "Put both in the editor" })).toBeVisible();
    await check(page, "conflict");
    await page.keyboard.press("Control+k");
    await check(page, "palette");
    await page.keyboard.press("Escape");
    await page.goto("/");
    await live(page);
    for (const key of ["?", "p"]) {
      await page.keyboard.press(key);
      await expect(page.getByRole("dialog")).toBeVisible();
      await check(page, `dialog ${key}`);
      await page.keyboard.press("Escape");
    }
    await floor.hub.kill();
    await expect(page.getByText("The hub is not responding.")).toBeVisible();
    await check(page, "stale");
    await floor.hub.start();
  });

  test(`axe finds no violations on execution pages, ${colorScheme}, ${size}`, async ({ floor }) => {
    test.setTimeout(180_000);
    const project = await projectWithCode(floor);
    const busy = await run(floor, project, [
      "sh",
      "-c",
      "echo one >> README.md; echo two > new.txt; exec cat",
    ]);
    const over = await run(floor, project, ["sh", "-c", "echo done; exit 1"]);
    await expect.poll(async () => (await session(floor, over.id)).state.status).toBe("exited");
    const page = await floor.owner({ colorScheme, viewport });
    for (const path of [
      "/",
      "/terminals",
      `/p/${project.id}/terminals`,
      `/p/${project.id}/a/${busy.activity}`,
      `/s/${busy.id}`,
      `/s/${over.id}`,
      "/recordings",
      `/s/${over.id}/recording`,
      "/runners",
    ]) {
      await page.goto(path);
      await live(page);
      await expect(page.locator(".skeleton")).toHaveCount(0);
      await check(page, path);
      const wide = await page.evaluate(() =>
        [document.documentElement, ...document.querySelectorAll(".page, .content")]
          .filter((one) => one.scrollWidth > one.clientWidth)
          .map((one) => one.className || one.tagName),
      );
      expect(wide, `${path} is wider than its place`).toEqual([]);
    }
    await page.goto(`/s/${busy.id}`);
    await expect(screen(page)).toBeVisible();
    await page.getByRole("button", { name: "Show the diff" }).click();
    await page.getByRole("button", { name: "Comment on line 1 of new.txt" }).click();
    await page.getByLabel("Comment on line 1 of new.txt", { exact: true }).last().fill("why?");
    await check(page, "a comment");
    await page.getByRole("button", { name: "Add comment" }).click();
    await check(page, "a kept comment");
    await page.getByRole("button", { name: "Hide the diff" }).first().click();
    await page.getByRole("button", { name: "Start an agent" }).first().click();
    await page.getByText("Model, sandbox, runner and more").click();
    await page
      .getByRole("combobox", { name: "Sandbox", exact: true })
      .selectOption("Write access to its workspace only");
    await check(page, "start an agent");
    await page.keyboard.press("Escape");
    await page
      .locator("main")
      .getByRole("button", { name: /^Stop / })
      .click();
    await check(page, "stop");
  });

  test(`axe finds no violations on task pages, ${colorScheme}, ${size}`, async ({ floor }) => {
    test.setTimeout(300_000);
    const project = await projectWithCode(floor);
    const [first] = await add(
      floor,
      project,
      {
        id: "a",
        description: "Base\n\nwith **words**",
        acceptance: [{ kind: "text", text: "nice" }],
        priority: 9,
      },
      { description: "Waits", deps: ["a"] },
      "Another",
    );
    const taken = await take(floor, project, "outside", first?.id);
    await ask(floor, taken, "Which of the two?", ["This", "That"]);
    const [worker] = await start(floor, project, "echo no; exit 1");
    await expect
      .poll(async () =>
        (await floor.hub.api<{ failed: number }[]>("GET", "/api/workers")).some((one) => one.failed > 0),
      )
      .toBe(true);
    const [asked] = await floor.hub.api<{ id: string }[]>("GET", "/api/escalations");
    const page = await floor.owner({ colorScheme, viewport });
    const p = `/p/${project.id}`;
    for (const path of [
      p,
      ...["tasks", "graph", "workers", "decisions", "metrics", "escalations", "work"].map(
        (place) => `${p}/${place}`,
      ),
      `${p}/tasks/${first?.id}`,
      `${p}/graph/${first?.id}`,
      `${p}/workers/${worker?.id}`,
      `/t/${first?.id}`,
      `/e/${asked?.id}`,
      "/needs",
      "/",
    ]) {
      await page.goto(path);
      await live(page);
      await expect(page.locator(".skeleton")).toHaveCount(0);
      await check(page, path);
      const wide = await page.evaluate(() =>
        [document.documentElement, ...document.querySelectorAll(".page, .content")]
          .filter((one) => one.scrollWidth > one.clientWidth)
          .map((one) => one.className || one.tagName),
      );
      expect(wide, `${path} is wider than its place`).toEqual([]);
    }
    await page.goto(`${p}/tasks`);
    await live(page);
    for (const key of ["+", "!", "?"]) {
      await page.keyboard.press(key);
      await expect(page.getByRole("dialog")).toBeVisible();
      await check(page, `dialog ${key}`);
      await page.keyboard.press("Escape");
      await expect(page.getByRole("dialog")).toHaveCount(0);
    }
    await page.goto(`${p}/workers`);
    await page.getByRole("button", { name: "Stop all" }).click();
    await check(page, "stop all");
    await page.getByRole("button", { name: "Start workers" }).click();
    await expect(page.getByRole("dialog")).toBeVisible();
    await check(page, "start workers");
    await page.keyboard.press("Escape");
    await floor.hub.api("POST", "/api/freeze", {});
    await expect(page.getByText("You stopped everything.")).toBeVisible();
    await check(page, "frozen");
  });

  test(`axe finds no violations on empty task pages, ${colorScheme}, ${size}`, async ({ floor }) => {
    test.setTimeout(180_000);
    const project = await floor.project("Nothing yet");
    const page = await floor.owner({ colorScheme, viewport });
    for (const place of ["tasks", "graph", "workers", "decisions", "metrics", "escalations"]) {
      await page.goto(`/p/${project.id}/${place}`);
      await live(page);
      await expect(page.locator(".skeleton")).toHaveCount(0);
      await expect(page.locator(".empty code").first()).toContainText("shopfloor ");
      await check(page, place);
    }
  });

  test(`axe finds no violations on login pages, ${colorScheme}, ${size}`, async ({ floor }) => {
    const page = await floor.stranger({ colorScheme, viewport });
    for (const path of ["/", "/login", "/join#nothing", "/observe#nothing"]) {
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await check(page, path);
    }
  });
}
