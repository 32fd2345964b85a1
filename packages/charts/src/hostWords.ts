import type { HostView, PendingTimer } from '../../wire/src/hostView.ts'
import { duration } from './amounts.ts'
import { oneLine } from './plainText.ts'

/** Depth of the deepest states listed. */
const mostDepth = 50

/** Returns the paths of the innermost active states, from a state value in XState's format. Pure; never throws. */
export function activeStates(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value === 'string') return [[...path, value].join('.')]
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (inner.length === 0 || path.length === mostDepth) return path.length === 0 ? [] : [path.join('.')]
  return inner.flatMap(([name, below]) => activeStates(below, [...path, name]))
}

/** Describes the active states: `open`, or `paying.card and packing` if there are several. Pure. */
export const stateWords = (value: unknown): string => oneLine(activeStates(value).join(' and ')) || 'no state'

/** Patterns of XState's own event names, with their words. */
const ofXState: readonly (readonly [RegExp, (found: readonly string[]) => string])[] = [
  [/^xstate\.after\.(\d+)\.[^.]+(?:\.(.+))?$/, ([, ms, at]) => `after ${duration(Number(ms))}${placeIn(at)}`],
  [/^xstate\.after\.([^.]+)\.[^.]+(?:\.(.+))?$/, ([, name, at]) => `after ${name}${placeIn(at)}`],
  [/^xstate\.done\.(?:actor|state)\.(.+)$/, ([, name]) => `${name} is done`],
  [/^xstate\.error\.actor\.(.+)$/, ([, name]) => `${name} failed`],
]

const placeIn = (state: string | undefined): string => (state === undefined ? '' : ` in ${state}`)

/** Describes an event of a machine. XState's own events have names made for machines. Pure. */
export function eventInWords(type: string): string {
  for (const [pattern, words] of ofXState) {
    const found = pattern.exec(type)
    if (found !== null) return oneLine(words(found))
  }
  return oneLine(type)
}

/** Says when a delayed event is due: `in 2 h 30 min`, or `due`. Pure. */
export const dueWords = (due: number, now: number): string => (due <= now ? 'due' : `in ${duration(due - now)}`)

/** Describes a delayed event: `remind in 3 min 00 s`. Pure. */
export const timerWords = ({ type, due }: Pick<PendingTimer, 'type' | 'due'>, now: number): string =>
  `${eventInWords(type)} ${dueWords(due, now)}`

/** Words for the status of a machine. */
export const hostStatuses: Readonly<Record<HostView['status'], string>> = {
  active: 'active',
  done: 'done',
  error: 'failed',
  closed: 'closed',
}
