import { lineHeight, type ChartLayout, type PlacedArrow, type PlacedBox, type Point } from './chartLayout.ts'
import { brakeChips } from './brakeChips.ts'
import { fontSizes } from './pictureStyle.ts'
import type { ChartModel } from './chartModel.ts'
import {
  centreOf,
  curveBetween,
  isInside,
  overlaps,
  pointAt,
  pointsOf,
  type Area,
  type Curve,
} from './overviewCurves.ts'
import { overviewDrawing, shortest, type OverviewArrow, type OverviewBox } from './overviewDrawing.ts'
import { fitText, measureText, wrapText } from './textMeasure.ts'

/** Size of every overview of the agent machine in pixels. */
export const overviewSize = { width: 800, height: 420 } as const

type Place = Pick<Area, 'x' | 'y' | 'width'>

/** The middles of the columns and rows of the grid that the states of the agent machine stand on. */
const columns = [77, 316, 488] as const
const rows = [84, 212, 346] as const

/** Columns and rows of the states: the ring clockwise, the states that help a turn in the corners. */
const cells: Readonly<Record<string, readonly [column: 0 | 1 | 2, row: 0 | 1 | 2, width: number]>> = {
  preparing: [0, 0, 132],
  replying: [1, 0, 124],
  backoff: [2, 0, 110],
  idle: [0, 1, 84],
  executing: [2, 1, 104],
  compacting: [0, 2, 112],
  draining: [1, 2, 152],
}

const work: Area = { x: 8, y: 8, width: 540, height: 408 }
const lane: Area = { x: 612, y: 8, width: 180, height: 408 }

/** Returns a place in an extra row, for a state without a cell, so that none is missing. */
function placeOf(index: number): Place {
  return { x: 20 + index * 100, y: 436, width: 92 }
}

/** Lays out the overview of the agent machine. Pure, and quick: only curves and labels are searched for. */
export function overviewLayout(model: ChartModel): ChartLayout {
  const { boxes, arrows, bundle, start } = overviewDrawing(model)
  const areas = new Map<string, Area>()
  let unplaced = 0
  const inner = boxes
    .filter(({ isStop }) => !isStop)
    .map((box) => {
      const cell = cells[box.id]
      return cell === undefined ? innerBox(box, placeOf(unplaced++), model) : inCell(box, cell, model)
    })
  for (const box of inner) areas.set(box.id, box)
  const stops = stopBoxes(
    boxes.filter(({ isStop }) => isStop),
    model,
  )
  const dot = start === undefined ? [] : [startBox(areas.get(start)!)]
  const frames = [frame(model.id, headingOf(model), work), frame('(stops)', 'stops', lane)]
  const drawn = [...inner, ...dot]
  const curves = bendArrows(arrows, areas, drawn)
  const labelled = labelArrows(curves, drawn)
  const height = unplaced === 0 ? overviewSize.height : 490
  return {
    title: model.title,
    width: overviewSize.width,
    height,
    boxes: [...frames, ...inner, ...dot, ...stops],
    arrows: [
      ...labelled,
      ...dot.map((box): PlacedArrow => startArrow(box, areas.get(start!)!)),
      {
        id: '(bundle)',
        from: model.id,
        to: '(stops)',
        style: 'plain',
        role: 'bundle',
        points: [
          { x: work.x + work.width, y: 60 },
          { x: lane.x, y: 60 },
        ],
        ...bundle,
        label: { x: 545, y: 32, lines: ['any state'] },
      },
    ],
  }
}

const headingOf = ({ id, title }: ChartModel): string =>
  fitText(title === id ? id : `${title} (${id})`, fontSizes.name, work.width - 40)

/** Returns the same overview for another agent. Pure. */
export const withTitle = (layout: ChartLayout, model: ChartModel): ChartLayout => ({
  ...layout,
  title: model.title,
  boxes: layout.boxes.map((box) => (box.id === model.id ? { ...box, label: headingOf(model) } : box)),
})

const frame = (id: string, label: string, area: Area): PlacedBox => ({
  id,
  kind: 'machine',
  label,
  details: [],
  isOuter: true,
  depth: 1,
  ...area,
})

function innerBox(box: OverviewBox, place: Place, model: ChartModel): PlacedBox {
  const { runs, brakes, lines } = box
  // Who has brakes runs one actor for each of them.
  const said = [...(runs.length === 0 || brakes.length > 0 ? [] : [`runs ${runs.join(', ')}`]), ...lines]
  const placed = { ...drawnBox(box, said, place, model), parent: model.id }
  const last = brakeChips({ ...placed, brakes }).at(-1)
  return last === undefined ? placed : { ...placed, brakes, height: last.y + last.height + 10 - placed.y }
}

/** Places a box in the middle of its cell. */
function inCell(box: OverviewBox, [column, row, width]: (typeof cells)[string], model: ChartModel): PlacedBox {
  const placed = innerBox(box, { x: columns[column] - width / 2, y: 0, width }, model)
  return { ...placed, y: rows[row] - placed.height / 2 }
}

function drawnBox(
  { id, description, names }: OverviewBox,
  said: readonly string[],
  place: Place,
  model: ChartModel,
): PlacedBox {
  const details = said.flatMap((line) => wrapText(line, fontSizes.detail, (place.width - 10) * 1.1))
  return {
    id,
    kind: 'atomic',
    label: id,
    details,
    ...(description === undefined ? {} : { description: [description, names].filter(Boolean).join('\n') }),
    ...(model.active.includes(id) ? { active: 'itself' } : {}),
    isOuter: false,
    depth: 2,
    ...place,
    height: details.length === 0 ? 36 : 34 + details.length * lineHeight,
  }
}

/** Places the stops one below the other. */
function stopBoxes(boxes: readonly OverviewBox[], model: ChartModel): PlacedBox[] {
  let y = lane.y + 34
  return boxes.map((box): PlacedBox => {
    const placed = drawnBox(box, box.lines, { x: lane.x + 8, y, width: lane.width - 16 }, model)
    y += placed.height + 8
    return { ...placed, parent: '(stops)' }
  })
}

const startBox = ({ x, y }: Area): PlacedBox => ({
  id: '(initial)',
  kind: 'initial',
  label: '',
  details: [],
  isOuter: false,
  depth: 2,
  x: x + 8,
  y: y - 44,
  width: 12,
  height: 12,
})

const startArrow = (box: PlacedBox, to: Area): PlacedArrow => {
  const { x, y } = centreOf(box)
  const points = [
    { x, y: y + 6 },
    { x, y: to.y },
  ]
  return { id: '(start)', from: box.id, to: 'idle', style: 'start', points, edges: [] }
}

interface Bent {
  readonly arrow: OverviewArrow
  readonly curve: Curve
  readonly points: readonly Point[]
}

/** The ring goes clockwise and bends outwards. */
const ringBow = 0.2
const bows = [0, 0.1, 0.2, -0.14, 0.28, -0.28, 0.45, -0.45, 0.65, -0.65]

/** Bends every arrow round the boxes and away from the others, the ring first, then the shortest. */
function bendArrows(
  arrows: readonly OverviewArrow[],
  areas: ReadonlyMap<string, Area>,
  boxes: readonly PlacedBox[],
): Bent[] {
  const length = ({ from, to }: OverviewArrow): number => {
    const [a, b] = [centreOf(areas.get(from)!), centreOf(areas.get(to)!)]
    return Math.hypot(a.x - b.x, a.y - b.y)
  }
  const order = arrows.toSorted((a, b) => Number(b.isRing) - Number(a.isRing) || length(a) - length(b))
  const bent: Bent[] = []
  for (const arrow of order) {
    const [from, to] = [areas.get(arrow.from)!, areas.get(arrow.to)!]
    const isPair = arrows.some((other) => other.from === arrow.to && other.to === arrow.from)
    const others = boxes.filter(({ id }) => id !== arrow.from && id !== arrow.to)
    const cost = (bow: number, curve: Curve): number =>
      (arrow.isRing ? Math.abs(bow - ringBow) : Math.abs(bow)) * 60 + curveCost(curve, others, bent)
    const curves = bows.flatMap((bow) =>
      (isPair ? [9, 18] : [0, 12, -12]).map((aside) => {
        const curve = curveBetween(from, to, bow, aside)
        return { curve, cost: cost(bow, curve) + Math.abs(aside) / 4 }
      }),
    )
    const best = curves.reduce((least, one) => (one.cost < least.cost ? one : least))
    bent.push({ arrow, curve: best.curve, points: pointsOf(best.curve) })
  }
  return bent
}

function curveCost(curve: Curve, others: readonly Area[], bent: readonly Bent[]): number {
  const points = pointsOf(curve)
  let cost = 0
  for (const point of points) {
    for (const area of others) if (isInside(point, area, 8)) cost += 1_000
    if (!isInside(point, work, -6)) cost += 1_000
  }
  for (const other of bent) {
    for (const point of points)
      if (other.points.some(({ x, y }) => Math.abs(x - point.x) < 10 && Math.abs(y - point.y) < 10)) cost += 12
  }
  return cost
}

/** Transitions without a label, as other labels say enough. Their words appear on hover. */
const silent: ReadonlySet<string> = new Set(['backoff → replying', 'compacting → draining', 'idle → preparing'])

/** Places of a label along an arrow, as shares of its length, the middle first. */
const spots = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82]
const sides = [-1, 1, 0]

/** Gives every arrow a label that lies on no box, no other label and, where it can, on no other arrow. */
function labelArrows(bent: readonly Bent[], boxes: readonly PlacedBox[]): PlacedArrow[] {
  const taken: Area[] = boxes.map(({ x, y, width, height }) => ({ x, y, width, height }))
  const lines = bent.map(({ curve }) => pointsOf(curve, 40))
  return bent.map(({ arrow, curve }, index): PlacedArrow => {
    const { from, to, words, isRing: onRing, edges, names } = arrow
    const id = `${from} → ${to}`
    const placed: PlacedArrow = {
      id,
      from,
      to,
      style: 'plain',
      ...(onRing ? { role: 'ring' as const } : {}),
      edges,
      names,
      points: [curve.start, curve.control, curve.end],
      isCurve: true,
    }
    if (silent.has(id)) return placed
    const said = [shortest(words)]
    const size = {
      width: said.reduce((most, line) => Math.max(most, measureText(line, fontSizes.label)), 0) + 8,
      height: said.length * lineHeight + 2,
    }
    let best: Area | undefined
    let least = Number.POSITIVE_INFINITY
    for (const [rank, spot] of spots.entries())
      for (const side of sides) {
        const area = labelArea(curve, spot, side, size)
        const cost = rank * 3 + (side === 0 ? 8 : 0) + labelCost(area, taken, lines, index)
        if (cost >= least) continue
        least = cost
        best = area
      }
    taken.push(best!)
    return { ...placed, label: { x: best!.x, y: best!.y, lines: said } }
  })
}

function labelArea(curve: Curve, spot: number, side: number, size: Pick<Area, 'width' | 'height'>): Area {
  const { x, y } = pointAt(curve, spot)
  const ahead = pointAt(curve, Math.min(1, spot + 0.05))
  const length = Math.hypot(ahead.x - x, ahead.y - y) || 1
  const across = { x: -(ahead.y - y) / length, y: (ahead.x - x) / length }
  // So far aside that a corner of it stands at the line.
  const reach = side * ((Math.abs(across.x) * size.width) / 2 + (Math.abs(across.y) * size.height) / 2 + 4)
  return { x: x + across.x * reach - size.width / 2, y: y + across.y * reach - size.height / 2, ...size }
}

function labelCost(
  area: Area,
  taken: readonly Area[],
  lines: readonly (readonly { readonly x: number; readonly y: number }[])[],
  own: number,
): number {
  let cost = 0
  for (const other of taken) if (overlaps(area, other, 3)) cost += 10_000
  if (area.x < work.x + 4 || area.x + area.width > work.x + work.width - 4) cost += 10_000
  for (const [index, points] of lines.entries()) {
    const hits = points.filter((point) => isInside(point, area, index === own ? 0 : 2)).length
    cost += hits * (index === own ? 1 : 25)
  }
  return cost
}
