// Draws the icons that systems want as pixels from public/icon.svg: run it after a change of that file.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "@playwright/test";

const pub = join(import.meta.dirname, "../public");
const rounded = readFileSync(join(pub, "icon.svg"), "utf8");
// Systems that cut icons into a shape of their own want them without rounded corners.
const full = rounded.replace(/ rx="\d+"/, "");
const icons = [
  ["icon-192.png", rounded, 192],
  ["icon-512.png", rounded, 512],
  ["icon-maskable-512.png", full, 512],
  ["apple-touch-icon.png", full, 180],
];

const browser = await chromium.launch({
  executablePath: process.env.SHOPFLOOR_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
for (const [name, svg, size] of icons) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  await page.setContent(`<style>body{margin:0}svg{display:block;width:${size}px}</style>${svg}`);
  await page.screenshot({ path: join(pub, name), omitBackground: true });
}
await browser.close();
