type Size = { width: number; height: number };

const LEAST = 0.12;
const MOST = 2;
/** A press that moves less than this is a click. */
const SLACK = 4;

/** Pan and zoom of a large picture. */
export class Viewport {
  x = $state(16);
  y = $state(16);
  scale = $state(1);
  dragging = $state(false);
  #pointers: { id: number; x: number; y: number }[] = [];
  #moved = 0;

  /** Fits the picture into the frame, without enlarging it. */
  fit(picture: Size, frame: Size): void {
    const room = { width: frame.width - 48, height: frame.height - 48 };
    const fits = Math.min(room.width / Math.max(1, picture.width), room.height / Math.max(1, picture.height));
    // Show a readable part instead of an unreadable whole.
    this.scale = Math.min(1, Math.max(frame.width < 600 ? 0.7 : 0.35, fits));
    const left = (frame.width - picture.width * this.scale) / 2;
    this.x = Math.max(24, left);
    this.y = left < 24 ? 24 : Math.max(24, (frame.height - picture.height * this.scale) / 2);
  }

  /** Zooms around a point of the frame. */
  zoom(by: number, x: number, y: number): void {
    const scale = Math.min(MOST, Math.max(LEAST, this.scale * by));
    const ratio = scale / this.scale;
    this.x = x - (x - this.x) * ratio;
    this.y = y - (y - this.y) * ratio;
    this.scale = scale;
  }

  /** Pans as little as needed to show a node. */
  reveal(node: { x: number; y: number }, size: Size, frame: Size): void {
    const half = { width: (size.width / 2) * this.scale, height: (size.height / 2) * this.scale };
    const at = { x: node.x * this.scale + this.x, y: node.y * this.scale + this.y };
    this.x += Math.max(0, half.width + 12 - at.x) - Math.max(0, at.x + half.width + 12 - frame.width);
    this.y += Math.max(0, half.height + 12 - at.y) - Math.max(0, at.y + half.height + 12 - frame.height);
  }

  /** Pans; zooms with Ctrl, which browsers also report for a pinch. */
  wheel(event: WheelEvent, place: DOMRect): void {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey)
      return this.zoom(
        Math.exp(-event.deltaY * 0.004),
        event.clientX - place.left,
        event.clientY - place.top,
      );
    const unit = event.deltaMode === 1 ? 16 : 1;
    this.x -= (event.shiftKey ? event.deltaY : event.deltaX) * unit;
    this.y -= (event.shiftKey ? 0 : event.deltaY) * unit;
  }

  /** Starts a drag. */
  grab(event: PointerEvent): void {
    if (event.button !== 0 || (event.target as Element).closest("button, select, input")) return;
    if (this.#pointers.length === 0) this.#moved = 0;
    this.#pointers.push({ id: event.pointerId, x: event.clientX, y: event.clientY });
  }

  /** One pointer pans, two zoom. */
  drag(event: PointerEvent): void {
    const last = this.#pointers.find((one) => one.id === event.pointerId);
    if (!last) return;
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    this.#moved += Math.abs(dx) + Math.abs(dy);
    if (this.#moved < SLACK) return;
    const element = event.currentTarget as HTMLElement;
    if (!this.dragging) {
      this.dragging = true;
      element.setPointerCapture(event.pointerId);
    }
    const other = this.#pointers.find((one) => one.id !== event.pointerId);
    if (other) {
      const before = Math.hypot(last.x - other.x, last.y - other.y);
      const now = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      const place = element.getBoundingClientRect();
      if (before > 0)
        this.zoom(
          now / before,
          (event.clientX + other.x) / 2 - place.left,
          (event.clientY + other.y) / 2 - place.top,
        );
    } else {
      this.x += dx;
      this.y += dy;
    }
    last.x = event.clientX;
    last.y = event.clientY;
  }

  /** Ends a drag. */
  drop(event: PointerEvent): void {
    this.#pointers = this.#pointers.filter((one) => one.id !== event.pointerId);
    if (this.#pointers.length === 0) this.dragging = false;
  }

  /** Suppresses the click at the end of a drag. */
  swallow(event: MouseEvent): void {
    if (this.#moved < SLACK) return;
    this.#moved = 0;
    event.preventDefault();
    event.stopPropagation();
  }
}
