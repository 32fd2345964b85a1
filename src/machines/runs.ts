import { backoffDelay } from '../protocol/backoffDelay.ts'
import { errorInfo, type ErrorInfo } from '../protocol/errors.ts'
import type { Refusal, GuardVerdict } from '../protocol/guarding.ts'
import { totalTokens, type UserSource } from '../protocol/messages.ts'
import type { QueuedMessage } from '../protocol/runs/queue.ts'
import { recordVersion as v, type PauseReason, type RecordOf, type RunStopReason } from '../protocol/records.ts'
import type { Limits } from '../protocol/runs/runLimits.ts'
import type { AgentContext, EventOfType, RunState } from './agentTypes.ts'
import type { ReplyOutput, SettleOutput } from './effectTypes.ts'
import type { RetryPolicy } from './agentPolicy.ts'
import { runIdOf, room, type Draft } from './draft.ts'
import { endTask } from './children.ts'
import { deadlineReason, reachedLimit } from './limits.ts'
import { takeMessages } from './queues.ts'
import { spentRun, untold } from './spending.ts'
import { prepareTurn } from './turns.ts'
import type { NodeId } from '../protocol/ids.ts'

type FailedReply = Extract<ReplyOutput, { ok: false }>

interface RunRequest {
  readonly cause: RecordOf<'run.start'>['cause']
  readonly requestId: string
  readonly limits?: Limits | undefined
  /** Number of first messages, if there is more than one. */
  readonly messages?: number | undefined
}

/** Opens a run; its user message and first turn follow. */
export function startRun(draft: Draft, request: RunRequest): void {
  const { agentId, runs, policy, pausedRun, failedRun, givenLimits, model } = draft.context
  const before = pausedRun ?? failedRun
  const given = request.cause === 'resume' ? (givenLimits ?? undefined) : request.limits
  const limits = { ...policy.limits, ...(request.limits ?? given) }
  const stamp = given === undefined ? {} : { given }
  const resumed = request.cause === 'resume' && before !== null ? { resumedFrom: before } : {}
  draft.record({
    type: 'run.start',
    runId: runIdOf(agentId, runs),
    turnIndex: draft.at.turnIndex,
    cause: request.cause,
    requestId: request.requestId,
    ...(request.messages === undefined ? {} : { messages: request.messages }),
    ...resumed,
    limits,
    ...stamp,
    model,
  })
  draft.set({ resuming: null })
  armDeadline(draft)
}

/** Appends a user message to the trunk, after its context messages. Merging is left to the renderer. */
export function addUserMessage(draft: Draft, said: QueuedMessage, source: UserSource): void {
  for (const { content, provenance } of [...(said.context ?? []), said]) {
    const stamp = provenance === undefined ? {} : { provenance }
    draft.record({
      type: 'message.added',
      ...draft.at,
      ...draft.place(),
      message: { role: 'user', content, source, ...stamp },
    })
  }
}

/** Closes the current turn and opens the next, after delivering messages that arrived meanwhile. */
export function continueRun(draft: Draft): void {
  endTurn(draft)
  const { owesReply, steering } = draft.context
  if (!owesReply && steering.length === 0) {
    takeMessages(draft, 'followUps', (message) => addUserMessage(draft, message, 'followUp'))
  }
  takeMessages(draft, 'steering', (message) => addUserMessage(draft, message, 'steering'))
  startTurn(draft)
}

/** Opens the next turn, and records its parameters (the values in use) if they are already known. */
export function startTurn(draft: Draft): void {
  const { turns, run, frame, policy } = draft.context
  draft.record({ v, seq: 0, type: 'turn.start', runId: run!.runId, turnIndex: turns, ...room })
  if (run!.overflowed) draft.setRun({ overflowed: false })
  // Otherwise code is asked first.
  if (policy.flags.turns !== true && (frame?.use != null || run!.answer !== undefined)) prepareTurn(draft)
}

/** Time that a run without wall time left may take for its last answer, in milliseconds. */
const answerMs = 60_000

/** Opens the last turn of a run that has reached a limit. */
export function beginAnswer(draft: Draft): void {
  const { run, now } = draft.context
  draft.setRun({ answer: { limit: reachedLimit(run!)!, isAsked: true } })
  if (run!.deadlinePassed) {
    draft.setRun({ deadline: now + answerMs, deadlinePassed: false, timers: run!.timers + 1 })
    draft.children.push({ type: 'stop', id: 'deadline' })
    armDeadline(draft)
  }
  continueRun(draft)
}

/** Closes the current turn, if there is one. */
export function endTurn(draft: Draft): void {
  const run = spentRun(draft.context)
  if (run === null || !draft.context.isTurnOpen) return
  const { runId, turnIndex } = draft.at
  const { turnUsage: usage, turnCostUsd: costUsd } = run
  draft.record({ v, seq: 0, type: 'turn.end', runId, turnIndex, usage, costUsd, ...room })
}

/** Closes the run and its turn. */
export function endRun(
  draft: Draft,
  stopReason: RunStopReason,
  why: {
    reason?: PauseReason
    left?: Limits
    error?: ErrorInfo
    refusal?: Refusal
    endedBy?: NonNullable<RecordOf<'run.end'>['endedBy']>
  } = {},
): void {
  endTurn(draft)
  const run = spentRun(draft.context)
  if (run === null) return
  // Their calls have not ended yet.
  const unfinished = draft.context.calls.flatMap((call) => {
    const spent = untold(call)
    return spent === undefined ? [] : [{ callId: call.callId, spent }]
  })
  draft.record({
    type: 'run.end',
    runId: run.runId,
    turnIndex: Math.max(0, draft.context.turns - 1),
    stopReason,
    ...(run.abortedBy === null || stopReason !== 'aborted' ? {} : { requestId: run.abortedBy }),
    turns: run.turns,
    ...(run.childTurns === 0 ? {} : { childTurns: run.childTurns }),
    usage: run.usage,
    costUsd: run.costUsd,
    ...why,
    ...(unfinished.length === 0 ? {} : { unfinished }),
  })
  if (run.deadline !== null) draft.children.push({ type: 'stop', id: 'deadline' })
  if (run.requestId === draft.context.task) endTask(draft)
}

/** Ends the run so that `resume` can continue it from here. */
export function pauseRun(draft: Draft, reason: PauseReason, cutOff: { left?: Limits } = {}): void {
  const error = reason.type === 'store' ? { error: reason.error } : {}
  endRun(draft, 'paused', { reason, ...cutOff, ...error })
}

/** Pauses the run, or the agent at rest, because the store accepts no records. Nothing more starts until `resume`. */
export function pauseForStore(draft: Draft): void {
  const pause = { type: 'store', error: draft.context.storeError! } as const
  pauseRun(draft, pause)
  draft.setPause(pause)
}

/** Pauses a run that has used up its wall time. */
export const pauseForDeadline = (draft: Draft): void => pauseRun(draft, deadlineReason(draft.context.run!))

/** Discards an answer that does not match. The next request tells the model what is wrong. */
export function askForRepair(draft: Draft, output: FailedReply): void {
  const { repair } = output.failure
  resetReply(draft, output, repair === undefined ? {} : { repair })
}

/** Asks again at once, without the part that the provider refused. */
export const askWithout = (draft: Draft, output: FailedReply): void =>
  resetReply(draft, output, { without: output.failure.without! })

/** Pauses a run whose next request would exceed a sub-agent's limit. */
export function pauseForBudget(draft: Draft, limit: 'tokens' | 'costUsd'): void {
  const { limits, usage, costUsd } = draft.context.run!
  const used = limit === 'tokens' ? totalTokens(usage) : costUsd
  pauseRun(draft, { type: 'limit', limit, allowed: limits[limit] ?? 0, used })
}

/** Ends the run with the error of its last attempt. */
export function failRun(draft: Draft): void {
  const error = draft.context.run?.lastError
  endRun(draft, 'error', error == null ? {} : { error })
}

/** Returns the number of failures of the current reply that led to a later retry. */
export const failuresOf = ({ attempt, badAnswers, fallbacks }: RunState): number => attempt - badAnswers - fallbacks

/** Records that a model failed and another one answers at once. */
export const replaceReply = (draft: Draft, { failure, next }: EventOfType<'reply.replaced'>): void =>
  resetReply(draft, { failure }, { next })

/** Queues the continuation of the run that failed, until everything else at rest is done. */
export const askToGoOn = (draft: Draft, { id, limits }: EventOfType<'resume'>): void =>
  draft.set({ resuming: limits === undefined ? { id } : { id, limits } })

/** Continues the run that failed. Its messages and the steps made since are on the trunk. */
export function resumeFailed(draft: Draft): void {
  const { id: requestId, limits } = draft.context.resuming!
  startRun(draft, { cause: 'resume', requestId, limits })
}

/** Gives up a continuation before it has begun. The end of a run answers the command. */
export function dropResuming(draft: Draft): void {
  if (draft.context.resuming === null) return
  resumeFailed(draft)
  endRun(draft, 'aborted')
}

/** Ends the run with an error. */
export const failRunWith = (draft: Draft, error: ErrorInfo): void => endRun(draft, 'error', { error })

/** Ends a run that has nothing left to answer, and records the limit that it answered for or the call that ended it, if any. */
export function finishRun(draft: Draft): void {
  const { run, endedBy } = draft.context
  endRun(draft, run?.lastStopReason ?? 'stop', {
    ...(run?.answer === undefined ? {} : { reason: run.answer.limit }),
    ...(endedBy === null ? {} : { endedBy }),
  })
}

/** Records a finished reply. Without calls it moves the head; with calls the step stays open until their results are in. */
export function addReply(draft: Draft, output: Extract<ReplyOutput, { ok: true }>): void {
  if (output.guards !== undefined) recordGuards(draft, output.guards)
  const { head } = draft.context
  const { runId, turnIndex } = draft.at
  const { nodeId, parentId } = draft.place()
  const { message, costUsd, estimatedTokens, withheld, answer } = output
  const type = 'reply.end'
  const said = {
    v,
    seq: 0,
    type,
    runId,
    turnIndex,
    nodeId,
    parentId,
    message,
    costUsd,
    estimatedTokens,
    ...output.rates,
    ...room,
  } as const
  if (withheld !== undefined) draft.record({ ...said, withheld })
  else draft.record(answer === undefined ? said : { ...said, answer })
  draft.set({ contextTokens: output.contextTokens })
  if (output.calls.length > 0) draft.set({ head })
  if (output.foldAt !== undefined) draft.set({ foldAt: output.foldAt })
}

/** Keeps the part of an aborted reply that had arrived. */
export function addPartialReply(draft: Draft, partial: SettleOutput['partial']): void {
  if (partial === null || !draft.context.isTurnOpen) return
  draft.record({
    type: 'reply.end',
    ...draft.at,
    ...draft.place(),
    message: {
      role: 'assistant',
      content: partial.content,
      stopReason: 'aborted',
      usage: partial.usage,
      model: partial.model ?? draft.context.model.id,
    },
    costUsd: partial.costUsd,
    estimatedTokens: 0,
  })
}

/** Next attempt after a failed one: at `retryAt`, at once with `repair` (shown to the model), by the model `next`, or `without` a part. */
type Again = Partial<Pick<RecordOf<'reply.reset'>, 'retryAt' | 'repair' | 'next' | 'without'>>

export function resetReply(
  draft: Draft,
  output: Pick<FailedReply, 'failure' | 'guards'>,
  { retryAt, ...again }: Again = {},
): void {
  if (output.guards !== undefined) recordGuards(draft, output.guards)
  const { error, usage, costUsd } = output.failure
  const attempt = draft.context.run?.attempt ?? 1
  draft.record({
    type: 'reply.reset',
    ...draft.at,
    attempt,
    error,
    ...(usage === undefined ? {} : { usage }),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...again,
    ...(retryAt === undefined ? {} : { retryAt }),
  })
  draft.setRun({ lastError: error, ...(retryAt === undefined ? {} : { retryAt }) })
}

/** Discards a reply interrupted by a pause. `resume` requests it again. */
export function discardReply(draft: Draft, why: string): void {
  const error = errorInfo('REPLY_INTERRUPTED', why)
  draft.record({ type: 'reply.reset', ...draft.at, attempt: draft.context.run?.attempt ?? 1, error })
}

/** Returns the earliest time of the next attempt: after a doubling wait with jitter, and no sooner than the provider asked. */
export function retryTime(policy: RetryPolicy, attempt: number, output: FailedReply): number {
  return (
    output.at + Math.round(Math.max(output.failure.retryAfterMs ?? 0, backoffDelay(attempt - 1, policy, output.jitter)))
  )
}

/** Key of the current reply; only a result with this key counts. */
export const replyKey = (context: AgentContext): string =>
  `${context.agentId}/t${context.turns - 1}/reply/${context.run?.attempt ?? 0}`

/** Key of the current wall-time timer. */
export const deadlineKey = (run: RunState): string => `${run.runId}/deadline/${run.timers}`

/** Starts the run's wall-time timer, if the run has such a limit. */
function armDeadline(draft: Draft): void {
  const { run } = draft.context
  if (run === null || run.deadline === null || run.deadlinePassed) return
  draft.children.push({
    type: 'start',
    src: 'sleep',
    id: 'deadline',
    input: { key: deadlineKey(run), until: run.deadline },
  })
}

/** Stops the wall time while waiting for people. */
export function holdDeadline(draft: Draft): void {
  draft.set({ heldAt: draft.context.now })
  draft.setRun({ timers: (draft.context.run?.timers ?? 0) + 1 })
  if (draft.context.run?.deadline != null) draft.children.push({ type: 'stop', id: 'deadline' })
}

/** Resumes the wall time, extended by as long as it was stopped. */
export function releaseDeadline(draft: Draft): void {
  const { run, heldAt, now } = draft.context
  if (run === null || run.deadline === null || run.deadlinePassed) return
  draft.setRun({ deadline: run.deadline + Math.max(0, now - heldAt) })
  armDeadline(draft)
}

/** Returns the node up to which the input guards have checked messages; empty without input guards. */
export const guardInput = ({ policy, guardedTo = 0 }: AgentContext): { guardedTo?: NodeId } =>
  policy.flags.inputGuards === true ? { guardedTo } : nothing

const nothing = {}

/** Records the verdicts of guards reached while a reply was made. */
export function recordGuards(draft: Draft, verdicts: readonly GuardVerdict[]): void {
  for (const verdict of verdicts) draft.record({ type: 'guard.decided', ...draft.at, ...verdict })
}
