import type { ChartDrawing, DrawnArrow } from './chartDrawing.ts'

/** Arrows that lead to a state from which on they are written and not drawn. */
const mostArrows = 5

const isDrawn = ({ style }: DrawnArrow): boolean => style === 'plain'

/**
 * The drawing with the ways to its hubs, states that many others lead to, written into the states they leave: `→ paused [storeBroken]`.
 * Arrows from everywhere to one place tell less than a line each, and leave no room for the others. Pure.
 */
export function hubExits(drawing: ChartDrawing): ChartDrawing {
  const counts = new Map<string, number>()
  for (const { to, from } of drawing.arrows.filter(isDrawn)) if (to !== from) counts.set(to, (counts.get(to) ?? 0) + 1)
  const labels = new Map(drawing.nodes.map(({ id, label }) => [id, label]))
  // A way out of every state inside another belongs in that one's heading.
  const anywhere = new Map(drawing.nodes.flatMap(({ id, kind, parent }) => (kind === 'any' ? [[id, parent!]] : [])))
  const written = new Map<string, string[]>()
  const arrows = drawing.arrows.filter((arrow) => {
    const heading = anywhere.get(arrow.from)
    const isHub = arrow.from !== arrow.to && (counts.get(arrow.to) ?? 0) >= mostArrows
    if (!isDrawn(arrow) || (heading === undefined && !isHub)) return true
    const from = heading ?? arrow.from
    const lines = written.get(from) ?? []
    const name = labels.get(arrow.to)!
    if (arrow.lines.length === 0) lines.push(`else → ${name}`)
    for (const line of arrow.lines) lines.push(`${line} → ${name}`)
    written.set(from, lines)
    return false
  })
  const left = new Set(arrows.map(({ from }) => from))
  const nodes = drawing.nodes.flatMap((node) => {
    if (node.kind === 'any' && !left.has(node.id)) return []
    const lines = written.get(node.id)
    if (lines === undefined) return node
    return { ...node, label: node.kind === 'junction' ? 'then' : node.label, details: [...node.details, ...lines] }
  })
  return { ...drawing, nodes, arrows }
}
