import type { ArrowStyle, ChartDrawing, DrawnArrow, DrawnExit } from './chartDrawing.ts'

/** Number of arrows to one state from which on they are written instead of drawn. */
const mostArrows = 5
/** The same limit for arrows of brakes, which all wait for the same thing. */
const mostBrakes = 2

const brakeStyles: readonly ArrowStyle[] = ['open', 'shut', 'brake']
const isBrake = ({ style }: DrawnArrow): boolean => brakeStyles.includes(style)
const canBeWritten = (arrow: DrawnArrow): boolean => arrow.style === 'plain' || isBrake(arrow)

const whenWords = (line: string): string => (/^(?:\[|else$|after )/.test(line) ? line : `on ${line}`)

/**
 * Returns the drawing with the arrows to its hubs, states that many others lead to, written into the states they leave: `→ paused [storeBroken]`.
 * Many arrows to one place say less than a line each, and leave no room for the others. The first arrow to a hub from a state beside it, both in one
 * outer state, stays, so that the cycle of the brakes is visible. Pure.
 */
export function hubExits(drawing: ChartDrawing): ChartDrawing {
  const ways = drawing.arrows.filter((arrow) => canBeWritten(arrow) && arrow.from !== arrow.to)
  const byTarget = Map.groupBy(ways, ({ to }) => to)
  const parents = new Map<string | undefined, string | undefined>(drawing.nodes.map(({ id, parent }) => [id, parent]))
  const isWritten = new Set(
    [...byTarget].flatMap(([to, all]) => {
      const brakes = all.filter(isBrake)
      const plain = all.filter((arrow) => !isBrake(arrow))
      const hub = [...(plain.length >= mostArrows ? plain : []), ...(brakes.length >= mostBrakes ? brakes : [])]
      const inside = parents.get(to)
      const kept = parents.get(inside) === undefined ? undefined : hub.find(({ from }) => parents.get(from) === inside)
      return hub.filter((arrow) => arrow !== kept)
    }),
  )
  const names = new Map(drawing.nodes.map(({ id, label, kind }) => [id, kind === 'junction' ? 'then' : label]))
  // A way out of every state inside another belongs in that one's heading.
  const anywhere = new Map(drawing.nodes.flatMap(({ id, kind, parent }) => (kind === 'any' ? [[id, parent!]] : [])))
  const written = new Map<string, DrawnExit[]>()
  const arrows = drawing.arrows.filter((arrow) => {
    const heading = anywhere.get(arrow.from)
    if (!isWritten.has(arrow) && (heading === undefined || !canBeWritten(arrow))) return true
    const from = heading ?? arrow.from
    const exits = written.get(from) ?? []
    const { to, style } = arrow
    const lines = isBrake(arrow) ? arrow.lines.slice(0, -1) : arrow.lines
    for (const line of lines.length === 0 ? ['else'] : lines)
      exits.push({ to, name: names.get(to)!, when: whenWords(line), style })
    written.set(from, exits)
    return false
  })
  const left = new Set(arrows.map(({ from }) => from))
  const nodes = drawing.nodes.flatMap((node) => {
    if (node.kind === 'any' && !left.has(node.id)) return []
    const exits = written.get(node.id)
    if (exits === undefined) return node
    return { ...node, label: names.get(node.id)!, exits }
  })
  return { ...drawing, nodes, arrows }
}
