import type { Refusal } from '../protocol/guarding.ts'
import { isImported } from '../protocol/imported.ts'
import { addUsage, noUsage, toolCallsOf, type Usage } from '../protocol/messages.ts'
import type { LogRecord, RecordOf, RunStopReason, Spent } from '../protocol/records.ts'
import type { AgentContext, CallState, RunState } from './agentTypes.ts'
import { callKey } from './calls.ts'
import { FoldedCalls } from './foldedCalls.ts'
import { isEnding } from './foreign.ts'
import { remainingLimits } from './limits.ts'
import { refusalIn } from './guards/guarding.ts'
import { reporterOf, reportId } from './reports.ts'
import { numberOf } from './continuing.ts'
import { newRun, nothingPaused } from './runs.ts'
import { addSpent } from '../log/spent.ts'
import { preparedFrame, usedFrame } from './turns.ts'
import { answersResults, endingOf, whyUnfit } from './unfitReplies.ts'

/** The parts of a context that are folded from the log; the rest comes from the conversation or starts afresh. */
export type FoldedContext = Pick<
  AgentContext,
  | 'seq'
  | 'runs'
  | 'turns'
  | 'isTurnOpen'
  | 'owesReply'
  | 'guardedTo'
  | 'run'
  | 'frame'
  | 'pausedRun'
  | 'pausedLimits'
  | 'givenLimits'
  | 'failedRun'
  | 'calls'
  | 'children'
  | 'reporters'
  | 'pause'
  | 'now'
  | 'heldAt'
  | 'isCompacting'
  | 'compactions'
  | 'consulting'
  | 'undoing'
> & {
  /** True if its newest records came with a file of another party, or end what was open in them: no more has begun here since. */
  readonly foreign: boolean
}

/** While it is folded, its calls are changed in place. */
type Folding = Omit<FoldedContext, 'calls'> & { readonly calls: FoldedCalls }

const noCalls = new FoldedCalls()

const empty: FoldedContext = {
  seq: 0,
  runs: 0,
  turns: 0,
  isTurnOpen: false,
  owesReply: false,
  run: null,
  frame: null,
  ...nothingPaused,
  failedRun: null,
  calls: [],
  children: 0,
  reporters: [],
  now: 0,
  heldAt: 0,
  isCompacting: false,
  compactions: 0,
  consulting: null,
  undoing: null,
  foreign: false,
}

type Fold = {
  readonly [T in LogRecord['type']]?: (context: Folding, record: RecordOf<T>) => Partial<Folding>
}

const inRun = (context: Folding, change: Partial<RunState>): Partial<Folding> =>
  context.run === null ? {} : { run: { ...context.run, ...change } }

/** Adds the usage of a record; usage between turns counts towards the run and the previous turn, as in the machine. */
function used(context: Folding, usage: Usage = noUsage, costUsd = 0): Partial<Folding> {
  const { run } = context
  if (run === null) return {}
  return inRun(context, {
    usage: addUsage(run.usage, usage),
    costUsd: run.costUsd + costUsd,
    turnUsage: addUsage(run.turnUsage, usage),
    turnCostUsd: run.turnCostUsd + costUsd,
  })
}

function spentByChild(context: Folding, { usage, costUsd, turns }: Spent): Partial<Folding> {
  const after = used(context, usage, costUsd)
  return after.run == null ? {} : { run: { ...after.run, childTurns: after.run.childTurns + turns } }
}

/** The run ends, as a guard refused a message or the answer in it. */
function refusedIn(context: Folding, refused: Refusal | undefined): Partial<Folding> {
  if (refused === undefined) return {}
  const { at, guard, reason } = refused
  return { ...inRun(context, { refusal: { at, guard, reason } }), owesReply: false }
}

/** Changes a call; once all calls have their results, the step is over. */
function withStatus({ calls, run }: Folding, callId: string, change: Partial<CallState>): Partial<Folding> {
  calls.change(callId, change)
  return calls.isOpen ? {} : { calls: noCalls, owesReply: answersResults(run) }
}

/** Returns the marks that `beforeTool` left on a call. */
function marksOf(
  { calls }: Folding,
  { callId, input, beforeTool, edited }: RecordOf<'tool.start' | 'approval.requested'>,
): Partial<CallState> {
  return {
    ...(beforeTool === undefined ? {} : { beforeTool }),
    ...(edited === undefined ? {} : { edited: calls.find(callId)?.edited ?? 'hook', input }),
  }
}

const pausedIn = (call: CallState | undefined, spent: Spent): Partial<CallState> => ({
  status: 'paused',
  counted: call?.counted === undefined ? spent : addSpent(call.counted, spent),
})

function awaiting({ calls, reporters }: Folding, callId: string): Partial<Folding> {
  const call = calls.find(callId)
  const reporter = call === undefined ? undefined : reporterOf(call)
  return reporter === undefined ? {} : { reporters: [...reporters, reporter] }
}

/**
 * Takes a queued message that holds a report off the list of awaited reports; if the report was faster than the result of its call, marks the call.
 */
function reported({ calls, reporters }: Folding, messageId: string): Partial<Folding> {
  const isIts = ({ key }: { readonly key: string }): boolean => reportId(key) === messageId
  if (reporters.some(isIts)) return { reporters: reporters.filter((one) => !isIts(one)) }
  const call = calls.all.find(isIts)
  if (call !== undefined) calls.change(call.callId, { reported: true })
  return {}
}

const resting = {
  run: null,
  calls: noCalls,
  reporters: [],
  isTurnOpen: false,
  isCompacting: false,
  consulting: null,
  undoing: null,
} as const

/** The state of an agent whose past is another party's: neither a run nor a reply that is due goes on. */
const ended = { ...resting, owesReply: false, failedRun: null, ...nothingPaused } as const

/** A fork starts idle; if a reply is due, it is as if the process had died there. */
function forked({ run, now, owesReply, pausedRun, pausedLimits, givenLimits, failedRun }: Folding): Partial<Folding> {
  // One that failed waits to be asked for again.
  if (failedRun !== null) return resting
  const owedRun = owesReply ? (run?.runId ?? pausedRun) : null
  if (owedRun === null) return { ...resting, owesReply: false, ...nothingPaused }
  const limits =
    run === null
      ? { pausedLimits, givenLimits }
      : { pausedLimits: remainingLimits(run, now), givenLimits: run.given ?? null }
  return { ...resting, pausedRun: owedRun, ...limits, pause: { type: 'interrupted' } }
}

/** Returns true if a run that ended may be continued. */
const goesOn = (stopReason: RunStopReason, owesReply: boolean): boolean =>
  stopReason === 'paused' || (stopReason === 'error' && owesReply)

const fold: Fold = {
  'agent.created': (context, { forkedFrom, parent }) =>
    forkedFrom === undefined ? {} : { ...forked(context), ...(parent === undefined ? {} : { frame: null }) },
  'run.start': ({ runs }, record) => ({
    runs: runs + 1,
    run: {
      ...newRun(record.runId, record.requestId, record.limits, record.time),
      unsaid: record.cause === 'resume' ? 0 : (record.messages ?? 1),
      ...(record.given === undefined ? {} : { given: record.given }),
    },
    ...nothingPaused,
    failedRun: null,
  }),
  'run.end': ({ run, calls, owesReply }, { stopReason, runId, reason, left = null, unfinished = [] }) => {
    for (const { callId, spent } of unfinished) calls.change(callId, pausedIn(calls.find(callId), spent))
    return {
      run: null,
      pausedLimits: left,
      givenLimits: goesOn(stopReason, owesReply) ? (run?.given ?? null) : null,
      pausedRun: stopReason === 'paused' ? runId : null,
      pause: stopReason === 'paused' ? (reason ?? null) : null,
      failedRun: stopReason === 'error' && owesReply ? runId : null,
      ...(stopReason === 'paused' || stopReason === 'error' ? {} : { owesReply: false }),
    }
  },
  'run.abandoned': () => ({ ...nothingPaused, owesReply: false, failedRun: null }),
  'turn.start': (context, { turnIndex }) => ({
    turns: turnIndex + 1,
    isTurnOpen: true,
    ...(context.frame === null ? {} : { frame: { ...context.frame, offered: null } }),
    ...inRun(context, {
      // One that continues earlier calls does not ask the model, and is not counted.
      turns: context.calls.length > 0 ? 0 : (context.run?.turns ?? 0) + 1,
      attempt: 1,
      badAnswers: 0,
      fallbacks: 0,
      turnUsage: noUsage,
      turnCostUsd: 0,
    }),
  }),
  'turn.prepared': (context, record) => ({
    frame: preparedFrame(context.frame, record),
    ...(record.limit === undefined ? {} : inRun(context, { answer: { limit: record.limit, isAsked: true } })),
  }),
  'use.changed': ({ frame }, { use }) => ({ frame: usedFrame(frame, use) }),
  'turn.end': () => ({ isTurnOpen: false }),
  'message.added': (context) => ({
    owesReply: true,
    ...inRun(context, { unsaid: Math.max(0, (context.run?.unsaid ?? 0) - 1) }),
  }),
  'reply.end': (context, record) => {
    const { agentId, turnIndex, nodeId, message, costUsd } = { agentId: agentOf(record.runId), ...record }
    const unfit = whyUnfit(message)
    const calls = toolCallsOf(message.content).map(({ callId, name, input }, index): CallState => ({
      callId,
      name,
      input,
      key: callKey(agentId, turnIndex, callId),
      nodeId: nodeId + 1 + index,
      ...unfit,
      status: 'ready',
    }))
    const spent = { ...context, ...used(context, message.usage, costUsd) }
    const ending = inRun(spent, endingOf(context.run, message))
    const after = { ...ending, calls: new FoldedCalls(calls), owesReply: calls.length > 0 }
    return { ...after, ...refusedIn({ ...context, ...after }, record.withheld) }
  },
  'reply.reset': (context, { attempt, usage, costUsd, repair, next, without }) => {
    const after = { ...context, ...used(context, usage, costUsd) }
    const badAnswers = (after.run?.badAnswers ?? 0) + (repair === undefined ? 0 : 1)
    const fallbacks = (after.run?.fallbacks ?? 0) + ((next ?? without) === undefined ? 0 : 1)
    return inRun(after, { attempt: attempt + 1, badAnswers, fallbacks })
  },
  'approval.requested': (context, record) => {
    const { callId, irreversible } = record
    const mark = irreversible === undefined ? {} : { irreversible }
    return withStatus(context, callId, { status: 'held', ...mark, ...marksOf(context, record) })
  },
  'approval.decided': ({ calls }, { callId, decision: type, reason, input }) => {
    const decision = reason === undefined ? { type } : { type, reason }
    const edit = input === undefined ? {} : ({ input, edited: 'person' } as const)
    calls.change(callId, { status: 'ready', decision, ...edit })
    return {}
  },
  // The tool is gone with its process.
  'question.asked': ({ calls }, { callId, key, question, schema, problem }) => {
    const asked = { key, question, schema, ...(problem === undefined ? {} : { problem }) }
    calls.change(callId, { status: 'asked', question: asked })
    return {}
  },
  'question.answered': ({ calls }, { callId, decision, value, reason, again }) => {
    const { question, answers = [] } = calls.find(callId) ?? {}
    const given = {
      decision,
      ...(value === undefined ? {} : { value }),
      ...(reason === undefined ? {} : { reason }),
    }
    // One that runs again had not gone on.
    const status = again === true ? 'ready' : 'running'
    calls.change(callId, { status, answers: [...answers, { question: question?.question ?? '', ...given }] })
    return {}
  },
  'call.requested': (context, { callId }) => withStatus(context, callId, { status: 'requested' }),
  'tool.start': (context, record) => {
    const { callId, key, childId, reports } = record
    const begun = withStatus(context, callId, { status: 'running', key, ...marksOf(context, record) })
    if (childId === undefined) return begun
    context.calls.change(callId, { childId, ...(reports === undefined ? {} : { reports }) })
    // One that a call goes on with is known.
    const isNew = (numberOf(agentOf(record.runId), childId) ?? 0) > context.children
    return { children: context.children + (isNew ? 1 : 0) }
  },
  'tool.end': (context, { callId, spent, message, handoff }) => ({
    ...withStatus(context, callId, { status: 'settled' }),
    ...(spent === undefined ? {} : spentByChild(context, spent)),
    ...(message.isError ? {} : awaiting(context, callId)),
    ...(handoff === undefined ? {} : inRun(context, { handoffs: (context.run?.handoffs ?? 0) + 1 })),
  }),
  'queue.changed': (context, { added }) => (added === undefined ? {} : reported(context, added.id)),
  'child.spawned': ({ children }) => ({ children: children + 1 }),
  'guard.decided': (context, { to, ...verdict }) => ({
    ...(to === undefined ? {} : { guardedTo: to }),
    ...(verdict.at === 'input' ? refusedIn(context, refusalIn([verdict])) : {}),
  }),
  'compaction.start': ({ compactions }) => ({ isCompacting: true, compactions: compactions + 1 }),
  'compaction.end': (context, { usage, costUsd }) => ({ isCompacting: false, ...used(context, usage, costUsd) }),
  'policy.start': (_, { policy, requestId }) => ({
    consulting: requestId === undefined ? { policy } : { policy, requestId },
  }),
  'policy.end': (context, { usage, costUsd }) => ({ consulting: null, ...used(context, usage, costUsd) }),
  'memory.extracted': (context, { usage, costUsd }) => used(context, usage, costUsd),
  'revert.applied': (context, { id, usage, costUsd, undo }) => ({
    ...used(context, usage, costUsd),
    ...(undo === undefined ? {} : { undoing: { id, ...undo, steps: [] } }),
  }),
  'undo.step': ({ undoing }, { call, undone, why }) => {
    const step = { call, undone, ...(why === undefined ? {} : { why }) }
    return undoing === null ? {} : { undoing: { ...undoing, steps: [...undoing.steps, step] } }
  },
  'undo.end': () => ({ undoing: null }),
}

/** Nothing is running, and the run's wall time is stopped, because its calls wait for people. */
const isHeld = ({ run, calls }: Folding): boolean => run !== null && calls.isHeld

/** Resumes the wall time, extended by as long as it was stopped. */
const released = (context: Folding, heldAt: number): Folding => {
  const deadline = context.run?.deadline ?? null
  return deadline === null
    ? context
    : { ...context, ...inRun(context, { deadline: deadline + Math.max(0, context.now - heldAt) }) }
}

const agentOf = (runId: string): string => runId.slice(0, runId.lastIndexOf('/'))

/** State folded from a log so far, as plain JSON. */
export interface KeptContext {
  readonly context: FoldedContext
  /** True if its calls wait for people. */
  readonly isHeld: boolean
}

/** The context of an agent, record by record. `kept`: the state from which it continues. */
export class ContextFold {
  #context: Folding
  #isHeld: boolean

  constructor(kept: KeptContext = { context: empty, isHeld: false }) {
    this.#context = { ...kept.context, calls: new FoldedCalls(kept.context.calls) }
    this.#isHeld = kept.isHeld
  }

  /** Sequence number of the last record. */
  get seq(): number {
    return this.#context.seq
  }

  /** A copy of the context: later records do not change it. */
  get context(): FoldedContext {
    return { ...this.#context, calls: this.#context.calls.all }
  }

  keep(): KeptContext {
    return { context: this.context, isHeld: this.#isHeld }
  }

  apply(record: LogRecord): void {
    // The messages that an agent began with were never a run of its own.
    const isHistory = 'runId' in record && isImported(record)
    const step = (isHistory ? undefined : fold[record.type]) as
      | ((context: Folding, record: LogRecord) => Partial<Folding>)
      | undefined
    const foreign = record.foreign === true || (this.#context.foreign && isEnding(record))
    const before = this.#context.foreign && !foreign ? { ...this.#context, ...ended } : this.#context
    const { heldAt } = before
    const at = { seq: record.seq, now: record.time, heldAt: record.time, foreign }
    let context = { ...before, ...step?.(before, record), ...at }
    const stillHeld = isHeld(context)
    if (this.#isHeld) context = stillHeld ? { ...context, heldAt } : released(context, heldAt)
    this.#context = context
    this.#isHeld = stillHeld
  }
}

/** Folds a log; for a fork, the past it shares with its source comes first. */
export function foldContext(records: Iterable<LogRecord>, past: Iterable<LogRecord> = []): ContextFold {
  const folding = new ContextFold()
  for (const part of [past, records]) for (const record of part) folding.apply(record)
  return folding
}

/** Folds a log into the context of its machine when the last record was written; for a fork, the past it shares with its source comes first. Pure. */
export const rebuildContext = (records: Iterable<LogRecord>, past: Iterable<LogRecord> = []): FoldedContext =>
  foldContext(records, past).context
