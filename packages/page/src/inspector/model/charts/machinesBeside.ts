import type { ChartLayout, PlacedArrow, PlacedBox } from '../../../../../charts/src/chartLayout.ts'
import { fitCamera, type Size } from './chartCamera.ts'

/** Margin around a picture, in pixels. The gap between machines is twice as wide. */
const margin = 20

/** Returns a layout in the arrangement that can be seen larger in a view: machines below each other, or beside the first. Pure. */
export function arranged(layout: ChartLayout, viewport: Size): ChartLayout {
  const beside = machinesBeside(layout)
  return fitCamera(beside, viewport).scale > fitCamera(layout, viewport).scale ? beside : layout
}

/** Moves machines that lie below the first one to its right, below each other. Pure. */
export function machinesBeside(layout: ChartLayout): ChartLayout {
  const byId = new Map(layout.boxes.map((box) => [box.id, box]))
  const rootOf = (id: string): PlacedBox | undefined => {
    let box = byId.get(id)
    while (box?.parent !== undefined) box = byId.get(box.parent)
    return box
  }
  const [first, ...others] = layout.boxes.filter(({ parent }) => parent === undefined).toSorted((a, b) => a.y - b.y)
  if (first === undefined || others.length === 0) return layout
  const right = first.x + first.width + 2 * margin
  let bottom = first.y
  const moved = new Map<string | undefined, { readonly dx: number; readonly dy: number }>()
  for (const { id, x, y, height } of others) {
    moved.set(id, { dx: right - x, dy: bottom - y })
    bottom += height + 2 * margin
  }
  const still = { dx: 0, dy: 0 }
  const shifted = <P extends { readonly x: number; readonly y: number }>(place: P, { dx, dy }: typeof still): P => ({
    ...place,
    x: place.x + dx,
    y: place.y + dy,
  })
  const boxes = layout.boxes.map((box) => shifted(box, moved.get(rootOf(box.id)?.id) ?? still))
  const placed = new Map(boxes.map((box) => [box.id, box]))
  const arrows = layout.arrows.map((arrow): PlacedArrow => {
    const by = moved.get(rootOf(arrow.to)?.id) ?? still
    if (rootOf(arrow.from) === rootOf(arrow.to)) {
      const label = arrow.label === undefined ? {} : { label: shifted(arrow.label, by) }
      return { ...arrow, points: arrow.points.map((point) => shifted(point, by)), ...label }
    }
    return { ...arrow, points: between(placed.get(arrow.from)!, placed.get(arrow.to)!, right - margin) }
  })
  return {
    ...layout,
    width: Math.max(...boxes.map(({ x, width }) => x + width)) + margin,
    height: Math.max(...boxes.map(({ y, height }) => y + height)) + margin,
    boxes,
    arrows,
  }
}

/** Returns the path from one machine to another, in the gap between them. */
function between(from: PlacedBox, to: PlacedBox, x: number): PlacedArrow['points'] {
  const [start, end] = [
    { x: from.x + from.width, y: from.y + Math.min(from.height, to.height) / 2 },
    { x: to.x, y: to.y + to.height / 2 },
  ]
  return start.y === end.y ? [start, end] : [start, { x, y: start.y }, { x, y: end.y }, end]
}
