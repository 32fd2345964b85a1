import type { LogRecord, RecordOf } from '../protocol/records.ts'

/** A record changes a state in place, or makes the next one of it. */
type Step<State, Read> = (state: State, record: Read) => State | void

/**
 * One thing that a log says, as a plain object. The steps of a state that others compare by identity make a new one; one that only its owner
 * reads may be changed in place.
 */
export interface Fold<State, Kept = State> {
  /** Under which it is kept in checkpoints. */
  readonly name: string
  /** Before the first record. */
  readonly initial: () => State
  /** By the type of the record. */
  readonly on?: { readonly [T in LogRecord['type']]?: Step<State, RecordOf<T>> }
  /** With every record, after the step of its type. */
  readonly each?: Step<State, LogRecord>
  /** A fork begins it anew: what the past that it shares says is not its own. */
  readonly isOwn?: true
  /** As plain JSON, and back; without them the state is that. */
  keep?(state: State): Kept
  resume?(kept: Kept): State
}

// oxlint-disable-next-line no-explicit-any -- lists have folds of different states, which `Folded` tells apart again.
export type AnyFold = Fold<any, any>

/** A fold over the log so far. Hold this and not its state, which may be replaced with every record. */
export interface Folded<State> {
  state: State
}

/** The state after one more record. */
function after<State>({ on, each, isOwn, initial }: Fold<State, unknown>, state: State, record: LogRecord): State {
  const before = isOwn === true && record.type === 'agent.created' ? initial() : state
  const step = on?.[record.type] as Step<State, LogRecord> | undefined
  const next = step?.(before, record) ?? before
  return each?.(next, record) ?? next
}

/** Several folds over one log, in the order of their list. What may throw has no place among them. */
export class Folding {
  readonly #folds: readonly AnyFold[]
  readonly #folded: readonly Folded<unknown>[]

  /** `kept`: what `keep` gave; a fold that is not in it begins at its beginning. */
  constructor(folds: readonly AnyFold[], kept: { readonly [name: string]: unknown } = {}) {
    this.#folds = folds
    this.#folded = folds.map(({ name, initial, resume }) => {
      const from = kept[name]
      return { state: from === undefined ? initial() : resume === undefined ? from : resume(from) }
    })
  }

  /** One of the list; the same object for good. */
  at<State>(fold: Fold<State, unknown>): Folded<State> {
    return this.#folded[this.#folds.indexOf(fold)] as Folded<State>
  }

  /** Takes the next record. */
  apply(record: LogRecord): void {
    for (let index = 0; index < this.#folds.length; index += 1) {
      const folded = this.#folded[index]!
      folded.state = after(this.#folds[index]!, folded.state, record)
    }
  }

  /** By name, as plain JSON that shares objects with the states. */
  keep(): { readonly [name: string]: unknown } {
    return Object.fromEntries(
      this.#folds.map(({ name, keep }, index) => {
        const { state } = this.#folded[index]!
        return [name, keep === undefined ? state : keep(state)]
      }),
    )
  }
}

/** One fold over a log, or over several, one after the other. */
export function foldLog<State>(fold: Fold<State, unknown>, ...logs: readonly Iterable<LogRecord>[]): State {
  let state = fold.initial()
  for (const records of logs) for (const record of records) state = after(fold, state, record)
  return state
}
