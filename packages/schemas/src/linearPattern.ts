import { readPattern, type CharacterTest, type Edge, type PatternPart } from './patternSyntax.ts'

/** Remaining number of steps for a match; several matches can share it. */
export interface Steps {
  left: number
}

/** A regular expression from an untrusted source. */
export interface LinearPattern {
  /** Size of the pattern: the maximum number of steps for each character of the text. */
  readonly size: number
  /**
   * Returns true if the pattern matches anywhere in the text, like `RegExp.prototype.test`.
   * @throws TooManySteps
   */
  test(text: string, steps?: Steps): boolean
}

/** Thrown if a text is too long for the regular expression that it is matched against. */
export class TooManySteps extends Error {
  override readonly name = 'TooManySteps'

  constructor() {
    super('it is too long for its regular expression')
  }
}

/** Default number of steps for a match, at about 20 ns each. */
const defaultSteps = 200_000_000
const maxSize = 10_000

/**
 * Compiles a JavaScript regular expression to a matcher in linear time: a match takes at most as many steps as its size times the length of the text.
 * All syntax has its meaning in JavaScript. Back references (`\1`, `\k<name>`) and inline flags (`(?i:`) are refused. It takes no flags, except `u`
 * if the pattern is valid with it.
 * @throws Error with the reason for a refusal
 */
export function linearPattern(source: string): LinearPattern {
  const { part, isUnicode } = readPattern(source)
  const size = sizeOf(part)
  if (size > maxSize) throw new Error(`it comes to ${size} parts with its repetitions, and up to ${maxSize} are tried`)
  let programs: readonly Program[] | undefined
  return {
    size,
    test(text, steps = { left: defaultSteps }) {
      programs ??= programsOf(part)
      const codes = codesOf(text, isUnicode)
      const looks: Uint8Array[] = []
      for (const program of programs.slice(0, -1)) {
        spend(steps, codes.length)
        const holds = new Uint8Array(codes.length + 1)
        run(program, { codes, looks, steps }, (at) => {
          holds[at] = 1
          return false
        })
        looks.push(holds)
      }
      return run(programs.at(-1)!, { codes, looks, steps }, () => true)
    },
  }
}

function sizeOf(part: PatternPart): number {
  if (part.type === 'sequence' || part.type === 'choice')
    return part.parts.reduce((all, each) => all + sizeOf(each) + 1, 1)
  if (part.type === 'look') return sizeOf(part.part) + 2
  if (part.type !== 'repeat') return 1
  return (sizeOf(part.part) + 1) * (part.most === Infinity ? part.least + 1 : Math.max(part.most, 1))
}

/** A state that is left by consuming a character, or without consuming one. */
type State =
  | { readonly type: 'character'; readonly is: CharacterTest; readonly next: number }
  | { readonly type: 'fork'; next: number; readonly other: number }
  | { readonly type: 'edge'; readonly edge: Edge; readonly next: number }
  | { readonly type: 'look'; readonly look: number; readonly isNot: boolean; readonly next: number }
  | { readonly type: 'end' }

/** A compiled program: its states by number, and the direction in which the text is read. */
interface Program {
  readonly states: readonly State[]
  readonly start: number
  readonly isForward: boolean
}

/** The programs of all lookaheads and lookbehinds, inner ones first, and the program of the whole expression. */
function programsOf(whole: PatternPart): readonly Program[] {
  const programs: Program[] = []
  const looks = new Map<PatternPart, number>()

  function programOf(part: PatternPart, isForward: boolean): Program {
    const states: State[] = [{ type: 'end' }]
    const add = (state: State): number => states.push(state) - 1

    /** Adds a part that leads to the state `next`, and returns its first state. */
    function enter(one: PatternPart, next: number): number {
      switch (one.type) {
        case 'character':
        case 'edge':
          return add({ ...one, next })
        case 'look':
          return add({ type: 'look', look: lookOf(one), isNot: one.isNot, next })
        case 'choice':
          return one.parts
            .map((each) => enter(each, next))
            .reduceRight((other, each) => add({ type: 'fork', next: each, other }))
        case 'sequence':
          return (isForward ? one.parts.toReversed() : one.parts).reduce((after, each) => enter(each, after), next)
        case 'repeat':
          return repeated(one, next)
      }
    }

    function repeated({ part: one, least, most }: PatternPart & { readonly type: 'repeat' }, next: number): number {
      let at = next
      if (most === Infinity) {
        const fork: State = { type: 'fork', next: 0, other: next }
        at = add(fork)
        fork.next = enter(one, at)
      } else for (let n = least; n < most; n++) at = add({ type: 'fork', next: enter(one, at), other: next })
      for (let n = 0; n < least; n++) at = enter(one, at)
      return at
    }

    const start = enter(part, 0)
    return { states, start, isForward }
  }

  function lookOf(look: PatternPart & { readonly type: 'look' }): number {
    const known = looks.get(look)
    if (known !== undefined) return known
    // A look ahead is matched from the end of the text on, for all places at once.
    const program = programOf(look.part, look.isBehind)
    looks.set(look, programs.length)
    return programs.push(program) - 1
  }

  const last = programOf(whole, true)
  return [...programs, last]
}

interface Matched {
  readonly codes: Int32Array
  /** Positions at which each lookaround holds, marked by 1. */
  readonly looks: readonly Uint8Array[]
  readonly steps: Steps
}

/** Follows all paths at once, from every position, and calls `found` where a path ends. Returns true as soon as `found` does. */
function run({ states, start, isForward }: Program, matched: Matched, found: (at: number) => boolean): boolean {
  const { codes, looks, steps } = matched
  /** The last round in which each state was entered: entering it once per round is enough. */
  const seen = new Int32Array(states.length).fill(-1)
  const waiting: number[] = []
  let reached: number[] = []
  let now: number[] = []
  let turn = 0
  let at = 0
  let hasEnded = false

  function enter(state: number): void {
    for (let next: number | undefined = state; next !== undefined; next = waiting.pop()) {
      if (seen[next] === turn) continue
      seen[next] = turn
      steps.left--
      const one = states[next]!
      if (one.type === 'character') now.push(next)
      else if (one.type === 'fork') waiting.push(one.other, one.next)
      else if (one.type === 'end') hasEnded = true
      else if (one.type === 'look' ? (looks[one.look]![at] === 1) !== one.isNot : isEdge(one.edge, codes, at))
        waiting.push(one.next)
    }
  }

  for (; turn <= codes.length; turn++) {
    at = isForward ? turn : codes.length - turn
    hasEnded = false
    ;[reached, now] = [now, reached]
    now.length = 0
    for (const each of reached) {
      const one = states[each] as State & { readonly type: 'character' }
      if (one.is(codes[isForward ? at - 1 : at]!)) enter(one.next)
    }
    enter(start)
    spend(steps, reached.length + 1)
    if (hasEnded && found(at)) return true
  }
  return false
}

/** Uses up steps. @throws TooManySteps if none are left */
export function spend(steps: Steps, taken: number): void {
  steps.left -= taken
  if (steps.left < 0) throw new TooManySteps()
}

function isEdge(edge: Edge, codes: Int32Array, at: number): boolean {
  if (edge === '^') return at === 0
  if (edge === '$') return at === codes.length
  return (isWord(codes[at - 1]) !== isWord(codes[at])) === (edge === 'b')
}

/** Returns true for a letter from A to Z, a digit and the underscore. */
const isWord = (code: number | undefined): boolean =>
  code !== undefined &&
  ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95)

function codesOf(text: string, isUnicode: boolean): Int32Array {
  const codes = new Int32Array(text.length)
  let count = 0
  for (let at = 0; at < text.length; count++) {
    const code = isUnicode ? text.codePointAt(at)! : text.charCodeAt(at)
    codes[count] = code
    at += code > 0xff_ff ? 2 : 1
  }
  return codes.subarray(0, count)
}
