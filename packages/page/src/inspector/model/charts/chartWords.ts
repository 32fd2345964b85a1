import type { PauseReason } from '../../../../../../src/protocol/records.ts'
import { eventWords } from '../../../../../charts/src/edgeWords.ts'
import type { BrakeFlags, ChartEdge, ChartModel } from '../../../../../charts/src/chartModel.ts'

/** A transition in words. */
export interface TransitionWords {
  readonly when: string
  readonly guards: readonly string[]
  /** Name of the target; `null` if no state is left. */
  readonly to: string | null
  readonly brake: 'open' | 'shut' | 'brake' | null
  /** Description in the machine; `null` if it has none. */
  readonly said: string | null
}

/** A state in words. */
export interface StateWords {
  readonly id: string
  readonly depth: number
  readonly isActive: boolean
  readonly runs: readonly string[]
  readonly transitions: readonly TransitionWords[]
}

/** Returns true if a state is active, itself or by a state inside it. Pure. */
export const isActiveState = (id: string, active: string): boolean =>
  active !== '' && (id === active || active.startsWith(`${id}.`))

const brakeOf = ({ isBrake, isOpen }: ChartEdge): TransitionWords['brake'] => {
  if (isBrake !== true) return null
  return isOpen === undefined ? 'brake' : isOpen ? 'open' : 'shut'
}

const whenOf = (edge: ChartEdge): string => (edge.kind === 'always' ? 'always' : eventWords(edge))

/** Describes a transition in words. Pure. */
export const transitionWords = (edge: ChartEdge): TransitionWords => ({
  when: whenOf(edge),
  guards: edge.guards,
  to: edge.isInternal === true ? null : edge.to,
  brake: brakeOf(edge),
  said: edge.description ?? null,
})

/** Describes a chart in words: every state, its actors and its transitions. Pure. */
export function chartWords({ nodes, edges, actors }: ChartModel, active: string): StateWords[] {
  return nodes
    .filter(({ kind, parent }) => kind !== 'initial' && parent !== undefined)
    .map(({ id }) => ({
      id,
      depth: id.split('.').length,
      isActive: isActiveState(id, active),
      runs: actors.filter(({ state }) => state === id).map(({ src }) => src),
      transitions: edges.filter((edge) => edge.from === id && edge.kind !== 'initial').map(transitionWords),
    }))
}

/** A brake of an agent, shut or open. */
export interface BrakeWords {
  readonly name: string
  readonly isOpen: boolean
  readonly effect: string
}

const brakeNames: readonly (readonly [keyof BrakeFlags, name: string, open: string, shut: string])[] = [
  ['revert', 'Revert', 'it may abandon a branch', 'it cannot abandon a branch'],
  ['prune', 'Prune', 'it may hide steps', 'it cannot hide steps'],
  ['fold', 'Fold', 'old steps are folded', 'old steps are not folded'],
  ['stall', 'Stall', 'it is noticed when it goes in circles', 'going in circles is not noticed'],
  ['policies', 'Policies', 'policies are asked', 'it has no policies'],
]

/** Describes the brakes of an agent; empty if it is not known which are on. Pure. */
export const brakeWords = (brakes: ChartModel['brakes']): BrakeWords[] =>
  brakes === undefined
    ? []
    : brakeNames.map(([flag, name, open, shut]) => ({
        name,
        isOpen: brakes[flag],
        effect: brakes[flag] ? `open: ${open}` : `shut: ${shut}`,
      }))

const pauseLines: Readonly<Record<PauseReason['type'], string | null>> = {
  limit: 'limit reached',
  approvals: 'waits for people',
  timer: null,
  store: 'store failed',
  stall: 'goes in circles',
  interrupted: 'was paused',
}

/** Returns the line in a chart's state `paused` that names the reason of the pause; `null` if none does. Pure. */
export function pauseLine(reason: PauseReason | null): string | null {
  if (reason?.type === 'limit' && reason.limit === 'ms') return 'time is up'
  if (reason?.type === 'limit' && reason.limit !== 'turns') return 'budget used up'
  return reason === null ? null : pauseLines[reason.type]
}
