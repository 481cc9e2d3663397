import type { TaskLine } from "../../protocol";
import type { Drawn } from "../../state/tasks/graph";
import { layout } from "../../state/tasks/layout";

/** The size of a node and the distances between nodes. */
export const NODE = { width: 204, height: 60, across: 54, between: 12 };

const GAP = 14;

/** The positions: connected tasks in layers, tasks without dependencies in rows below. */
export type Arranged = {
  nodes: ReadonlyMap<string, { x: number; y: number }>;
  edges: readonly { from: string; to: string; path: string }[];
  /** The position of the heading above tasks without dependencies; null for no heading. */
  aloneAt: number | null;
  width: number;
  height: number;
};

/** Computes the positions. */
export function arrange({ linked, alone, edges }: Drawn): Arranged {
  const picture = layout(
    linked.map((task) => task.id),
    edges,
    NODE,
  );
  const perRow = Math.max(3, Math.floor((Math.max(picture.width, 900) + GAP) / (NODE.width + GAP)));
  const top = linked.length > 0 ? picture.height + 44 : 0;
  const rows = alone.map((task, at) => {
    const x = (at % perRow) * (NODE.width + GAP) + NODE.width / 2;
    const y = top + Math.floor(at / perRow) * (NODE.height + NODE.between) + NODE.height / 2;
    return [task.id, { x, y }] as const;
  });
  return {
    nodes: new Map([...picture.nodes, ...rows]),
    edges: picture.edges.map(({ from, to, points }) => ({ from, to, path: pathOf(points) })),
    aloneAt: alone.length > 0 && linked.length > 0 ? picture.height + 26 : null,
    width: Math.max(picture.width, Math.min(alone.length, perRow) * (NODE.width + GAP)),
    height: top + Math.ceil(alone.length / perRow) * (NODE.height + NODE.between),
  };
}

/** Tasks from left to right, then from top to bottom. */
export function inReadingOrder(tasks: readonly TaskLine[], { nodes }: Arranged): TaskLine[] {
  return [...tasks].sort((a, b) => {
    const [one, two] = [nodes.get(a.id), nodes.get(b.id)];
    return (one?.x ?? 0) - (two?.x ?? 0) || (one?.y ?? 0) - (two?.y ?? 0);
  });
}

/** The neighbour of a task: along an arrow for left and right, in the same layer for up and down. */
export function neighbour(picture: Arranged, id: string, key: string): string | undefined {
  const here = picture.nodes.get(id);
  if (!here) return undefined;
  const found =
    key === "ArrowRight"
      ? picture.edges.filter((edge) => edge.from === id).map((edge) => edge.to)
      : key === "ArrowLeft"
        ? picture.edges.filter((edge) => edge.to === id).map((edge) => edge.from)
        : [...picture.nodes]
            .filter(([, one]) => one.x === here.x && (key === "ArrowDown" ? one.y > here.y : one.y < here.y))
            .map(([other]) => other);
  const far = (other: string) => Math.abs((picture.nodes.get(other)?.y ?? 0) - here.y);
  return found.sort((a, b) => far(a) - far(b))[0];
}

// Straight within a layer, curved between layers.
function pathOf([first, ...rest]: readonly { x: number; y: number }[]): string {
  if (!first) return "";
  const half = NODE.width / 2;
  let [x, y] = [first.x + half, first.y];
  let path = `M${x} ${y}`;
  rest.forEach((point, at) => {
    const last = at === rest.length - 1;
    const to = { x: point.x - half - (last ? 5 : 0), y: point.y };
    const bend = Math.max(16, (to.x - x) / 2);
    path += `C${x + bend} ${y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`;
    if (!last) path += `H${point.x + half}`;
    [x, y] = [point.x + half, point.y];
  });
  return path;
}
