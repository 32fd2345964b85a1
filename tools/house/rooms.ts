import { layers } from '../../scripts/layers.ts'
import type { Source } from './sources.ts'

/** The figures of a drawing of the imports. */
export interface Drawing {
  readonly lines: number
  readonly rooms: number
  /** Pairs of rooms of which the first imports the second. */
  readonly arrows: number
  /** Arrows to a room that stands later in the table of layers. */
  readonly up: readonly string[]
  /** Sets of files that import each other. */
  readonly circles: readonly (readonly string[])[]
}

const paths = layers.map(({ path }) => path)

/** The place of a file in the table of layers: the row with the longest path that holds it; -1 for a door that has none. */
const rowOf = (file: string): number => {
  const fits = paths.filter((path) => file === path || file.startsWith(`${path}/`))
  return paths.indexOf(fits.toSorted((a, b) => b.length - a.length)[0] ?? '')
}

/** The room of a file: its row in the table of layers. A door of the package, which only hands on, is no room. */
export const roomOf = (file: string): string => paths[rowOf(file)] ?? file

export function drawing(sources: readonly Source[]): Drawing {
  const arrows = new Set<string>()
  const up = new Set<string>()
  for (const { path, imports } of sources)
    for (const { to } of imports) {
      const [from, below] = [rowOf(path), rowOf(to)]
      if (from < 0 || below < 0 || from === below) continue
      arrows.add(`${paths[from]} -> ${paths[below]}`)
      if (below > from) up.add(`${path} -> ${to}`)
    }
  return {
    lines: sources.reduce((sum, { lines }) => sum + lines, 0),
    rooms: new Set(sources.map(({ path }) => rowOf(path)).filter((row) => row >= 0)).size,
    arrows: arrows.size,
    up: [...up],
    circles: circlesOf(new Map(sources.map(({ path, imports }) => [path, imports.map(({ to }) => to)]))),
  }
}

/** Tarjan's strongly connected components with more than one member. */
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const circles: (readonly string[])[] = []
  const visit = (node: string): number => {
    order.set(node, order.size)
    let least = order.get(node)!
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue
      if (!order.has(next)) least = Math.min(least, visit(next))
      else if (stack.includes(next)) least = Math.min(least, order.get(next)!)
    }
    low.set(node, least)
    if (least === order.get(node)) {
      const members = stack.splice(stack.indexOf(node))
      if (members.length > 1) circles.push(members)
    }
    return least
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return circles
}
