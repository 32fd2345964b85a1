import { isDeepStrictEqual } from 'node:util'
import { movesCall } from '../../src/log/callStage.ts'
import type { AgentContext, CallState, LiveCall, LiveRun } from '../../src/machines/agentTypes.ts'
import { ContextFold, foldContext, type FoldedContext } from '../../src/machines/rebuildContext.ts'
import type { LogRecord } from '../../src/protocol/records.ts'

type Logged = Omit<FoldedContext, 'foreign'>

/** Fields that a log does not have, because they only matter to the process. All others are restored from the records. */
const liveOfRun = [
  'timers',
  'deadline',
  'deadlinePassed',
  'retryAt',
  'lastError',
  'overflowed',
  'abortedBy',
  'answer',
] as const satisfies readonly (keyof LiveRun)[]
const liveOfCall = ['allowance', 'used'] as const satisfies readonly (keyof LiveCall)[]

/** Fields that a hook sets, and the start of the call tells: one that is refused has none. */
const ofHook = ['beforeTool', 'edited', 'input'] as const satisfies readonly (keyof LiveCall)[]

type Status = CallState['status']

/** Statuses of the machine that have another name in the log. */
const sameAs: { readonly [S in Status]?: Status } = { checking: 'ready', asking: 'asked' }

/** Changes of a call's status that have no record: its tool could not begin, its run ended, or its sub-agent waits for an allowance. */
const unsaid: { readonly [S in Status]?: readonly Status[] } = { running: ['ready', 'paused'], asked: ['ready'] }

const names = (Object.keys(foldContext([]).context) as (keyof FoldedContext)[]).filter((name) => name !== 'foreign')

const without = (value: object, fields: readonly string[]): object =>
  Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)))

/** The calls as the log can know them; `before` and `moved`: what the log says of them, and which of them a record moved. */
function callsOf(calls: readonly CallState[], before: readonly CallState[], moved: ReadonlySet<string>): object[] {
  return calls.map((call, index) => {
    const status = sameAs[call.status] ?? call.status
    const said = before[index] === undefined ? status : (sameAs[before[index].status] ?? before[index].status)
    const isUnsaid = !moved.has(call.callId) && unsaid[said]?.includes(status)
    const live = status === 'settled' ? [...liveOfCall, ...ofHook] : liveOfCall
    return { ...without(call, live), status: isUnsaid === true ? said : status }
  })
}

/** Parts of a context that a log can tell. */
function loggedOf(context: Logged): Readonly<Record<string, unknown>> {
  const { run, pause } = context
  return {
    ...context,
    // The driver checks it; times are those of the events that told them.
    seq: 0,
    now: 0,
    heldAt: 0,
    run: run && without(run, liveOfRun),
    // Approvals pause nothing but the chart, and a store that fails says so in no log.
    pause: pause?.type === 'approvals' || pause?.type === 'store' ? null : pause,
  }
}

/**
 * Throws unless the records that a transition wrote, folded over the context before it, say what the context is after it, but for what is
 * live.
 */
export function checkLogged(before: AgentContext, records: readonly LogRecord[], after: AgentContext): void {
  const known = Object.fromEntries(names.map((name) => [name, before[name as keyof AgentContext]]))
  const fold = new ContextFold({ context: { ...known, foreign: false } as FoldedContext, isHeld: false })
  for (const record of records) fold.apply({ ...record, time: after.now })
  const { context } = fold
  const moved = new Set(records.flatMap((record) => (movesCall(record) ? [record.callId] : [])))
  const said = { ...loggedOf(context), calls: callsOf(context.calls, context.calls, moved) }
  const is = { ...loggedOf(after), calls: callsOf(after.calls, context.calls, moved) }
  for (const name of names as (keyof typeof said)[]) {
    if (isDeepStrictEqual(said[name], is[name])) continue
    const types = records.map(({ type }) => type).join(', ') || 'no record'
    throw new Error(
      `${types}: the log says ${name} ${JSON.stringify(said[name])}, the machine ${JSON.stringify(is[name])}`,
    )
  }
}
