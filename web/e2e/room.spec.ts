import type { Locator, Page } from "@playwright/test";
import { join } from "node:path";
import type { Project, Session } from "../src/protocol";
import { expect, type Floor, live, sidebar, test } from "./fixtures";
import { projectWithCode, run, runner, screen, session, typeLine } from "./work";

const PHONE = { width: 390, height: 844 };

/** Texts that overlap each other or overflow their container. */
function overprinted(within: Locator): Promise<string[]> {
  return within.evaluateAll((places) =>
    places.flatMap((place) => {
      const outer = place.getBoundingClientRect();
      const words = [...place.querySelectorAll<HTMLElement>("*")]
        .filter((one) => one.childElementCount === 0 && one.textContent.trim() !== "")
        .filter((one) => !one.closest(".visually-hidden") && one.checkVisibility())
        .map((one) => ({ text: one.textContent.trim(), box: one.getBoundingClientRect() }))
        .filter(({ box }) => box.width > 0);
      const found = words
        .filter(({ box }) => box.left < outer.left - 1 || box.right > outer.right + 1)
        .map(({ text }) => `${text} sticks out`);
      words.forEach((one, index) => {
        for (const other of words.slice(index + 1)) {
          const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
          const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
          if (wide > 1 && high > 3) found.push(`${one.text} over ${other.text}`);
        }
      });
      return found;
    }),
  );
}

function asker(floor: Floor, project: Project): Promise<Session> {
  const input = {
    project: project.id,
    agent: "asker",
    prompt: "Charge once, however often the button is hit",
  };
  return floor.hub.api("POST", "/api/sessions", input);
}

async function until(floor: Floor, id: string, status: Session["state"]["status"]): Promise<void> {
  await expect.poll(async () => (await session(floor, id)).state.status, { timeout: 30_000 }).toBe(status);
}

test("a session that did not start shows that everywhere and offers no recording", async ({ floor }) => {
  await runner(floor);
  const project = await floor.hub.api<Project>("POST", "/api/projects", {
    content: "Nowhere",
    repositories: [{ location: join(floor.hub.dir, "nothing"), base_branch: null }],
  });
  const { id } = await floor.hub.api<Session>("POST", "/api/sessions", {
    project: project.id,
    agent: "shell",
  });
  await until(floor, id, "exited");
  const page = await floor.owner();
  await page.goto(`/s/${id}`);
  const tile = page.getByRole("region", { name: "Terminal: shell" });
  await expect(tile.getByRole("status").first()).toContainText(/Did not start .*no repository/s);
  await expect(tile.getByRole("link", { name: "Play recording" })).toHaveCount(0);
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(sidebar(page).getByRole("link", { name: /shell.*Did not start/s })).toBeVisible();

  await page.goto("/");
  await expect(page.locator("main li").filter({ hasText: "Did not start" })).toContainText("no repository");
  await page.goto("/terminals");
  await expect(page.locator(".list li").filter({ hasText: "Did not start" })).toBeVisible();
  await expect(page.getByRole("link", { name: /^Recording of/ })).toHaveCount(0);
  await page.goto("/recordings");
  await expect(page.getByText("No recordings yet")).toBeVisible();
  await page.goto(`/s/${id}/recording`);
  await expect(page.getByText(/No recording, because/)).toBeVisible();
});

test("sessions on a phone show what they wait for", async ({ floor }) => {
  const project = await projectWithCode(floor, "Checkout service, the rewrite of it");
  await run(floor, project, ["sh", "-c", "echo a rather long command, as they are; exec cat"]);
  const over = await run(floor, project, ["sh", "-c", "exit 101"]);
  const { id, activity } = await asker(floor, project);
  await until(floor, id, "waiting");
  await until(floor, over.id, "exited");
  const page = await floor.owner({ viewport: PHONE });
  for (const path of ["/terminals", "/needs", "/runners", `/p/${project.id}/a/${activity}`]) {
    await page.goto(path);
    await live(page);
    const lines = page.getByRole("listitem").filter({ has: page.locator(".line") });
    await expect(lines.filter({ hasText: "Waiting for you" }).first()).toContainText(
      "Allow command: make test",
    );
    expect(await overprinted(lines), path).toEqual([]);
  }
  await page.goto(`/s/${id}`);
  const bar = page.getByRole("group", { name: /Status of/ });
  const detail = bar.getByText("Allow command: make test");
  await expect(detail).toBeVisible();
  expect(await detail.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  expect(await overprinted(bar)).toEqual([]);
});

test("the head of a project fits a phone", async ({ floor }) => {
  const project = await projectWithCode(floor);
  await floor.activity(project, "Parser");
  await floor.activity(project, "Lexer", "blocked");
  await run(floor, project, ["sh", "-c", "exec cat"]);
  const phone = await floor.owner({ viewport: PHONE });
  for (const path of ["", "/tasks", "/merge"]) {
    await phone.goto(`/p/${project.id}${path}`);
    await live(phone);
    await expect(phone.getByText("1 blocked", { exact: true }).first()).toBeVisible();
    await expect(phone.getByRole("button", { name: "New activity" }).first()).toBeInViewport({ ratio: 1 });
    await expect(phone.getByRole("link", { name: "Project settings" })).toBeInViewport({ ratio: 1 });
    expect(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path).toBe(true);
  }
});

test("the first agent can be started on a phone", async ({ floor }) => {
  await runner(floor);
  const phone = await floor.owner({ viewport: PHONE });
  const form = phone.getByRole("region", { name: "Start your first agent" });
  await expect(form.getByText(/more agents? to install/)).toBeVisible();
  await expect(phone.getByRole("heading", { name: "No projects yet" })).toHaveCount(1);
  await form.getByRole("radio", { name: "Shell" }).check();
  await form.getByRole("button", { name: "Start agent" }).click();
  await expect(phone).toHaveURL(/\/s\/ses_/);
  await phone.goto("/");
  await live(phone);
  await expect(form).toHaveCount(0);
});

test("an empty hub is explained once, and invited people are not told to start a hub", async ({ floor }) => {
  const bo = await floor.guest("Bo", { viewport: { width: 1440, height: 900 } });
  await expect(bo.getByRole("heading", { name: "No projects yet" })).toHaveCount(1);
  const form = bo.getByRole("region", { name: "Start your first agent" });
  await expect(form.getByRole("heading", { name: "You have no runner" })).toBeVisible();
  await expect(form).toContainText(`shopfloor runner --hub ${floor.hub.url}`);
  await expect(form).not.toContainText(/`|shopfloor up/);
  await bo.keyboard.press("[");
  await expect(sidebar(bo)).toHaveCount(0);
  await expect(bo.getByRole("heading", { name: "No projects yet" })).toHaveCount(1);
});

test("four terminals have sixty columns each, no diff and no overlapping text", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const page = await floor.owner({ viewport: { width: 1000, height: 700 } });
  const shell = await run(floor, project, ["sh"]);
  const { id } = await asker(floor, project);
  const rest = await Promise.all([1, 2].map((n) => run(floor, project, ["sh", "-c", `echo ${n}; exec cat`])));
  for (const one of [id, ...rest.map((other) => other.id), shell.id]) {
    await page.goto(`/s/${one}`);
    await expect(screen(page)).toContainText(/\S/);
  }
  await page.keyboard.press("Control+Shift+D");
  await expect(page.getByRole("complementary", { name: "Changes in the workspace" })).toBeVisible();
  await page.keyboard.press("Control+Shift+G");
  await expect(page.locator(".xterm-rows")).toHaveCount(4);
  await expect(page.getByRole("complementary", { name: "Changes in the workspace" })).toHaveCount(0);
  await expect(async () => {
    await typeLine(page, "clear; stty size");
    const shown = await page.locator(".tile.active .xterm-rows").textContent();
    expect(Number(/\b\d+ (\d+)\b/.exec(shown ?? "")?.[1])).toBe(60);
  }).toPass();
  await expect.poll(() => sticksOut(page)).toEqual([]);
  const bars = page.getByRole("group", { name: /Status of/ });
  await expect(bars.filter({ hasText: "Waiting for you" })).toContainText("Allow command");
  expect(await overprinted(bars)).toEqual([]);
  await page.keyboard.press("Control+Shift+D");
  await expect(page.locator(".xterm-rows")).toHaveCount(1);
});

/** Terminals that are wider than their tiles. */
function sticksOut(page: Page): Promise<string[]> {
  return page.locator(".tile").evaluateAll((tiles) =>
    tiles
      .filter((tile) => {
        const inner = tile.querySelector(".xterm-screen")?.getBoundingClientRect();
        return !inner || inner.right > tile.getBoundingClientRect().right + 1;
      })
      .map((tile) => tile.getAttribute("aria-label") ?? ""),
  );
}

test("tabs show their titles if there is space, and scroll otherwise", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const page = await floor.owner();
  const { id } = await run(floor, project, ["sh", "-c", "exec cat"]);
  await page.goto(`/s/${id}`);
  const strip = page.getByRole("navigation", { name: "Open terminals" });
  const title = strip.getByText("sh -c exec cat");
  await expect(title).toBeVisible();
  expect(await title.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  for (const name of ["one", "two", "three", "four"]) {
    const next = await run(floor, project, ["sh", "-c", `: ${name}; exec cat`]);
    await page.goto(`/s/${next.id}`);
    await expect(strip.getByText(`sh -c : ${name}; exec cat`)).toBeVisible();
  }
  await page.setViewportSize(PHONE);
  await page.reload();
  await live(page);
  await expect(strip.getByRole("listitem").last()).toBeInViewport({ ratio: 0.99 });
  const widths = await strip
    .getByRole("listitem")
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
  expect(Math.min(...widths)).toBeGreaterThan(100);
});
