import type { SequenceStep } from '../../../../../charts/src/actorSequence.ts'

/** The part of a bar of activity in one row: from the row's arrow or top, to its arrow or bottom. */
export interface BarPart {
  readonly id: string
  readonly begins: boolean
  readonly ends: boolean
}

const starts: ReadonlySet<SequenceStep['kind']> = new Set(['said', 'call'])
const ends: ReadonlySet<SequenceStep['kind']> = new Set(['result', 'failure'])

/** Returns each row's bars of activity. A bar begins when the agent is told something and ends when it tells its end. People have none. Pure. */
export function actorBars(steps: readonly SequenceStep[], people: string): readonly (readonly BarPart[])[] {
  const active = new Set<string>()
  return steps.map(({ from, to, kind }) => {
    const begins = starts.has(kind) && to !== people && !active.has(to) ? to : undefined
    const ended = ends.has(kind) && active.has(from) ? from : undefined
    if (begins !== undefined) active.add(begins)
    const parts = [...active].map((id): BarPart => ({ id, begins: id === begins, ends: id === ended }))
    if (ended !== undefined) active.delete(ended)
    return parts
  })
}

/** Minimum and maximum width of a lane, in pixels. Below the minimum the view scrolls. */
const lane = { least: 90, most: 220 } as const

/** Returns the width of each lane, so that all of them are in sight where that is possible. Pure. */
export const laneWidthFor = (room: number, lanes: number): number =>
  Math.max(lane.least, Math.min(lane.most, Math.floor(room / Math.max(1, lanes))))
