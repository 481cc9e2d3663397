import type { Artifact } from "../../protocol";

/** How an artifact is shown in the page; null: only downloaded. */
export type Preview = "image" | "markdown" | "text";

/** Pictures of pixels. Other kinds, such as SVG, can contain scripts. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"]);
const TEXTS = new Set([
  "application/json",
  "application/x-yaml",
  "application/yaml",
  "application/toml",
  "text/x-toml",
  "text/csv",
  "text/plain",
  "text/x-log",
  "text/x-diff",
  "text/x-patch",
]);

/** The most bytes that a preview loads. */
const MOST: Record<Preview, number> = { image: 10_000_000, markdown: 300_000, text: 300_000 };

/** How an artifact can be shown. */
export function previewOf(artifact: Pick<Artifact, "media_type" | "size">): Preview | null {
  const kind = kindOf(artifact.media_type);
  return kind && artifact.size <= MOST[kind] ? kind : null;
}

function kindOf(type: string): Preview | null {
  if (PICTURES.has(type)) return "image";
  if (type === "text/markdown") return "markdown";
  return TEXTS.has(type) ? "text" : null;
}

/** Where the content of an artifact is. */
export function contentPath(artifact: Pick<Artifact, "id">): string {
  return `/api/artifacts/${artifact.id}/content`;
}
