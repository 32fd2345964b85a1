import type { LogRecord, RecordOf } from '../protocol/records.ts'
import { RuntimeError } from '../protocol/errors.ts'

/** Applies a record to a state: changes the state in place, or returns the next one. */
type Step<State, Read> = (state: State, record: Read) => State | void

/**
 * A fold: one state computed from a log, as a plain object. If others compare the state by identity, its steps return a new state. If only its owner
 * reads it, they may change it in place.
 */
export interface Fold<State, Kept = State> {
  /** Name under which the fold is kept in checkpoints. */
  readonly name: string
  /** Returns the state before the first record. */
  readonly initial: () => State
  readonly on?: { readonly [T in LogRecord['type']]?: Step<State, RecordOf<T>> }
  /** Applies every record, after the step of its type. */
  readonly each?: Step<State, LogRecord>
  /** Set if a fork starts the fold anew, because its shared past says nothing about the fork itself. */
  readonly isOwn?: true
  /** Converts the state to plain JSON, and back; without them the state itself is plain JSON. */
  keep?(state: State): Kept
  resume?(kept: Kept): State
}

// oxlint-disable-next-line no-explicit-any -- lists have folds of different states, which `Folded` tells apart again.
export type AnyFold = Fold<any, any>

/** A fold over the log so far. Keep this object instead of its state, which any record may replace. */
export interface Folded<State> {
  readonly state: State
}

function after<State>({ on, each, isOwn, initial }: Fold<State, unknown>, state: State, record: LogRecord): State {
  const before = isOwn === true && record.type === 'agent.created' ? initial() : state
  const step = on?.[record.type] as Step<State, LogRecord> | undefined
  const next = step?.(before, record) ?? before
  return each?.(next, record) ?? next
}

const places = new WeakMap<readonly AnyFold[], Map<string, readonly number[]>>()

/** Returns the indexes of the folds that a record type concerns. Most folds ignore most records. */
function concerned(folds: readonly AnyFold[], type: LogRecord['type']): readonly number[] {
  let known = places.get(folds)
  if (known === undefined) places.set(folds, (known = new Map()))
  let found = known.get(type)
  if (found === undefined) known.set(type, (found = [...folds.keys()].filter((index) => takes(folds[index]!, type))))
  return found
}

const takes = ({ on, each, isOwn }: AnyFold, type: LogRecord['type']): boolean =>
  each !== undefined || on?.[type] !== undefined || (isOwn === true && type === 'agent.created')

/** Several folds over one log, applied in the order of their list. None of them may throw. */
export class Folding {
  readonly #folds: readonly AnyFold[]
  /** The state of each fold, in the order of the list. */
  readonly #states: unknown[]

  /** Restores folds from `kept`, the result of `keep`. A fold that is missing in it starts from its initial state. */
  constructor(folds: readonly AnyFold[], kept: { readonly [name: string]: unknown } = {}) {
    this.#folds = folds
    this.#states = folds.map(({ name, initial, resume }): unknown => {
      const from = kept[name]
      return from === undefined ? initial() : resume === undefined ? from : resume(from)
    })
  }

  /** Returns the state of one fold of the list as it is now. */
  stateOf<State>(fold: Fold<State, unknown>): State {
    return this.#states[this.#folds.indexOf(fold)] as State
  }

  /** Returns one fold of the list as an object whose `state` is always the current one. */
  at<State>(fold: Fold<State, unknown>): Folded<State> {
    const states = this.#states
    const index = this.#folds.indexOf(fold)
    return {
      get state() {
        return states[index] as State
      },
    }
  }

  /** Applies the next record to the folds that it concerns. */
  apply(record: LogRecord): void {
    const states = this.#states
    for (const index of concerned(this.#folds, record.type))
      states[index] = after(this.#folds[index]!, states[index], record)
  }

  /** Returns the kept form of each fold, by name, as plain JSON that shares objects with the states. */
  keep(): { readonly [name: string]: unknown } {
    return Object.fromEntries(
      this.#folds.map(({ name, keep }, index) => {
        const state = this.#states[index]
        return [name, keep === undefined ? state : keep(state)]
      }),
    )
  }
}

/** Returns the state of one fold over a log, or over several, one after the other. */
export function foldLog<State>(fold: Fold<State, unknown>, ...logs: readonly Iterable<LogRecord>[]): State {
  let state = fold.initial()
  for (const records of logs) for (const record of records) state = after(fold, state, record)
  return state
}

/** Returns the error for a record that does not follow from earlier ones. */
export const corrupt = (record: LogRecord, what: string): RuntimeError =>
  new RuntimeError('LOG_CORRUPT', `Record ${record.seq} (${record.type}) does not follow from the log: ${what}.`)

/** Throws if a record has a fault. @throws RuntimeError `LOG_CORRUPT` */
export function check(record: LogRecord, wrong: string | undefined): void {
  if (wrong !== undefined) throw corrupt(record, wrong)
}

/** Stored form of the ids, as plain JSON. One long text is parsed faster than many short ones. */
export interface KeptIds {
  /** Ids in one text, each enclosed in spaces. */
  readonly joined: string
  /** Ids that contain a space, and the empty id. */
  readonly others: readonly string[]
}

/** Maximum number of ids that are remembered as missing from the set. */
const mostAbsent = 64

const noIds: KeptIds = { joined: ' ', others: [] }

/** A growing set of ids. Stored ids are searched in their text instead of being loaded into a set. */
export class KnownIds {
  readonly #kept: KeptIds
  /** Added ids; missing while there are none. */
  #added: Set<string> | undefined
  /** Ids that were not found in the text, cached because an id is usually looked up more than once before it is added. */
  #absent: Set<string> | undefined

  constructor(kept = noIds) {
    this.#kept = kept
  }

  has(id: string): boolean {
    if (this.#added?.has(id) === true) return true
    if (this.#kept === noIds || this.#absent?.has(id) === true) return false
    const { joined, others } = this.#kept
    if (isPlain(id) ? joined.includes(` ${id} `) : others.includes(id)) return true
    if (this.#absent === undefined || this.#absent.size === mostAbsent) this.#absent = new Set()
    this.#absent.add(id)
    return false
  }

  add(id: string): void {
    if (this.has(id)) return
    this.#absent?.delete(id)
    this.#added ??= new Set()
    this.#added.add(id)
  }

  keep(): KeptIds {
    const added = [...(this.#added ?? [])]
    return {
      joined: this.#kept.joined + added.map((id) => (isPlain(id) ? `${id} ` : '')).join(''),
      others: [...this.#kept.others, ...added.filter((id) => !isPlain(id))],
    }
  }
}

const isPlain = (id: string): boolean => id !== '' && !id.includes(' ')
