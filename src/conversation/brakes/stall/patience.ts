/** Effects of a step's calls. */
interface Effect {
  /** True if a call changed something other than by a shell command, which says itself what it did. */
  readonly acts: boolean
  readonly hasMoved: boolean
  readonly hasFailed: boolean
}

interface MadeCall {
  readonly name: string
  readonly input: unknown
}

/**
 * Returns how often a step may be made again before it counts as a loop, beyond the times of any step: longer for what people do several times in a
 * row: asking how far something is, scrolling, acting where nothing is shown of it, trying again what timed out. Pure.
 */
export function patienceFor(ends: readonly string[], { acts, hasMoved, hasFailed }: Effect): number {
  if (ends.some(isUnfinished) || hasMoved || (acts && ends.every(showsNothing))) return 3
  if (hasFailed) return ends.some((end) => timedOut.test(end)) ? 1 : 0
  return acts ? 1 : 0
}

/** Names of tools, actions and keys that move on from where they are, so the same call shows something else. */
const moving: ReadonlySet<string> = new Set([
  'scroll',
  'swipe',
  'pagedown',
  'pageup',
  'arrowdown',
  'arrowup',
  'arrowleft',
  'arrowright',
  'tab',
])

/** Returns true if a call moves on from where it is. */
export function moves({ name, input }: MadeCall): boolean {
  const { action, key } =
    typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : {}
  return [name, action, key].some((value) => typeof value === 'string' && value.length <= 64 && isMoving(value))
}

/** Compares the whole name and its first word: `scroll_down`, `PageDown`. */
function isMoving(name: string): boolean {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
  return moving.has(words.join('')) || words.some((word) => word === 'scroll' || word === 'swipe')
}

/** Returns true for a result without text, or with the words that stand for that. */
const showsNothing = (end: string): boolean => /^\s*(?:\(no output\)\s*)?$/.test(end)

/** Number of characters of a result that only says that something is under way. */
const shortAnswer = 300

const unfinished =
  /\b(?:still (?:running|waiting|building|loading|starting|working|in)|in progress|pending|queued|loading|not (?:yet )?(?:ready|done|finished|available|complete)|please wait|starting up)\b/i

const isUnfinished = (end: string): boolean => end.length <= shortAnswer && unfinished.test(end)

const timedOut = /timed? ?out|timeout/i
