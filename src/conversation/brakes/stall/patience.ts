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
 * Returns the number of extra times that a step may be made again before it counts as a loop. It is higher for steps that
 * people often repeat: asking for progress, scrolling, acting without a visible effect, retrying after a timeout. Pure.
 */
export function patienceFor(ends: readonly string[], { acts, hasMoved, hasFailed }: Effect): number {
  if (ends.some(isUnfinished) || hasMoved || (acts && ends.every(showsNothing))) return 3
  if (hasFailed) return ends.some((end) => timedOut.test(end)) ? 1 : 0
  return acts ? 1 : 0
}

/** Names of tools, actions and keys that move to another place, so that the same call shows something else. */
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

/** Returns true if a call moves to another place. */
export function moves({ name, input }: MadeCall): boolean {
  const { action, key } =
    typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : {}
  return [name, action, key].some((value) => typeof value === 'string' && value.length <= 64 && isMoving(value))
}

/** Checks the whole name, and its words for `scroll` and `swipe`: `scroll_down`, `PageDown`. */
function isMoving(name: string): boolean {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
  return moving.has(words.join('')) || words.some((word) => word === 'scroll' || word === 'swipe')
}

/** Returns true for a result without text, or with words that mean none. */
const showsNothing = (end: string): boolean => /^\s*(?:\(no output\)\s*)?$/.test(end)

/** Maximum length of a result that only says that something is under way, in characters. */
const shortAnswer = 300

const unfinished =
  /\b(?:still (?:running|waiting|building|loading|starting|working|in)|in progress|pending|queued|loading|not (?:yet )?(?:ready|done|finished|available|complete)|please wait|starting up)\b/i

const isUnfinished = (end: string): boolean => end.length <= shortAnswer && unfinished.test(end)

const timedOut = /timed? ?out|timeout/i
