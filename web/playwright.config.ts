import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  reporter: [["list"], ["json", { outputFile: "test-results/report.json" }]],
  // Pages with much on them are looked at by axe for a while; what passes only at the second try is said to be flaky.
  timeout: 120_000,
  retries: 1,
  expect: { timeout: 10_000 },
  use: {
    viewport: { width: 1280, height: 800 },
    trace: "retain-on-failure",
    launchOptions: {
      executablePath: process.env.SHOPFLOOR_CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
