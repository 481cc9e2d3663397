/** A layered drawing of a dependency graph: every arrow points to the right, and few cross. */
export type Picture = {
  width: number;
  height: number;
  /** The middle of each node. */
  nodes: ReadonlyMap<string, { x: number; y: number; rank: number }>;
  edges: readonly { from: string; to: string; points: readonly { x: number; y: number }[] }[];
};

/** The sizes of nodes and gaps. */
export type Measure = { width: number; height: number; across: number; between: number };

type Node = { id: string; real: boolean; y: number; before: number[]; after: number[] };

const SWEEPS = 12;

/** Places the nodes; edges point from dependency to dependant and must be acyclic. */
export function layout(
  ids: readonly string[],
  edges: readonly { from: string; to: string }[],
  measure: Measure,
): Picture {
  const known = edges.filter((edge) => edge.from !== edge.to);
  const rank = ranks(ids, known);
  const { nodes, layers, chains } = layered(ids, known, rank);
  order(nodes, layers);
  spread(nodes, layers, measure);
  const step = measure.width + measure.across;
  const top = Math.min(0, ...nodes.map((node) => node.y)) - measure.height / 2;
  const xOf = (at: number) => at * step + measure.width / 2;
  const placed = new Map<string, { x: number; y: number; rank: number }>();
  const rankAt = new Map<number, number>();
  for (const [at, layer] of layers.entries()) for (const node of layer) rankAt.set(node, at);
  for (const [index, node] of nodes.entries()) {
    if (node.real) {
      const at = rankAt.get(index) ?? 0;
      placed.set(node.id, { x: xOf(at), y: node.y - top, rank: at });
    }
  }
  const bottom = Math.max(measure.height, ...nodes.map((node) => node.y - top + measure.height / 2));
  return {
    width: Math.max(0, layers.length * step - measure.across),
    height: bottom,
    nodes: placed,
    edges: chains.map(({ from, to, through }) => ({
      from,
      to,
      points: through.map((index) => ({ x: xOf(rankAt.get(index) ?? 0), y: (nodes[index]?.y ?? 0) - top })),
    })),
  };
}

// Longest path from the left; a node without dependencies stands next to its first dependant.
function ranks(ids: readonly string[], edges: readonly { from: string; to: string }[]): Map<string, number> {
  const rank = new Map(ids.map((id) => [id, 0]));
  const waits = new Map(ids.map((id) => [id, 0]));
  const after = new Map<string, string[]>();
  for (const { from, to } of edges) {
    waits.set(to, (waits.get(to) ?? 0) + 1);
    const known = after.get(from);
    if (known) known.push(to);
    else after.set(from, [to]);
  }
  const ready = ids.filter((id) => waits.get(id) === 0);
  const sources = new Set(ready);
  for (let at = 0; at < ready.length; at++) {
    const id = ready[at] ?? "";
    for (const next of after.get(id) ?? []) {
      rank.set(next, Math.max(rank.get(next) ?? 0, (rank.get(id) ?? 0) + 1));
      const left = (waits.get(next) ?? 1) - 1;
      waits.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  for (const id of sources) {
    const next = (after.get(id) ?? []).map((one) => rank.get(one) ?? 1);
    if (next.length > 0) rank.set(id, Math.max(0, Math.min(...next) - 1));
  }
  return rank;
}

// Long edges get a virtual node in every layer that they cross, so that they go around other nodes.
function layered(
  ids: readonly string[],
  edges: readonly { from: string; to: string }[],
  rank: ReadonlyMap<string, number>,
) {
  const nodes: Node[] = [];
  const layers: number[][] = [];
  const place = (id: string, real: boolean, at: number): number => {
    const index = nodes.push({ id, real, y: 0, before: [], after: [] }) - 1;
    (layers[at] ??= []).push(index);
    return index;
  };
  const index = new Map(ids.map((id) => [id, place(id, true, rank.get(id) ?? 0)]));
  const chains: { from: string; to: string; through: number[] }[] = [];
  for (const { from, to } of edges) {
    const start = index.get(from);
    const end = index.get(to);
    const first = rank.get(from) ?? 0;
    const last = rank.get(to) ?? 0;
    // An edge that points back is part of a cycle: skip it.
    if (start === undefined || end === undefined || first >= last) continue;
    const through = [start];
    for (let at = first + 1; at < last; at++) through.push(place(`${from} ${to}`, false, at));
    through.push(end);
    for (let at = 1; at < through.length; at++) {
      const [a, b] = [through[at - 1] as number, through[at] as number];
      nodes[a]?.after.push(b);
      nodes[b]?.before.push(a);
    }
    chains.push({ from, to, through });
  }
  for (let at = 0; at < layers.length; at++) layers[at] ??= [];
  return { nodes, layers, chains };
}

// Barycenter sweeps in both directions, to reduce crossings.
function order(nodes: readonly Node[], layers: number[][]): void {
  const place = new Map<number, number>();
  const number = (layer: readonly number[]) => layer.forEach((index, at) => place.set(index, at));
  layers.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forth = sweep % 2 === 0;
    const turn = forth ? layers.keys() : [...layers.keys()].reverse();
    for (const at of turn) {
      const layer = layers[at] as number[];
      const middle = new Map(
        layer.map((index) => {
          const near = (forth ? nodes[index]?.before : nodes[index]?.after) ?? [];
          const sum = near.reduce((total, one) => total + (place.get(one) ?? 0), 0);
          return [index, near.length > 0 ? sum / near.length : (place.get(index) ?? 0)];
        }),
      );
      layer.sort(
        (a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0) || (place.get(a) ?? 0) - (place.get(b) ?? 0),
      );
      number(layer);
    }
  }
}

// Each node as close to the mean of its neighbours as its layer allows.
function spread(nodes: readonly Node[], layers: readonly (readonly number[])[], measure: Measure): void {
  const gap = (a: Node | undefined, b: Node | undefined) =>
    a?.real && b?.real
      ? measure.height + measure.between
      : a?.real || b?.real
        ? measure.height / 2 + measure.between
        : measure.between;
  const settle = (layer: readonly number[], wanted: readonly number[]) => {
    const offset: number[] = [];
    layer.forEach((index, at) => {
      offset.push(at === 0 ? 0 : (offset[at - 1] ?? 0) + gap(nodes[layer[at - 1] ?? -1], nodes[index]));
    });
    const level = isotonic(wanted.map((y, at) => y - (offset[at] ?? 0)));
    layer.forEach((index, at) => {
      const node = nodes[index];
      if (node) node.y = (level[at] ?? 0) + (offset[at] ?? 0);
    });
  };
  for (const layer of layers)
    settle(
      layer,
      layer.map(() => 0),
    );
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const turn = sweep % 2 === 0 ? layers : [...layers].reverse();
    for (const layer of turn) {
      const wanted = layer.map((index) => {
        const node = nodes[index];
        const near = [...(node?.before ?? []), ...(node?.after ?? [])];
        if (!node || near.length === 0) return node?.y ?? 0;
        return near.reduce((sum, one) => sum + (nodes[one]?.y ?? 0), 0) / near.length;
      });
      settle(layer, wanted);
    }
  }
}

/** Isotonic regression: the closest non-decreasing values. */
export function isotonic(values: readonly number[]): number[] {
  const blocks: { mean: number; count: number }[] = [];
  for (const value of values) {
    blocks.push({ mean: value, count: 1 });
    for (let last = blocks.at(-1), before = blocks.at(-2); last && before && before.mean > last.mean;) {
      blocks.splice(-2, 2, {
        mean: (before.mean * before.count + last.mean * last.count) / (before.count + last.count),
        count: before.count + last.count,
      });
      last = blocks.at(-1);
      before = blocks.at(-2);
    }
  }
  return blocks.flatMap(({ mean, count }) => Array<number>(count).fill(mean));
}
