import { corpus } from "./corpus";
import { expect, live, sidebar, test } from "./fixtures";
import { add, ask, progress, report, take } from "./queue";
import { projectWithCode, run, screen, session } from "./work";

// The fixture fails the test when a script ran or a policy was violated.
test("foreign text never runs as script", async ({ floor }) => {
  test.setTimeout(120_000);
  const payloads = corpus();
  expect(payloads.length).toBeGreaterThan(290);
  const whole = payloads.join("\n\n");
  const project = await floor.project(`<img src=x onerror=alert(1)> project\n\n${whole}`);
  const activity = await floor.activity(project, `<svg onload=alert(1)> activity\n\n${whole}`);
  await floor.hub.api("PATCH", `/api/activities/${activity.id}`, {
    content: `<svg onload=alert(2)> activity\n\n${whole}`,
    links: payloads.slice(0, 20).map((target) => ({ kind: "branch", target })),
  });
  await floor.hub.api("PATCH", "/api/me", { name: "<script>alert(1)</script>" });
  await floor.hub.api("POST", "/api/runners", { name: "<img src=x onerror=alert(1)>" });
  for (let at = 0; at < payloads.length; at += 5) {
    await floor.say(project, payloads.slice(at, at + 5).join("\n\n"));
  }

  const page = await floor.guest('"><img src=x onerror=alert(1)>', {
    viewport: { width: 1280, height: 3_000 },
  });
  await page.goto(`/p/${project.id}/a/${activity.id}`);
  await live(page);
  await expect(page.getByRole("article").first()).toBeVisible();
  await page.getByRole("button", { name: "History" }).click();
  await expect(page.getByRole("group", { name: /Changes in version 2/ })).toBeVisible();
  const list = page.getByRole("region", { name: "Messages" });
  await list.focus();
  for (let screen = 0; screen < 12; screen++) await page.keyboard.press("PageUp");
  for (const path of [
    `/p/${project.id}`,
    `/p/${project.id}/settings`,
    "/people",
    "/runners",
    "/audit",
    "/",
  ]) {
    await page.goto(path);
    await live(page);
    await expect(
      sidebar(page).getByRole("link", { name: "<img src=x onerror=alert(1)> project" }),
    ).toBeVisible();
  }
  await page.keyboard.press("Control+k");
  await page.keyboard.type("svg");
  await expect(page.getByRole("option").first()).toBeVisible();

  // No text became an element, and links lead only to the web.
  await page.keyboard.press("Escape");
  await page.goto(`/p/${project.id}/a/${activity.id}`);
  await expect(page.getByRole("article").first()).toBeVisible();
  const found = await page.evaluate(() => ({
    images: [...document.images].filter((image) => !image.src.endsWith("/icon.svg")).length,
    frames: document.querySelectorAll(
      "iframe, object, embed, video, form[action], base, meta[http-equiv], math, marquee",
    ).length,
    hrefs: [...document.querySelectorAll("a[href]")]
      .map((link) => link.getAttribute("href") ?? "")
      .filter((href) => !/^(\/|#centre|https?:\/\/|mailto:)/.test(href)),
    handlers: [...document.querySelectorAll("*")].filter((element) =>
      element.getAttributeNames().some((name) => name.startsWith("on")),
    ).length,
  }));
  expect(found).toEqual({ images: 0, frames: 0, hrefs: [], handlers: 0 });
});

test("text of an agent, its files or its terminal never runs as script", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  const payloads = corpus();
  const script =
    'printf "%s\\r\\n" "$@"; printf "%s\\n" "$@" > "<img src=x onerror=alert(1)>.txt"; printf "\\033]2;%s\\007" "$1"; exec cat';
  const argv = ["sh", "-c", script, "<img src=x onerror=alert(1)>", ...payloads.slice(0, 150)];
  const { id, activity } = await run(floor, project, argv);
  const over = await run(floor, project, [
    "sh",
    "-c",
    'printf "%s\\r\\n" "$@"',
    "sh",
    ...payloads.slice(150),
  ]);
  await expect
    .poll(async () => (await session(floor, over.id)).state.status, { timeout: 20_000 })
    .toBe("exited");
  const page = await floor.guest("Bo", { viewport: { width: 1280, height: 1_600 } });
  await page.goto(`/s/${id}`);
  await expect(screen(page)).toContainText("alert(1)");
  await page.getByRole("button", { name: "Show the diff" }).click();
  await expect(page.getByRole("complementary", { name: "Changes in the workspace" })).toContainText(
    "alert(1)",
  );
  for (const path of [
    `/p/${project.id}/a/${activity}`,
    "/terminals",
    "/runners",
    "/recordings",
    `/s/${over.id}/recording`,
    "/",
  ]) {
    await page.goto(path);
    await live(page);
    await expect(page.locator(".skeleton")).toHaveCount(0);
  }
  await page.goto(`/s/${over.id}/recording`);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect(screen(page)).toContainText("alert");
  await page.getByLabel("Search the recording").fill("alert");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect(page.getByText(/^\d+ (first )?results?$/)).toBeVisible();
  const found = await page.evaluate(() => ({
    images: [...document.images].filter((image) => !image.src.endsWith("/icon.svg")).length,
    frames: document.querySelectorAll("iframe, object, embed, video, base, math, marquee").length,
    handlers: [...document.querySelectorAll("*")].filter((element) =>
      element.getAttributeNames().some((name) => name.startsWith("on")),
    ).length,
  }));
  expect(found).toEqual({ images: 0, frames: 0, handlers: 0 });
});

test("text of a task, its worker or its report never runs as script", async ({ floor }) => {
  test.setTimeout(120_000);
  const whole = corpus().slice(0, 120).join("\n\n");
  const bad = "<img src=x onerror=alert(1)>";
  const project = await floor.project("Plans");
  const [first] = await add(floor, project, {
    id: "a",
    description: `${bad} task\n\n${whole}`,
    context: whole,
    files: [bad],
    needs: [],
    acceptance: [{ kind: "text", text: bad }],
  });
  await add(
    floor,
    project,
    { description: `${bad} second` },
    { description: "third", deps: [first?.id ?? ""] },
  );
  const taken = await take(floor, project, bad, first?.id);
  await progress(floor, taken, bad);
  await ask(floor, taken, `${bad} \`${bad}\`?`, [bad, "<svg onload=alert(1)>"]);
  const second = await take(floor, project, `${bad}2`);
  await report(floor, second, `${bad}\n\n${whole}`);
  const page = await floor.guest("Bo", { viewport: { width: 1280, height: 1_600 } });
  const p = `/p/${project.id}`;
  for (const path of [
    ...["tasks", "graph", "workers", "decisions", "metrics", "escalations"].map((place) => `${p}/${place}`),
    p,
    `${p}/tasks/${first?.id}`,
    `/t/${second.task.id}`,
    `${p}/workers/${taken.lease.worker}`,
  ]) {
    await page.goto(path);
    await live(page);
    await expect(page.locator(".skeleton")).toHaveCount(0);
    await expect(page.locator("main")).toContainText("<img src=x");
    const found = await page.evaluate(() => ({
      images: [...document.images].filter((image) => !image.src.endsWith("/icon.svg")).length,
      frames: document.querySelectorAll("iframe, object, embed, video, base, math, marquee").length,
      hrefs: [...document.querySelectorAll("a[href]")]
        .map((link) => link.getAttribute("href") ?? "")
        .filter((href) => !/^(\/|#centre|https?:\/\/|mailto:)/.test(href)),
      handlers: [...document.querySelectorAll("*")].filter((element) =>
        element.getAttributeNames().some((name) => name.startsWith("on")),
      ).length,
    }));
    expect(found, path).toEqual({ images: 0, frames: 0, hrefs: [], handlers: 0 });
  }
});
