import { effectsIn } from '../../callEffects.ts'
import type { RecordDraft, Spent } from '../../records.ts'
import { oneLine } from '../../text/cutMiddle.ts'
import { addUsage } from '../../text/messageText.ts'

type DraftOf<T extends RecordDraft['type']> = Extract<RecordDraft, { readonly type: T }>
export type InnerStart = Pick<
  DraftOf<'inner.start'>,
  'n' | 'name' | 'input' | 'print' | 'begun' | 'irreversible' | 'reversible' | 'childId'
> & {
  /** Usage of the sub-agent that is already in the log. */
  readonly counted?: Spent
}
export type InnerEnd = Pick<
  DraftOf<'inner.end'>,
  'n' | 'name' | 'asked' | 'at' | 'value' | 'apart' | 'error' | 'changed' | 'receipt'
>

/** The calls that one running call has made, in the order of their records. */
export interface InnerCallsMade {
  readonly starts: readonly InnerStart[]
  readonly ends: readonly InnerEnd[]
}

export type InnerState = { readonly [callId: string]: InnerCallsMade }

const none: InnerCallsMade = { starts: [], ends: [] }
const of = (state: InnerState, callId: string): InnerCallsMade => (Object.hasOwn(state, callId) ? state[callId]! : none)

const sum = (a: Spent, b: Spent): Spent => ({
  usage: addUsage(a.usage, b.usage),
  costUsd: a.costUsd + b.costUsd,
  turns: a.turns + b.turns,
})

/** Calls of sub-agents that have no result yet. */
export const openChildren = ({ starts, ends }: InnerCallsMade): (InnerStart & { readonly childId: string })[] =>
  starts.flatMap((start) =>
    start.childId === undefined || ends.some(({ n }) => n === start.n) ? [] : [{ ...start, childId: start.childId }],
  )

/** Returns the usage that the log has so far for a sub-agent whose call has no result yet. */
export const countedOf = (state: InnerState | undefined, childId: string): Spent | undefined =>
  Object.values(state ?? {})
    .flatMap(openChildren)
    .find((start) => start.childId === childId)?.counted

/** Fold of the inner calls' records, until the running call has its own result. */
export const innerState = {
  initial: {} as InnerState,
  on: {
    'inner.start': (
      state: InnerState,
      { callId, n, name, input, print, begun, irreversible, reversible, childId }: DraftOf<'inner.start'>,
    ): InnerState => {
      const { starts, ends } = of(state, callId)
      const start = {
        n,
        name,
        input,
        print,
        begun,
        ...(irreversible === undefined ? {} : { irreversible }),
        ...(reversible === undefined ? {} : { reversible }),
        ...(childId === undefined ? {} : { childId }),
      }
      return { ...state, [callId]: { starts: [...starts, start], ends } }
    },
    'child.ended': (state: InnerState, { childId, spent }: DraftOf<'child.ended'>): InnerState => {
      const entry = Object.entries(state).find(([, made]) => openChildren(made).some((one) => one.childId === childId))
      if (entry === undefined) return state
      const [callId, made] = entry
      const count = (one: InnerStart): InnerStart =>
        one.childId !== childId || made.ends.some(({ n }) => n === one.n)
          ? one
          : { ...one, counted: one.counted === undefined ? spent : sum(one.counted, spent) }
      return { ...state, [callId]: { ...made, starts: made.starts.map(count) } }
    },
    'inner.end': (state: InnerState, record: DraftOf<'inner.end'>): InnerState => {
      const { callId, n, name, asked, at, value, apart, error } = record
      const { starts, ends } = of(state, callId)
      const end = {
        n,
        name,
        at,
        ...(asked === undefined ? {} : { asked }),
        ...(value === undefined ? {} : { value }),
        ...(apart === undefined ? {} : { apart }),
        ...(error === undefined ? {} : { error }),
        ...effectsIn(record),
      }
      return { ...state, [callId]: { starts, ends: [...ends, end] } }
    },
    'tool.end': (state: InnerState, { callId }: DraftOf<'tool.end'>): InnerState | undefined => {
      if (!Object.hasOwn(state, callId)) return state
      const { [callId]: _, ...others } = state
      return Object.keys(others).length === 0 ? undefined : others
    },
    // Calls of before are over, also those of a past that a fork shares.
    'reply.end': (): undefined => undefined,
  },
}

/** Receipt of a call for its inner calls: those that can be undone, newest first, and those that stay, in one line each. */
export interface InnerReceipt {
  readonly undo: readonly {
    readonly n: number
    readonly name: string
    readonly input: unknown
    readonly of?: string
    readonly receipt: unknown
  }[]
  readonly left: readonly string[]
}

const mostLeft = 20

const mostPaths = 5
const mostNamed = 5
const longestLine = 300

/** Describes calls in one line: their number for each tool, the paths they changed, and each call that cannot be undone. */
function callsLine({ starts, ends }: InnerCallsMade): string {
  const said = [...Map.groupBy(starts, ({ name }) => name)].map(([name, calls]) => {
    const bound = calls.filter(({ irreversible }) => irreversible === true)
    const inputs = bound.slice(-mostNamed).map(({ input }) => oneLine(JSON.stringify(input) ?? '', 60))
    const paths = new Set(ends.flatMap((end) => (end.name === name ? (end.changed ?? []) : [])))
    const count = calls.length === 1 ? [] : [`×${calls.length}`]
    return [oneLine(name, 64), ...count, ...[...paths].slice(0, mostPaths), ...inputs].join(' ')
  })
  const denied = ends.flatMap(({ name, asked, error }) =>
    asked === undefined || error?.code !== 'DENIED'
      ? []
      : [`denied ${oneLine(name, 64)} ${oneLine(JSON.stringify(asked.input) ?? '', 60)}`],
  )
  const count = `${starts.length} ${starts.length === 1 ? 'call' : 'calls'}`
  return oneLine(
    [
      count,
      ...(said.length + denied.length === 0 ? [] : [`: ${[...denied.slice(0, mostNamed), ...said].join(', ')}`]),
    ].join(''),
    longestLine,
  )
}

const mostFailures = 5
const longestFailure = 300

/** Describes each failure once, except for calls that a crash or a limit cut off, and calls for which an identical one succeeded. */
function failuresOf({ starts, ends }: InnerCallsMade): string[] {
  const inputs = new Map(starts.map(({ n, name, print }) => [n, `${name} ${print}`]))
  const printOf = ({ n, name, asked }: InnerEnd): string => inputs.get(n) ?? `${name} ${asked?.print ?? ''}`
  const good = new Set(ends.flatMap((end) => (end.error === undefined ? [printOf(end)] : [])))
  const lines = ends.flatMap((end) => {
    const { name, error } = end
    if (error === undefined || error.code === 'INTERRUPTED' || error.code === 'LIMIT' || good.has(printOf(end)))
      return []
    return [`${oneLine(name, 64)}: ${oneLine(error.message.trimEnd().slice(-longestFailure), longestFailure)}`]
  })
  return [...new Set(lines)].slice(-mostFailures)
}

/** Returns the additions to a call's result from its inner calls: changed paths, a line about them, their failures and one receipt. Pure. */
export function innerEffects(made: InnerCallsMade): {
  readonly changed: readonly string[]
  readonly calls: string | undefined
  readonly failures: readonly string[]
  readonly receipt: InnerReceipt | undefined
} {
  const { starts, ends } = made
  const byPlace = new Map(ends.map((end) => [end.n, end]))
  const changed = [...new Set(ends.flatMap((end) => end.changed ?? []))]
  const left: string[] = []
  const undo: InnerReceipt['undo'][number][] = []
  for (const { n, name, input, irreversible, reversible } of starts.toReversed()) {
    const end = byPlace.get(n)
    const line = `${oneLine(name, 64)} ${oneLine(JSON.stringify(input) ?? '', 100)}`
    if (irreversible === true) left.push(`${line} cannot be undone`)
    else if (reversible === true && end?.receipt !== undefined) {
      const { of: what, data } = end.receipt
      undo.push({ n, name, input, receipt: data, ...(what === undefined ? {} : { of: what }) })
    } else if (reversible === true && (end === undefined || end.error?.code === 'INTERRUPTED'))
      left.push(`${line} was cut short`)
    else if (reversible !== true && (end?.changed?.length ?? 0) > 0) left.push(`${line} has no undo`)
  }
  const more = left.length > mostLeft ? [`${left.length - mostLeft} more`] : []
  const receipt = undo.length === 0 ? undefined : { undo, left: [...left.slice(0, mostLeft), ...more] }
  const calls = starts.length + ends.length === 0 ? undefined : callsLine(made)
  return { changed, calls, failures: failuresOf(made), receipt }
}
