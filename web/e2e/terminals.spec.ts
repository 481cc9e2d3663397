import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Review, Workspace } from "../src/protocol";
import { expect, live, sidebar, test } from "./fixtures";
import { projectWithCode, repository, run, runner, screen, session, typeLine } from "./work";

test("one form creates a project and starts an agent", async ({ floor }) => {
  await runner(floor);
  const code = repository(floor);
  const page = await floor.owner();
  const form = page.getByRole("region", { name: "Start your first agent" });
  await form.getByRole("combobox", { name: "Repository" }).fill(code);
  await expect(form).toContainText("Creates the project “shop”");
  await form.getByRole("radio", { name: "Command" }).check();
  await form.getByRole("textbox", { name: "Command" }).fill("sh");
  await form.getByRole("button", { name: "Start agent" }).click();
  await expect(page).toHaveURL(/\/s\/ses_/);
  await expect(screen(page)).toContainText(/[#$]/);
  await typeLine(page, "echo is-$((40 + 2))");
  await expect(screen(page)).toContainText("is-42");
  await expect(page.getByRole("group", { name: /Status of/ })).toContainText("shopfloor/");
  await expect(sidebar(page).getByRole("link", { name: "shop" })).toBeVisible();
  await typeLine(page, "exit 3");
  await expect(page.getByText("Failed (exit 3)").first()).toBeVisible();
  await expect(page.getByRole("link", { name: "Play recording" })).toBeVisible();
});

test("others can watch but not type, until execution is no longer shared", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const { id } = await run(floor, project, ["sh"]);
  const ann = await floor.owner();
  const bo = await floor.guest("Bo");
  await ann.goto(`/s/${id}`);
  await bo.goto(`/s/${id}`);
  await expect(screen(ann)).toContainText(/[#$]/);
  await typeLine(ann, "echo seen-by-$((1 + 1))");
  await expect(screen(bo)).toContainText("seen-by-2");
  await expect(bo.getByText(/Watching/)).toBeVisible();
  await expect(bo.locator("main").getByRole("button", { name: /^Stop / })).toHaveCount(0);

  await bo.locator(".xterm").click();
  await typeLine(bo, "echo intruder");
  await typeLine(ann, "echo after");
  await expect(screen(bo)).toContainText("after");
  await expect(screen(ann)).not.toContainText("intruder");

  await floor.hub.api("PATCH", `/api/projects/${project.id}`, { share_execution: false });
  await expect(bo.getByRole("heading", { name: "This session is gone" })).toBeVisible();
  await expect(bo.locator(".xterm-rows")).toHaveCount(0);
  await typeLine(ann, "echo still-$((2 + 2))");
  await expect(screen(ann)).toContainText("still-4");
  await bo.reload();
  await live(bo);
  await expect(bo.getByRole("heading", { name: "Not found" })).toBeVisible();
});

test("tabs survive a reload, have shortcuts, and four can be shown at once", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const page = await floor.owner();
  const ids: string[] = [];
  for (const word of ["one", "two", "three"]) {
    const { id } = await run(floor, project, ["sh", "-c", `echo this-is-${word}; exec cat`]);
    ids.push(id);
    await page.goto(`/s/${id}`);
    await expect(screen(page)).toContainText(`this-is-${word}`);
  }
  const strip = page.getByRole("navigation", { name: "Open terminals" });
  await expect(strip.getByRole("listitem")).toHaveCount(3);
  await page.reload();
  await expect(strip.getByRole("listitem")).toHaveCount(3);
  await expect(screen(page)).toContainText("this-is-three");
  await page.keyboard.press("Control+1");
  await expect(page).toHaveURL(`/s/${ids[0]}`);
  await expect(screen(page)).toContainText("this-is-one");
  await page.keyboard.press("Control+Shift+G");
  await expect(page.locator(".xterm-rows")).toHaveCount(3);
  await page.keyboard.press("Control+2");
  await page.keyboard.type("typed here");
  await expect(page.locator(".tile.active .xterm-rows")).toContainText("typed here");
  await expect(page.locator(".xterm-rows").filter({ hasText: "typed here" })).toHaveCount(1);
  await page.getByRole("button", { name: "Maximize" }).nth(1).click();
  await expect(page.locator(".xterm-rows")).toHaveCount(1);
  await page.keyboard.press("Control+Shift+F");
  await page.getByLabel("Search the terminal").last().fill("this-is");
  await expect(page.getByRole("search").getByRole("status")).toContainText("1 of 1");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+Shift+L");
  await page.keyboard.press("Delete");
  await expect(strip.getByRole("listitem")).toHaveCount(2);
});

test("more than four terminals are shown at once", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  const page = await floor.owner({ viewport: { width: 1600, height: 1000 } });
  for (let number = 1; number <= 6; number++) {
    const { id } = await run(floor, project, ["sh", "-c", `echo tile-${number}; exec cat`]);
    await page.goto(`/s/${id}`);
    await expect(screen(page)).toContainText(`tile-${number}`);
  }
  await page.keyboard.press("Control+Shift+G");
  await expect(page.locator(".xterm-rows")).toHaveCount(2);
  await page.getByLabel("Terminals at once").selectOption("6");
  await expect(page.locator(".xterm-rows")).toHaveCount(6);
  for (let number = 1; number <= 6; number++) {
    const tile = page.locator(".tile").filter({ hasText: `tile-${number}` });
    await expect(tile).toHaveCount(1);
    await expect(tile).toBeInViewport();
  }
  await page.goto("/");
  await expect(page.getByRole("list", { name: "Screens of running sessions" }).getByRole("link")).toHaveCount(
    6,
  );
});

test("more than sixteen terminals can be open", async ({ floor }) => {
  test.setTimeout(180_000);
  const project = await projectWithCode(floor);
  const page = await floor.owner();
  for (let number = 1; number <= 18; number++) {
    // A runner runs sixteen sessions at once; finished ones have terminals, too.
    const then = number <= 15 ? "exec cat" : "exit";
    const { id } = await run(floor, project, ["sh", "-c", `echo number-${number}-here; ${then}`]);
    await page.goto(`/s/${id}`);
    await expect(screen(page)).toContainText(`number-${number}-here`);
  }
  await expect(page.getByRole("navigation", { name: "Open terminals" }).getByRole("listitem")).toHaveCount(
    18,
  );
  const links = page.locator("a[data-tab]");
  for (const at of [0, 17, 8, 3, 16, 5]) {
    await links.nth(at).click();
    await expect(screen(page)).toContainText(`number-${at + 1}-here`);
    if (at >= 15) continue;
    await page.keyboard.type(`mark${at}`);
    await expect(screen(page)).toContainText(`mark${at}`);
  }
  for (let at = 0; at < 18; at++) await links.nth(at).click();
  await links.nth(8).click();
  await expect(screen(page)).toContainText("mark8");
});

test("a terminal resumes without gaps after a hub restart", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const { id } = await run(floor, project, ["sh"]);
  const page = await floor.owner();
  await page.goto(`/s/${id}`);
  await expect(screen(page)).toContainText(/[#$]/);
  await typeLine(page, "echo before-$((1 + 1))");
  await expect(screen(page)).toContainText("before-2");
  await floor.hub.kill();
  await expect(page.getByText("The hub is not responding.")).toBeVisible();
  await expect(page.getByText("Disconnected: input is ignored")).toBeVisible();
  await floor.hub.start();
  await live(page);
  await expect(page.locator("[data-phase=live]")).toBeVisible();
  await page.locator(".xterm").click();
  await expect(async () => {
    await typeLine(page, "echo after-$((3 + 4))");
    await expect(screen(page)).toContainText("after-7", { timeout: 2_000 });
  }).toPass();
  await expect(screen(page)).toContainText("before-2");
});

test("comments on the diff are kept as threads and reach the agent", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const { id, workspace, activity } = await run(floor, project, [
    "sh",
    "-c",
    "printf 'fresh line\\n' > new.txt; exec cat",
  ]);
  const page = await floor.owner();
  await page.goto(`/s/${id}`);
  await page.getByRole("button", { name: "Show the diff" }).click();
  const panel = page.getByRole("complementary", { name: "Changes in the workspace" });
  await expect(panel).toContainText("fresh line");
  await panel.getByRole("button", { name: "Comment on line 1 of new.txt" }).click();
  await panel.getByLabel("Comment on line 1 of new.txt", { exact: true }).last().fill("why is this here?");
  await panel.getByRole("button", { name: "Add comment" }).click();
  await page.reload();
  const thread = panel.getByRole("article", { name: "Comments on new.txt:1" });
  await expect(thread).toContainText("why is this here?");
  await expect(thread).toContainText("Open");
  await panel.getByRole("button", { name: "Send back (1 comment)" }).click();
  await expect(screen(page)).toContainText("new.txt:1");
  await expect(screen(page)).toContainText("why is this here?");
  await expect(thread).toContainText("Sent");
  await expect(panel.getByRole("button", { name: "Send back", exact: true })).toBeDisabled();

  await test.step("an answer appears in the thread, on the activity too", async () => {
    const { threads } = await floor.hub.api<Review>("GET", `/api/workspaces/${workspace}/review`);
    const reply = `/api/review-threads/${threads[0]?.id}/reply`;
    await floor.hub.api("POST", reply, { text: "It greets the reader." });
    await expect(thread).toContainText("It greets the reader.");
    await page.goto(`/p/${project.id}/a/${activity}`);
    const shown = page.getByRole("button", { name: "Changes (1 comment)" }).first();
    await expect(shown).toHaveAttribute("aria-expanded", "true");
    const there = page.getByRole("article", { name: "Comments on new.txt:1" });
    await expect(there).toContainText("It greets the reader.");
    await there.getByRole("button", { name: "Resolve" }).click();
    await expect(there).toContainText("Resolved");
    await expect(page.getByRole("button", { name: "Changes", exact: true })).toBeVisible();
  });
});

test("terminal output triggers no answers, links, copies or scripts", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const esc = "\\033";
  const queries = [
    ...[
      "c",
      "0c",
      ">c",
      "=c",
      "5n",
      "6n",
      "?6n",
      "14t",
      "18t",
      "21t",
      "?1\\$p",
      "?2026\\$p",
      "4\\$p",
      ">q",
      "?u",
      "x",
    ].map((rest) => `${esc}[${rest}`),
    ...[4, 10, 11, 12].map((code) => `${esc}]${code};${code === 4 ? "1;" : ""}?\\007`),
    `${esc}P\\$qm${esc}\\\\`,
    `${esc}P+q544e${esc}\\\\`,
    `${esc}]52;c;?\\007`,
  ];
  // Sends all queries and records the answers.
  const script = [
    "stty raw -echo",
    "while [ ! -e go ]; do sleep 0.1; done",
    `printf "${queries.join("").replaceAll("%", "%%")}"`,
    `printf "${esc}]0;<img src=x onerror=alert(1)>\\007${esc}]52;c;%s\\007" "$(printf 'stolen' | base64)"`,
    `printf "${esc}]8;;javascript:alert(1)\\007bad link${esc}]8;;\\007 ${esc}]8;;https://example.org/x\\007good link${esc}]8;;\\007 <script>alert(1)</script>\\r\\n"`,
    "timeout 3 cat > got; stty sane; wc -c got; touch done; exec cat",
  ].join("; ");
  const alone = await run(floor, project, ["sh", "-c", script]);
  const seen = await run(floor, project, ["sh", "-c", script]);
  const page = await floor.owner();
  const bo = await floor.guest("Bo");
  await page.goto(`/s/${seen.id}`);
  await bo.goto(`/s/${seen.id}`);
  for (const one of [page, bo]) await expect(one.locator("[data-phase=live]")).toBeVisible();
  const trees: string[] = [];
  for (const { id } of [alone, seen]) {
    await expect.poll(async () => (await session(floor, id)).state.status).not.toBe("starting");
    const { workspace } = await floor.hub.api<{ workspace: Workspace }>("GET", `/api/sessions/${id}`);
    trees.push(workspace.path ?? "");
    writeFileSync(join(workspace.path ?? "", "go"), "");
  }
  for (const tree of trees)
    await expect.poll(() => existsSync(join(tree, "done")), { timeout: 15_000 }).toBe(true);
  const [first, second] = trees.map((tree) => readFileSync(join(tree, "got"), "latin1"));
  expect(second).toBe(first);

  await expect(screen(page)).toContainText("<script>alert(1)</script>");
  await expect(page.getByText("<img src=x onerror=alert(1)>").first()).toBeVisible();
  const ask = page.getByRole("dialog", { name: "Copy this text?" });
  await expect(ask).toContainText("stolen");
  await ask.getByRole("button", { name: "Cancel" }).click();
  await expect(bo.getByRole("dialog")).toHaveCount(0);

  const at = async (text: string) => {
    const box = await page.locator(".xterm-rows span", { hasText: text }).first().boundingBox();
    return { x: (box?.x ?? 0) + 8, y: (box?.y ?? 0) + 6 };
  };
  const bad = await at("bad link");
  await page.mouse.move(bad.x, bad.y);
  await page.mouse.click(bad.x, bad.y);
  await expect(page.getByRole("dialog")).toHaveCount(0);
  const good = await at("good link");
  await page.mouse.move(good.x, good.y);
  await expect(page.locator(".target")).toHaveText("https://example.org/x");
  await page.mouse.click(good.x, good.y);
  const opens = page.getByRole("dialog", { name: "Open this link?" });
  await expect(opens).toContainText("https://example.org/x");
  await opens.getByRole("button", { name: "Cancel" }).click();
});

test("a waiting agent notifies its owner on all pages", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const page = await floor.owner({ permissions: ["notifications"] });
  await page.evaluate(() => {
    const told: string[] = [];
    Object.assign(window, { told });
    document.hasFocus = () => false;
    const Fake = class {
      static permission = "granted";
      static requestPermission = () => Promise.resolve("granted");
      close() {}
      constructor(title: string) {
        told.push(title);
      }
    };
    Object.assign(window, { Notification: Fake });
  });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("turn on notifications");
  await page.keyboard.press("Enter");
  const asker = await floor.hub.api<{ id: string }>("POST", "/api/sessions", {
    project: project.id,
    agent: "asker",
  });
  const needs = sidebar(page).getByRole("region", { name: "Needs you" });
  await expect(needs.getByRole("link", { name: /Waiting/ })).toBeVisible({ timeout: 20_000 });
  await expect(page).toHaveTitle(/^\(1 needs you\) /);
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { told: string[] }).told))
    .toHaveLength(1);
  const bo = await floor.guest("Bo");
  await expect(bo).not.toHaveTitle(/needs? you\)/);

  await needs.getByRole("link", { name: /Waiting/ }).click();
  await expect(page).toHaveURL(`/s/${asker.id}`);
  await expect(page.getByRole("group", { name: /Status of/ })).toContainText("Waiting for you");
  await expect(page.getByRole("group", { name: /Status of/ })).toContainText("make test");
  await typeLine(page, "y");
  await expect(screen(page)).toContainText("thanks");
  await expect(needs).toHaveCount(0, { timeout: 20_000 });
  await expect(page).not.toHaveTitle(/needs? you\)/);
});

test("sessions can be found in the palette and stopped after a confirmation", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const { id } = await run(floor, project, ["sh", "-c", "exec cat"]);
  const page = await floor.owner();
  await page.goto("/terminals");
  await expect(page.getByRole("link", { name: /cat/ }).first()).toBeVisible();
  await page.goto("/runners");
  await expect(page.getByRole("main")).toContainText("Online");
  await expect(page.getByRole("main").locator(`a[href="/s/${id}"]`)).toBeVisible();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("start an agent");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "Start an agent" })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.goto(`/s/${id}`);
  await page
    .locator("main")
    .getByRole("button", { name: /^Stop / })
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop", exact: true }).click();
  await expect(page.getByText("Stopped").first()).toBeVisible();
});

test("an offline runner is shown as offline, and its agents not as failed", async ({ floor }) => {
  test.setTimeout(120_000);
  const project = await projectWithCode(floor);
  const { id } = await run(floor, project, ["sh"]);
  const page = await floor.owner();
  await page.goto(`/s/${id}`);
  await expect(screen(page)).toContainText(/[#$]/);
  const pid = floor.hub.runnerPid;
  process.kill(pid, "SIGSTOP");
  try {
    await expect(page.getByText(/is offline/).first()).toBeVisible({ timeout: 60_000 });
    await expect(page.getByText(/^Last seen/).first()).toBeVisible();
    await expect(page.getByText(/this is the last known screen/)).toBeVisible();
    // Without a known screen, the page does not claim to show or load one.
    await page.reload();
    await expect(page.getByText(/is offline. The screen appears when the runner is back/)).toBeVisible();
    await expect(page.getByText(/the last known screen|Loading the screen/)).toHaveCount(0);
  } finally {
    process.kill(pid, "SIGCONT");
  }
  await expect(page.getByText(/is offline/)).toHaveCount(0, { timeout: 30_000 });
  await page.locator(".xterm").click();
  await expect(async () => {
    await typeLine(page, "echo back-$((5 + 5))");
    await expect(screen(page)).toContainText("back-10", { timeout: 2_000 });
  }).toPass();
});

test("earlier output is available as text", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const { id } = await run(floor, project, ["sh", "-c", "seq 1 400; exec cat"]);
  const page = await floor.owner();
  await page.goto(`/s/${id}`);
  await expect(screen(page)).toContainText("400");
  await page.getByRole("button", { name: "Earlier output" }).click();
  await expect(page.getByLabel("Output as plain text")).toContainText(/\b7\n8\n9\n/);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("the window that types sets the size, and others see the whole screen", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const { id } = await run(floor, project, ["sh"]);
  const ann = await floor.owner();
  const bo = await floor.guest("Bo", { viewport: { width: 700, height: 500 } });
  await ann.goto(`/s/${id}`);
  await expect(screen(ann)).toContainText(/[#$]/);
  const size = async () => {
    await typeLine(ann, "clear; stty size");
    let found = "";
    await expect(async () => {
      found = /\b\d+ \d+\b/.exec((await screen(ann).textContent()) ?? "")?.[0] ?? "";
      expect(found).not.toBe("");
    }).toPass();
    return found.split(" ").map(Number) as [number, number];
  };
  const [rows, cols] = await size();
  expect(cols).toBeGreaterThan(100);
  await bo.goto(`/s/${id}`);
  await expect(screen(bo)).toContainText(`${rows} ${cols}`);
  await expect(bo.locator(".xterm-rows > div")).toHaveCount(rows);
  const fits = () =>
    bo.evaluate(() => {
      const inner = document.querySelector(".xterm-screen")?.getBoundingClientRect();
      const outer = document.querySelector(".screen")?.getBoundingClientRect();
      return inner && outer ? inner.right <= outer.right + 1 && inner.bottom <= outer.bottom + 1 : false;
    });
  await expect.poll(fits).toBe(true);
  // Another view of the owner only watches: nothing changes, and nothing changes when it leaves.
  const phone = await floor.owner({ viewport: { width: 390, height: 844 } });
  await phone.goto(`/s/${id}`);
  await expect(screen(phone)).toContainText(`${rows} ${cols}`);
  expect(await size()).toEqual([rows, cols]);
  await expect(phone.locator(".xterm-rows > div")).toHaveCount(rows);
  // It takes the size when its person types there.
  await typeLine(phone, "echo from the phone");
  await expect(phone.locator(".xterm-rows > div")).not.toHaveCount(rows);
  await phone.close();
  expect(await size()).toEqual([rows, cols]);
  await ann.setViewportSize({ width: 900, height: 600 });
  await expect(async () => expect((await size())[1]).toBeLessThan(cols)).toPass();
  const [after] = await size();
  await expect(bo.locator(".xterm-rows > div")).toHaveCount(after);
});

test("the owner hands the keyboard over, and takes it back with one key", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const { id } = await run(floor, project, ["sh"]);
  const ann = await floor.owner();
  const bo = await floor.guest("Bo");
  await ann.goto(`/s/${id}`);
  await expect(screen(ann)).toContainText(/[#$]/);
  await bo.goto(`/s/${id}`);
  await expect(screen(bo)).toContainText(/[#$]/);
  await bo.locator(".xterm-screen").click();
  await bo.keyboard.type("x");
  await expect(bo.getByText("owns this session")).toBeVisible();
  await bo.getByRole("button", { name: "Request the keyboard" }).click();
  await expect(ann.getByText("Bo asks for the keyboard")).toBeVisible();
  await expect(ann.getByRole("region", { name: "Needs you" })).toContainText("Keyboard?");
  await ann.getByRole("button", { name: "Hand over" }).click();
  await expect(ann.getByText("Bo has the keyboard of this session")).toBeVisible();
  await expect(bo.getByText("handed you the keyboard")).toBeVisible();
  await expect(async () => {
    await typeLine(bo, "clear; echo from-$((40 + 2))");
    await expect(screen(ann)).toContainText("from-42", { timeout: 2_000 });
  }).toPass();
  await ann.locator(".xterm-screen").click();
  await ann.keyboard.press("Control+Shift+E");
  await expect(ann.getByText("has the keyboard")).toHaveCount(0);
  await expect(bo.getByText("handed you the keyboard")).toHaveCount(0);
  await bo.locator(".xterm-screen").click();
  await bo.keyboard.type("mischief");
  await expect(bo.getByRole("button", { name: "Request the keyboard" })).toBeVisible();
  await typeLine(ann, "echo alone");
  await expect(screen(ann)).toContainText("alone");
  await expect(screen(ann)).not.toContainText("mischief");
});

test("running sessions have small pictures that open their terminals", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const { id } = await run(floor, project, ["sh", "-c", "echo picture-$((40 + 2)); exec cat"]);
  const page = await floor.owner();
  await page.goto("/terminals");
  const picture = page.getByRole("list", { name: "Screens of running sessions" }).getByRole("link");
  await expect(picture).toContainText("picture-42");
  await picture.click();
  await expect(page).toHaveURL(`/s/${id}`);
  await expect(screen(page)).toContainText("picture-42");
});

test("a flood of output does not block the page, and Ctrl-C ends it", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const { id } = await run(floor, project, ["sh"]);
  const page = await floor.owner();
  await page.goto(`/s/${id}`);
  await expect(screen(page)).toContainText(/[#$]/);
  await typeLine(page, "seq 1 100000000");
  await expect(screen(page)).toContainText(/\d{6}/);
  await page.keyboard.press("Control+c");
  await expect(async () => {
    await typeLine(page, "clear; echo calm-$((3 * 3))");
    await expect(screen(page)).toContainText("calm-9", { timeout: 2_000 });
  }).toPass();
});

test("terminals use the GPU and survive a lost context", async ({ floor }) => {
  const project = await projectWithCode(floor);
  const page = await floor.owner();
  // The test browser has software rendering only, which the page would detect.
  await page.addInitScript(() => {
    const { prototype } = WebGL2RenderingContext;
    const ask = prototype.getParameter;
    prototype.getParameter = function (name: number) {
      return name === 0x9246 ? "A real card" : (ask.call(this, name) as unknown);
    };
  });
  const ids: string[] = [];
  for (const word of ["one", "two", "three", "four", "five"]) {
    const { id } = await run(floor, project, ["sh", "-c", `echo this-is-${word}; exec cat`]);
    ids.push(id);
    await page.goto(`/s/${id}`);
    await expect(page.locator(".xterm-screen canvas").first()).toBeVisible();
  }
  for (const id of ids) {
    await page.locator(`a[data-tab][href="/s/${id}"]`).click();
    await expect(page).toHaveURL(`/s/${id}`);
    await expect(page.locator(".xterm-screen canvas").first()).toBeVisible();
  }
  expect(await page.locator(".xterm-screen").count()).toBe(1);
  await page.evaluate(() => {
    for (const canvas of document.querySelectorAll("canvas"))
      canvas.getContext("webgl2")?.getExtension("WEBGL_lose_context")?.loseContext();
  });
  await expect(screen(page)).toContainText("this-is-five", { timeout: 20_000 });
  await page.keyboard.type("still typed");
  await expect(screen(page)).toContainText("still typed");
});
