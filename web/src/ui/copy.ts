/** Puts a text into the clipboard, because somebody asked for it. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyOldWay(text);
  }
}

// Without https the clipboard is closed to pages, except by this.
function copyOldWay(text: string): void {
  const area = document.createElement("textarea");
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
