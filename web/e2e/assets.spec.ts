import { get, type IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "./fixtures";

type Reply = { status: number; head: IncomingHttpHeaders; body: Buffer };

function fetchRaw(url: string, headers: Record<string, string> = {}): Promise<Reply> {
  return new Promise((done, fail) => {
    get(url, { headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        done({ status: response.statusCode ?? 0, head: response.headers, body: Buffer.concat(parts) }),
      );
    }).on("error", fail);
  });
}

test("the page is sent compressed, with its own tag for each form", async ({ floor }) => {
  const { url } = floor.hub;
  const index = await fetchRaw(`${url}/`);
  expect(index.head["content-encoding"]).toBeUndefined();
  expect(index.head["cache-control"]).toBe("no-cache");
  expect(index.head.vary).toMatch(/accept-encoding/i);
  const [, script = ""] = /src="(\/assets\/[^"]+\.js)"/.exec(index.body.toString()) ?? [];
  const form = (accept: string) => fetchRaw(url + script, { "Accept-Encoding": accept });

  const plain = await fetchRaw(url + script);
  const brotli = await form("gzip, deflate, br, zstd");
  const gzip = await form("gzip");
  expect(brotli.head["content-encoding"]).toBe("br");
  expect(gzip.head["content-encoding"]).toBe("gzip");
  expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
  expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
  expect(brotli.body.length).toBeLessThan(plain.body.length / 3);
  for (const one of [plain, brotli, gzip]) {
    expect(one.head["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(one.head.vary).toMatch(/accept-encoding/i);
    expect(one.head["content-type"]).toContain("javascript");
    expect(one.head["content-length"]).toBe(String(one.body.length));
  }
  expect(new Set([plain, brotli, gzip].map(({ head }) => head.etag)).size).toBe(3);

  expect((await form("br;q=0, gzip")).head["content-encoding"]).toBe("gzip");
  expect((await form("br;q=0, gzip;q=0")).head["content-encoding"]).toBeUndefined();

  const again = await fetchRaw(url + script, {
    "Accept-Encoding": "br",
    "If-None-Match": `"x", W/${brotli.head.etag}`,
  });
  expect([again.status, again.body.length, again.head.etag]).toEqual([304, 0, brotli.head.etag]);
  expect(again.head.vary).toMatch(/accept-encoding/i);
  const other = await fetchRaw(url + script, {
    "Accept-Encoding": "gzip",
    "If-None-Match": String(brotli.head.etag),
  });
  expect(other.status).toBe(200);
  for (const path of [`${script}.br`, `${script}.gz`, "/assets/none.js"])
    expect((await fetchRaw(url + path)).status, path).toBe(404);
});
