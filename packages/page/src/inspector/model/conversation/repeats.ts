import type { CallRow, GraphRow, RepeatRow } from './graphRow.ts'
import type { GraphRows } from './graphRows.ts'

/** Calls that failed in the same way, one after the other, in steps of their own. */
export interface Repeat {
  readonly row: RepeatRow
  /** Key of the last row that the repeat stands for. */
  readonly until: string
}

/** Smallest number of repeated failures that are shown as one row. */
const fewest = 3

const known = new WeakMap<GraphRows, { readonly version: number; readonly repeats: ReadonlyMap<string, Repeat> }>()

/** Returns the repeated failures of a conversation, by the key of the first row of each. Costs the number of rows, once per change. */
export function repeatsOf(graph: GraphRows): ReadonlyMap<string, Repeat> {
  const before = known.get(graph)
  if (before?.version === graph.version) return before.repeats
  const repeats = new Map<string, Repeat>()
  const { rows } = graph
  for (let at = 0; at < rows.length;) {
    const first = failureAt(rows, at)
    if (first === undefined || rows[at]!.isStart) {
      at += 1
      continue
    }
    const signature = signatureOf(first)
    let times = 1
    let next = at + 2
    for (let call = failureAt(rows, next); call !== undefined; call = failureAt(rows, next)) {
      if (rows[next]!.lane !== rows[at]!.lane || signatureOf(call) !== signature) break
      times += 1
      next += 2
    }
    if (times >= fewest) repeats.set(rows[at]!.key, repeat(rows, { at, next, times, first }))
    at = next
  }
  known.set(graph, { version: graph.version, repeats })
  return repeats
}

/** Returns the call of the step that begins here, if it is the step's only call and has failed. */
function failureAt(rows: readonly GraphRow[], at: number): CallRow | undefined {
  const message = rows[at]
  const call = rows[at + 1]
  if (message?.type !== 'message' || message.calls !== 1 || message.pruned !== undefined) return undefined
  if (call?.type !== 'call' || call.result?.isError !== true || call.result.synthetic !== undefined) return undefined
  return call
}

const signatures = new WeakMap<object, string>()

/** Returns the name and input of a call as its identity. The result is left out, as outputs hold times. */
function signatureOf({ name, input }: CallRow): string {
  if (typeof input !== 'object' || input === null) return `${name} ${String(input)}`
  const made = signatures.get(input) ?? JSON.stringify(input)
  signatures.set(input, made)
  return `${name} ${made}`
}

interface Found {
  readonly at: number
  readonly next: number
  readonly times: number
  readonly first: CallRow
}

function repeat(rows: readonly GraphRow[], { at, next, times, first }: Found): Repeat {
  const { key, lane, time, turnIndex } = rows[at]!
  const { name, input } = first
  const last = rows[next - 1] as CallRow
  const row = { key: `repeat ${key}`, lane, isStart: false, version: times, time, turnIndex } as const
  return {
    until: last.key,
    row: { ...row, type: 'repeat', name, input, times, from: first.stepId, to: last.nodeId, result: last.result! },
  }
}
