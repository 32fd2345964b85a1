import { addUsage, noUsage, toolCallsOf } from '../protocol/messages.ts'
import type { LogRecord, RecordOf } from '../protocol/records.ts'
import type { AgentContext, CallState, RunState } from './agentTypes.ts'
import { callKey } from './calls.ts'
import { newRun } from './runs.ts'

/** The parts of a context that are folded from the log; the rest is the conversation's or starts anew. */
export type FoldedContext = Pick<
  AgentContext,
  | 'seq'
  | 'runs'
  | 'turns'
  | 'isTurnOpen'
  | 'owesReply'
  | 'run'
  | 'pausedRun'
  | 'calls'
  | 'pause'
  | 'now'
  | 'isCompacting'
  | 'compactions'
>

const empty: FoldedContext = {
  seq: 0,
  runs: 0,
  turns: 0,
  isTurnOpen: false,
  owesReply: false,
  run: null,
  pausedRun: null,
  calls: [],
  pause: null,
  now: 0,
  isCompacting: false,
  compactions: 0,
}

type Fold = {
  readonly [T in LogRecord['type']]?: (context: FoldedContext, record: RecordOf<T>) => Partial<FoldedContext>
}

const inRun = (context: FoldedContext, change: Partial<RunState>): Partial<FoldedContext> =>
  context.run === null ? {} : { run: { ...context.run, ...change } }

const withStatus = (
  context: FoldedContext,
  callId: string,
  status: CallState['status'],
  key?: string,
): Partial<FoldedContext> => {
  const calls = context.calls.map((call) => (call.callId === callId ? { ...call, status, key: key ?? call.key } : call))
  return calls.every((call) => call.status === 'settled') ? { calls: [], owesReply: true } : { calls }
}

const fold: Fold = {
  'run.start': ({ runs, now }, record) => ({
    runs: runs + 1,
    run: newRun(record.loopId, record.requestId, record.limits, now),
    pausedRun: null,
    pause: null,
  }),
  'run.end': (_, { stopReason, loopId, reason }) => ({
    run: null,
    pausedRun: stopReason === 'paused' ? loopId : null,
    pause: reason ?? null,
    ...(stopReason === 'paused' ? {} : { owesReply: false }),
  }),
  'turn.start': (context, { turnIndex }) => ({
    turns: turnIndex + 1,
    isTurnOpen: true,
    ...inRun(context, { turns: (context.run?.turns ?? 0) + 1, attempt: 1 }),
  }),
  'turn.end': () => ({ isTurnOpen: false }),
  'message.added': () => ({ owesReply: true }),
  'reply.end': (context, record) => {
    const { agentId, turnIndex, nodeId, message, costUsd } = { agentId: agentOf(record.loopId), ...record }
    const calls = toolCallsOf(message.content).map(({ callId, name, input }, index): CallState => ({
      callId,
      name,
      input,
      key: callKey(agentId, turnIndex, callId),
      nodeId: nodeId + 1 + index,
      status: 'ready',
    }))
    const run = context.run
    const spent = run === null ? {} : { usage: addUsage(run.usage, message.usage), costUsd: run.costUsd + costUsd }
    return { calls, owesReply: calls.length > 0, ...inRun(context, spent) }
  },
  'reply.reset': (context, { attempt, usage }) =>
    inRun(context, { attempt: attempt + 1, usage: addUsage(context.run?.usage ?? noUsage, usage ?? noUsage) }),
  'approval.requested': (context, { callId }) => withStatus(context, callId, 'held'),
  'approval.decided': (context, { callId }) => withStatus(context, callId, 'ready'),
  'tool.start': (context, { callId, key }) => withStatus(context, callId, 'running', key),
  'tool.end': (context, { callId }) => withStatus(context, callId, 'settled'),
  'compaction.start': ({ compactions }) => ({ isCompacting: true, compactions: compactions + 1 }),
  'compaction.end': () => ({ isCompacting: false }),
}

const agentOf = (loopId: string): string => loopId.slice(0, loopId.lastIndexOf('/'))

/** Folds a log into what its machine knew when the last record was written. Pure. */
export function rebuildContext(records: Iterable<LogRecord>): FoldedContext {
  let context = empty
  for (const record of records) {
    const step = fold[record.type] as
      | ((context: FoldedContext, record: LogRecord) => Partial<FoldedContext>)
      | undefined
    context = { ...context, seq: record.seq, now: record.time }
    if (step !== undefined) context = { ...context, ...step(context, record) }
  }
  return context
}
