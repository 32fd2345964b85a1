import type { HostView, PendingTimer } from '../../wire/src/hostView.ts'
import { duration } from './amounts.ts'
import { oneLine } from './plainText.ts'

/** Deepest state that is told. */
const mostDepth = 50

/** Paths of the innermost active states, from a state value as XState writes it. Pure; never throws. */
export function activeStates(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value === 'string') return [[...path, value].join('.')]
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (inner.length === 0 || path.length === mostDepth) return path.length === 0 ? [] : [path.join('.')]
  return inner.flatMap(([name, below]) => activeStates(below, [...path, name]))
}

/** The active states in words: `open`, or `paying.card and packing` where several are. Pure. */
export const stateWords = (value: unknown): string => oneLine(activeStates(value).join(' and ')) || 'no state'

/** Begins with whatever a name is followed by. */
const ofXState: readonly (readonly [RegExp, (found: readonly string[]) => string])[] = [
  [/^xstate\.after\.(\d+)\.[^.]+(?:\.(.+))?$/, ([, ms, at]) => `after ${duration(Number(ms))}${placeIn(at)}`],
  [/^xstate\.after\.([^.]+)\.[^.]+(?:\.(.+))?$/, ([, name, at]) => `after ${name}${placeIn(at)}`],
  [/^xstate\.done\.(?:actor|state)\.(.+)$/, ([, name]) => `${name} is done`],
  [/^xstate\.error\.actor\.(.+)$/, ([, name]) => `${name} failed`],
]

const placeIn = (state: string | undefined): string => (state === undefined ? '' : ` in ${state}`)

/** An event of a machine in words: XState's own have names for machines. Pure. */
export function eventInWords(type: string): string {
  for (const [pattern, words] of ofXState) {
    const found = pattern.exec(type)
    if (found !== null) return oneLine(words(found))
  }
  return oneLine(type)
}

/** When a delayed event comes: `in 2 h 30 min`, or `due`. Pure. */
export const dueWords = (due: number, now: number): string => (due <= now ? 'due' : `in ${duration(due - now)}`)

/** A delayed event in words: `remind in 3 min 00 s`. Pure. */
export const timerWords = ({ type, due }: Pick<PendingTimer, 'type' | 'due'>, now: number): string =>
  `${eventInWords(type)} ${dueWords(due, now)}`

/** How a machine stands. */
export const hostStatuses: Readonly<Record<HostView['status'], string>> = {
  active: 'active',
  done: 'done',
  error: 'failed',
  closed: 'closed',
}
