import { backoffDelay } from '../protocol/backoffDelay.ts'
import { errorInfo, type ErrorInfo } from '../protocol/errors.ts'
import type { Refusal } from '../protocol/guarding.ts'
import { noUsage, totalTokens, type UserSource } from '../protocol/messages.ts'
import type { QueuedMessage } from '../protocol/runs/queue.ts'
import { recordVersion as v, type PauseReason, type RecordOf, type RunStopReason } from '../protocol/records.ts'
import type { Limits } from '../protocol/runs/runLimits.ts'
import type { AgentContext, EventOfType, RunState } from './agentTypes.ts'
import type { ReplyOutput, SettleOutput } from './effectTypes.ts'
import type { RetryPolicy } from './agentPolicy.ts'
import { runIdOf, room, type Draft } from './draft.ts'
import { endTask } from './children.ts'
import { recordGuards } from './guards/guarding.ts'
import { deadlineReason, reachedLimit } from './limits.ts'
import { takeMessages } from './queues.ts'
import { spend, withCounted } from './spending.ts'
import { resetFrame } from './turns.ts'
import { endingOf } from './unfitReplies.ts'

type FailedReply = Extract<ReplyOutput, { ok: false }>

interface RunRequest {
  readonly cause: RecordOf<'run.start'>['cause']
  readonly requestId: string
  readonly limits?: Limits | undefined
  /** The first messages, if there is more than one. */
  readonly messages?: number | undefined
}

/** A run at its start. */
export const newRun = (runId: string, requestId: string, limits: Limits, now: number): RunState => ({
  runId,
  requestId,
  limits,
  unsaid: 0,
  turns: 0,
  usage: noUsage,
  costUsd: 0,
  childTurns: 0,
  deadline: limits.ms === undefined ? null : now + limits.ms,
  deadlinePassed: false,
  timers: 0,
  attempt: 0,
  retryAt: 0,
  overflowed: false,
  badAnswers: 0,
  fallbacks: 0,
  lastError: null,
  turnUsage: noUsage,
  turnCostUsd: 0,
  lastStopReason: 'stop',
  abortedBy: null,
})

/** State of an agent without a run that waits to be continued. */
export const nothingPaused = { pause: null, pausedRun: null, pausedLimits: null, givenLimits: null } as const

/** Opens a run; its user message and first turn follow. */
export function startRun(draft: Draft, request: RunRequest): void {
  const { agentId, runs, policy, pausedRun, failedRun, givenLimits, now, model } = draft.context
  const before = pausedRun ?? failedRun
  const given = request.cause === 'resume' ? (givenLimits ?? undefined) : request.limits
  const limits = { ...policy.limits, ...(request.limits ?? given) }
  const stamp = given === undefined ? {} : { given }
  const run = { ...newRun(runIdOf(agentId, runs), request.requestId, limits, now), ...stamp }
  draft.set({
    run,
    runs: runs + 1,
    ...nothingPaused,
    failedRun: null,
    resuming: null,
  })
  const resumed = request.cause === 'resume' && before !== null ? { resumedFrom: before } : {}
  draft.record({
    type: 'run.start',
    ...draft.at,
    cause: request.cause,
    requestId: request.requestId,
    ...(request.messages === undefined ? {} : { messages: request.messages }),
    ...resumed,
    limits,
    ...stamp,
    model,
  })
  armDeadline(draft)
}

/** Appends a user message to the trunk, after its context; merging is left to the renderer. */
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
  draft.set({ owesReply: true })
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

/** Opens the next turn. */
export function startTurn(draft: Draft): void {
  const { turns, run } = draft.context
  draft.set({ turns: turns + 1, isTurnOpen: true })
  draft.setRun({
    turns: run!.turns + 1,
    attempt: 1,
    badAnswers: 0,
    fallbacks: 0,
    overflowed: false,
    turnUsage: noUsage,
    turnCostUsd: 0,
  })
  draft.record({ v, seq: 0, type: 'turn.start', runId: run!.runId, turnIndex: turns, ...room })
  resetFrame(draft)
}

/** How long a run that has used up its time may take for its last answer, in milliseconds. */
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
  const { run, isTurnOpen } = draft.context
  if (run === null || !isTurnOpen) return
  const { runId, turnIndex } = draft.at
  const { turnUsage: usage, turnCostUsd: costUsd } = run
  draft.record({ v, seq: 0, type: 'turn.end', runId, turnIndex, usage, costUsd, ...room })
  draft.set({ isTurnOpen: false })
}

/** Closes the run and its turn. */
export function endRun(
  draft: Draft,
  stopReason: RunStopReason,
  why: { reason?: PauseReason; left?: Limits; error?: ErrorInfo; refusal?: Refusal } = {},
): void {
  endTurn(draft)
  const { run } = draft.context
  if (run === null) return
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
    ...countPausedCalls(draft),
  })
  if (run.deadline !== null) draft.children.push({ type: 'stop', id: 'deadline' })
  if (run.requestId === draft.context.task) endTask(draft)
  const pausedRun = stopReason === 'paused' ? run.runId : null
  const failedRun = stopReason === 'error' && draft.context.owesReply ? run.runId : null
  const givenLimits = (pausedRun ?? failedRun) === null ? null : (run.given ?? null)
  draft.set({ run: null, pausedRun, pausedLimits: why.left ?? null, failedRun, givenLimits })
}

/** Records the usage of the sub-agents of paused calls with the end of the run, because their calls have not ended yet. */
function countPausedCalls(draft: Draft): Pick<RecordOf<'run.end'>, 'unfinished'> {
  const unfinished = draft.context.calls.flatMap(({ callId, used }) =>
    used === undefined ? [] : [{ callId, spent: used }],
  )
  if (unfinished.length === 0) return {}
  const calls = draft.context.calls.map(({ used, ...call }) => (used === undefined ? call : withCounted(call, used)))
  draft.set({ calls })
  return { unfinished }
}

/** Ends the run so that `resume` can continue from here. */
export function pauseRun(draft: Draft, reason: PauseReason, cutOff: { left?: Limits } = {}): void {
  const error = reason.type === 'store' ? { error: reason.error } : {}
  endRun(draft, 'paused', { reason, ...cutOff, ...error })
  draft.set({ pause: reason })
}

/** Pauses the run because the store accepts no records: nothing more is started until `resume`. */
export const pauseForStore = (draft: Draft): void =>
  pauseRun(draft, { type: 'store', error: draft.context.storeError! })

/** Pauses a run that has used up its wall time. */
export const pauseForDeadline = (draft: Draft): void => pauseRun(draft, deadlineReason(draft.context.run!))

/** Discards an answer that does not match; the next request tells the model its fault. */
export function askForRepair(draft: Draft, output: FailedReply): void {
  const { repair } = output.failure
  resetReply(draft, output, repair === undefined ? {} : { repair })
  draft.setRun({ badAnswers: (draft.context.run?.badAnswers ?? 0) + 1 })
}

/** Asks again at once, without the part that the provider refused. */
export const askWithout = (draft: Draft, output: FailedReply): void =>
  askAnew(draft, output, { without: output.failure.without! })

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

/** How often the current reply failed so that it is asked for again later. */
export const failuresOf = ({ attempt, badAnswers, fallbacks }: RunState): number => attempt - badAnswers - fallbacks

/** Records that a model failed and another one answers at once. */
export const replaceReply = (draft: Draft, { failure, next }: EventOfType<'reply.replaced'>): void =>
  askAnew(draft, { failure }, { next })

function askAnew(draft: Draft, output: Pick<FailedReply, 'failure' | 'guards'>, again: Again): void {
  resetReply(draft, output, again)
  draft.setRun({ fallbacks: (draft.context.run?.fallbacks ?? 0) + 1 })
  nextAttempt(draft)
}

/** Queues the continuation of the run that failed, until everything else at rest is done. */
export const askToGoOn = (draft: Draft, { id, limits }: EventOfType<'resume'>): void =>
  draft.set({ resuming: limits === undefined ? { id } : { id, limits } })

/** Continues the run that failed: its messages are on the trunk, and so are the steps made since. */
export function resumeFailed(draft: Draft): void {
  const { id: requestId, limits } = draft.context.resuming!
  startRun(draft, { cause: 'resume', requestId, limits })
}

/** Gives up a continuation before it has begun: the end of a run answers the command. */
export function dropResuming(draft: Draft): void {
  if (draft.context.resuming === null) return
  resumeFailed(draft)
  endRun(draft, 'aborted')
  draft.set({ owesReply: false })
}

/** Ends the run with an error. */
export const failRunWith = (draft: Draft, error: ErrorInfo): void => endRun(draft, 'error', { error })

/** Ends a run that has nothing left to answer; one that answered because of a limit says which. */
export function finishRun(draft: Draft): void {
  const { run } = draft.context
  endRun(draft, run?.lastStopReason ?? 'stop', run?.answer === undefined ? {} : { reason: run.answer.limit })
}

/** Starts the next attempt at the same reply. */
export const nextAttempt = (draft: Draft): void => draft.setRun({ attempt: (draft.context.run?.attempt ?? 0) + 1 })

/** Records a finished reply. Without calls it moves the head; with calls the step stays open until their results are in. */
export function addReply(draft: Draft, output: Extract<ReplyOutput, { ok: true }>): void {
  if (output.guards !== undefined) recordGuards(draft, output.guards)
  const { head } = draft.context
  spend(draft, output.message.usage, output.costUsd)
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
    ...room,
  } as const
  if (withheld !== undefined) draft.record({ ...said, withheld })
  else draft.record(answer === undefined ? said : { ...said, answer })
  const isOpen = output.calls.length > 0
  draft.set({ owesReply: isOpen, contextTokens: output.contextTokens })
  if (isOpen) draft.set({ head })
  if (output.foldAt !== undefined) draft.set({ foldAt: output.foldAt })
  draft.setRun(endingOf(draft.context.run, output.message))
}

/** Keeps the part of an aborted reply that had arrived. */
export function addPartialReply(draft: Draft, partial: SettleOutput['partial']): void {
  if (partial === null || !draft.context.isTurnOpen) return
  spend(draft, partial.usage, partial.costUsd)
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

/** Records that an attempt failed; another follows at `retryAt`, or at once with `repair`, which is shown to the model, or of the model `next`. */
type Again = Partial<Pick<RecordOf<'reply.reset'>, 'retryAt' | 'repair' | 'next' | 'without'>>

export function resetReply(
  draft: Draft,
  output: Pick<FailedReply, 'failure' | 'guards'>,
  { retryAt, ...again }: Again = {},
): void {
  if (output.guards !== undefined) recordGuards(draft, output.guards)
  const { error, usage, costUsd } = output.failure
  if (usage !== undefined) spend(draft, usage, costUsd ?? 0)
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

/** Discards a reply interrupted by a pause: `resume` requests it again. */
export function discardReply(draft: Draft, why: string): void {
  const error = errorInfo('REPLY_INTERRUPTED', why)
  draft.record({ type: 'reply.reset', ...draft.at, attempt: draft.context.run?.attempt ?? 1, error })
}

/** When the next attempt may start: after a doubling wait with jitter, and no sooner than the provider asked. */
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

/** Starts the run's wall-time timer, if there is such a limit. */
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
