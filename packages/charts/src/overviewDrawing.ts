import { brakeGuards, type BrakeFlags, type ChartEdge, type ChartModel } from './chartModel.ts'
import { styleOf, type DrawnBrake } from './chartDrawing.ts'
import { edgeNames, edgeWords } from './edgeWords.ts'

/** States of a run from turn to turn, which an overview shows as a ring. */
const ring = ['idle', 'replying', 'executing', 'draining', 'replying'] as const
/** States in which a run or the agent stops, drawn as a lane at the side. */
const stops: readonly string[] = ['paused', 'settling', 'stopped']

/** Transitions outside the ring that are drawn as arrows. Others are a line in the state that they leave. */
const drawn: readonly string[] = [
  'idle → preparing',
  'preparing → replying',
  'idle → draining',
  'draining → idle',
  'replying → draining',
  'replying → backoff',
  'backoff → replying',
  'draining → compacting',
  'compacting → draining',
]

/** A state of an overview. */
export interface OverviewBox {
  readonly id: string
  readonly description?: string
  readonly runs: readonly string[]
  readonly brakes: readonly DrawnBrake[]
  readonly isStop: boolean
  /** Targets that the state reaches without an arrow. For a stop, first the states that lead to it. */
  readonly lines: readonly string[]
  /** Ids of the transitions that the lines stand for. */
  readonly edges: readonly string[]
  readonly names: string
}

/** All transitions between two states. */
export interface OverviewArrow {
  readonly from: string
  readonly to: string
  /** Conditions of the arrow's transitions, without duplicates. */
  readonly words: readonly string[]
  readonly isRing: boolean
  readonly edges: readonly string[]
  readonly names: string
}

/** The overview of the agent machine. */
export interface Overview {
  readonly boxes: readonly OverviewBox[]
  readonly arrows: readonly OverviewArrow[]
  /** All transitions from working states to stops. */
  readonly bundle: Pick<OverviewArrow, 'edges' | 'names'>
  readonly start: string | undefined
}

const isRing = (from: string, to: string): boolean => ring.some((state, at) => state === from && ring[at + 1] === to)

const isDrawn = ({ from, to }: ChartEdge): boolean => isRing(from, to) || drawn.includes(`${from} → ${to}`)

const unique = (values: readonly string[]): string[] => [...new Set(values)]
const namesOf = (edges: readonly ChartEdge[]): string =>
  unique(edges.map((edge) => `${edge.from} → ${edge.to}: ${edgeNames(edge) || 'else'}`)).join('\n')

/** Returns a closed chart of the agent machine as ring, states beside it, and stops. Each transition is in an arrow, a box or the bundle. Pure. */
export function overviewDrawing(model: ChartModel): Overview {
  const isStop = (id: string): boolean => stops.includes(id)
  const states = model.nodes.filter(({ kind, parent }) => parent !== undefined && kind !== 'initial')
  const moves = model.edges.filter(({ kind, from, to }) => kind !== 'initial' && from !== to)
  const arrows = new Map<string, ChartEdge[]>()
  const bundled: ChartEdge[] = []
  for (const edge of moves) {
    if (isStop(edge.from)) continue
    if (isStop(edge.to)) bundled.push(edge)
    else if (isDrawn(edge)) {
      const key = JSON.stringify([edge.from, edge.to])
      arrows.set(key, [...(arrows.get(key) ?? []), edge])
    }
  }
  const boxes = states.map(({ id, description }): OverviewBox => {
    const own = model.edges.filter(({ from, to, kind }) => from === id && to === id && kind !== 'initial')
    const said = moves.filter((edge) => edge.from === id && (isStop(id) || !(isDrawn(edge) || isStop(edge.to))))
    const why = unique(bundled.filter(({ to }) => to === id).map(edgeWords))
    return {
      id,
      ...(description === undefined ? {} : { description }),
      runs: unique(model.actors.filter(({ kind, state }) => kind === 'invoked' && state === id).map(({ src }) => src)),
      brakes: brakesOf(own),
      isStop: isStop(id),
      lines: isStop(id)
        ? [...(id === 'paused' ? why : [why.join(', ')]), ...waysOut(said)].filter(Boolean)
        : also(said),
      edges: [...own, ...said].map((edge) => edge.id),
      names: namesOf([...own, ...said]),
    }
  })
  return {
    boxes,
    arrows: [...arrows.values()].map((edges): OverviewArrow => {
      const { from, to } = edges[0]!
      const shared = { edges: edges.map(({ id }) => id), names: namesOf(edges) }
      return { from, to, words: unique(edges.map(edgeWords)), isRing: isRing(from, to), ...shared }
    }),
    bundle: { edges: bundled.map(({ id }) => id), names: namesOf(bundled) },
    start: model.edges.find(({ kind }) => kind === 'initial')?.to,
  }
}

const byLength = (a: string, b: string): number => a.length - b.length

/** Returns the shortest, plainest reason, with "…" if there are others, which the picture shows on hover. */
export function shortest(words: readonly string[]): string {
  const [first = '', ...more] = words.toSorted(byLength)
  return more.length === 0 ? first : `${first} …`
}

/** Returns a line with the targets of transitions that have no arrow; none if there are no such transitions. */
const also = (edges: readonly ChartEdge[]): string[] =>
  edges.length === 0 ? [] : [`also → ${unique(edges.map(({ to }) => to)).join(', ')}`]

/** Returns the targets of transitions, a line for each of the reasons. */
function waysOut(edges: readonly ChartEdge[]): string[] {
  const targets = new Map<string, string[]>()
  for (const target of unique(edges.map(({ to }) => to))) {
    const [word = ''] = unique(edges.filter(({ to }) => to === target).map(edgeWords)).toSorted(byLength)
    targets.set(word, [...(targets.get(word) ?? []), target])
  }
  return [...targets].map(([word, reached]) => `${word} → ${reached.join(', ')}`)
}

const brakeNames = ['revert', 'prune', 'fold', 'stall', 'policies'] as const satisfies readonly (keyof BrakeFlags)[]

function brakesOf(edges: readonly ChartEdge[]): DrawnBrake[] {
  const brakes = new Map<string, DrawnBrake>()
  for (const edge of edges) {
    const style = styleOf(edge)
    if (style !== 'open' && style !== 'shut' && style !== 'brake') continue
    for (const name of edge.guards.flatMap((guard) => brakeGuards[guard] ?? [])) brakes.set(name, { name, style })
  }
  return brakeNames.flatMap((name) => brakes.get(name) ?? [])
}
