import { cacheLifetimes } from '../protocol/cacheLifetimes.ts'
import { askedKinds } from '../protocol/brakes/brakeTable.ts'
import { refusalIn } from '../protocol/guarding.ts'
import type { PauseReason } from '../protocol/records.ts'
import { isWait } from '../protocol/runs/waits.ts'
import { settleKey } from './aborts.ts'
import { drainKey, foldKey, isAsked } from './brakes.ts'
import { askedSoFar, consultKey } from './policies.ts'
import { isOwing } from './schedules.ts'
import { spentRun } from './spending.ts'
import { stallKey } from './stalls.ts'
import { undoKey } from './undoing.ts'
import { compactionKey } from './compaction.ts'
import { waitsFor } from './callFacts.ts'
import { callsSettled as settled, heldCalls, isCalling, pausedCalls } from './calls.ts'
import { limitAfter, mayAnswer, reachedLimit } from './limits.ts'
import { failuresOf, replyKey } from './runs.ts'
import { prepareKey } from './turns.ts'
import type { CompactOutput, StallCheck } from './drainTypes.ts'
import type { AgentContext, AgentMachineEvent, CallState } from './agentTypes.ts'
import type { CallOutput, PrepareOutput, ReplyOutput } from './effectTypes.ts'

interface Subject {
  readonly context: AgentContext
  readonly event: AgentMachineEvent
}

/** Returns the output of a reply's done event, which XState types only at the `invoke`. Guards on a finished reply run only for that event. */
const outputOf = ({ event }: Subject): ReplyOutput => (event as unknown as { output: ReplyOutput }).output

/** True if a requested revert may be drained: the revert flag is set, or a person asked. */
export const revertEnabled = ({ context }: Subject): boolean => isAsked(context, 'revert')
export const pruneEnabled = ({ context }: Subject): boolean => isAsked(context, 'prune')
/**
 * True if a fold may be due: the request may have outgrown `foldAt`, or the provider's cache may be lost. Only with the fold flag.
 */
export const foldEnabled = ({ context }: Subject): boolean =>
  context.policy.flags.fold &&
  context.run !== null &&
  context.foldAt !== null &&
  (context.contextTokens > context.foldAt || isCold(context, context.now))
/** True if a message begins a run after a pause that the provider's cache may not have outlasted. Only with the fold flag. */
export const beginsCold = (subject: Subject): boolean => {
  const { context, event } = subject
  return context.policy.flags.fold && 'at' in event && isCold(context, event.at) && mayBegin(subject)
}
const isCold = ({ repliedAt }: AgentContext, now: number): boolean =>
  repliedAt !== null && now - repliedAt >= cacheLifetimes['5m']
/** True if a person asked for a compaction. */
export const compactRequested = ({ context }: Subject): boolean => context.compactRequests.length > 0
/** True if a person has sent a message into the run, which is delivered next. */
export const isSteered = ({ context }: Pick<Subject, 'context'>): boolean => context.steering.length > 0
/** True if the newest step may complete a loop and no message waits. Only with the stall flag. */
export const stallEnabled = ({ context }: Subject): boolean =>
  context.policy.flags.stall && context.run !== null && context.owesReply && !isSteered({ context })
/** True if the stall check asks for a pause. A failing store takes precedence, because it could not take the records. */
export const stallPauses = ({ context, event }: Subject): boolean =>
  context.storeError === null && (event as unknown as { output: StallCheck }).output.stall?.rung === 'pause'
/** True if a policy was requested, or was not yet asked since the turn ended or the agent came to rest. Only with policies. */
export const consultEnabled = (subject: Subject): boolean =>
  subject.context.policy.flags.policies &&
  (subject.context.run !== null || mayBegin(subject)) &&
  (policyRequested(subject) || isPolicyLeft(subject.context))
function isPolicyLeft(context: AgentContext): boolean {
  const { run, turns, prompts, policy } = context
  const { names, atRest } = policy.policies
  // A run that has used up what it may is not to pay for more.
  const mayAsk = run === null ? atRest && turns > 0 && prompts.length === 0 : reachedLimit(run) === undefined
  return mayAsk && askedSoFar(context) < names.length
}
/** True if a message came for an agent at rest, so that a consultation that was not requested gives way. */
export const outrunsConsultation = ({ context }: Subject): boolean =>
  context.run === null && (context.prompts.length > 0 || context.resuming !== null) && context.drained.length === 0
export const isCurrentConsultation = ({ context, event }: Subject): boolean =>
  event.type === 'policy.fired' && event.key === consultKey(context)
/** True if a graft of abandoned steps was requested. */
export const graftRequested = ({ context }: Subject): boolean => isAsked(context, 'graft')
/** True if an applied revert has something left to undo, perhaps since before a crash. */
export const undoPending = ({ context }: Subject): boolean => context.undoing !== null
export const pinRequested = ({ context }: Subject): boolean => isAsked(context, 'pin')
const policyRequested = ({ context }: Subject): boolean =>
  context.policy.flags.policies && (context.policyRequests?.length ?? 0) > 0
/** True if a person requested a change of the trunk while the agent was idle. */
export const changeRequested = (subject: Subject): boolean =>
  mayBegin(subject) &&
  (undoPending(subject) ||
    askedKinds.some((kind) => isAsked(subject.context, kind)) ||
    compactRequested(subject) ||
    policyRequested(subject))

/** Returns true if the trunk leaves too little headroom and has grown since the last attempt to compact it. */
export function lowHeadroom({ context }: Subject): boolean {
  const { flags, compaction } = context.policy
  if (!flags.compact || context.run === null || context.contextTokens <= compaction.trigger) return false
  return context.compactedAt === 0 || context.contextTokens > context.compactedAt + compaction.regrowth
}

export const storeBroken = ({ context }: Subject): boolean => context.storeError !== null
/** True if the model has something to answer, or people have sent more messages. */
export const mustReply = ({ context }: Subject): boolean =>
  context.run !== null && (context.owesReply || context.steering.length > 0 || context.followUps.length > 0)

export const overLimit = (subject: Subject): boolean => {
  const { run } = subject.context
  return run !== null && mustReply(subject) && reachedLimit(run) !== undefined
}
/** True if the run is to answer with the results so far instead of pausing. */
export const answersAtLimit = (subject: Subject): boolean => {
  const { run } = subject.context
  return run !== null && mayAnswer(run) && overLimit(subject)
}
export const answersAtDeadline = (subject: Subject): boolean =>
  deadlinePassed(subject) && mayAnswer(subject.context.run!)
export const deadlinePassed = ({ context }: Subject): boolean => context.run?.deadlinePassed === true
/** True if the agent is paused, for example because its log ended with a pause. */
export const isPaused = ({ context }: Subject): boolean => context.pause !== null
/** True if something new may start: the agent is awake and was not asked to end. */
export const mayBegin = ({ context }: Subject): boolean => !context.isAsleep && context.ending === null
export const hasPrompts = (subject: Subject): boolean => subject.context.prompts.length > 0 && mayBegin(subject)

/** True if this is the only result still missing, so that it completes the step. */
export const isLastCall = ({ context, event }: Subject): boolean => {
  const { output } = event as unknown as { output?: CallOutput | null }
  if (output == null || output.notStarted !== undefined || output.isOverAllowance === true) return false
  const { key } = output
  const isOther = ({ status, key: its }: CallState): boolean =>
    status !== 'settled' && (status !== 'running' || its !== key)
  // From the back: they end about as they were begun, and a reply may make hundreds.
  return context.calls.findLast(isOther) === undefined
}

export const callsSettled = ({ context }: Subject): boolean => settled(context)
/** True if nothing is running, and some calls wait for people. */
export const onlyHeldCalls = ({ context }: Subject): boolean => !isCalling(context) && heldCalls(context).length > 0
/** True if nothing is running, and the rest are sub-agents that have reached the run's limit. */
export const onlyPausedCalls = ({ context }: Subject): boolean =>
  !isCalling(context) && pausedCalls(context).length > 0 && reachedLimit(spentRun(context)!) !== undefined
/** True if nothing is running, and the store does not accept records. */
export const stalledByStore = ({ context }: Subject): boolean => context.storeError !== null && !isCalling(context)

/** True if a run is in progress, so that there is something to abort. */
export const isRunning = ({ context }: Subject): boolean => context.run !== null
/** True if the run in progress is the one to be withdrawn. */
export const isWithdrawn = ({ context, event }: Subject): boolean =>
  event.type === 'withdraw' && context.run?.requestId === event.id
export const interruptsRun = ({ context, event }: Subject): boolean =>
  event.type === 'prompt' && event.interrupt === true && context.run !== null
/** True if code decides the parameters of a turn. Only with the `turns` flag. */
const preparesTurns = ({ context }: Subject): boolean => context.policy.flags.turns === true
export const beginsPrepared = (subject: Subject): boolean => preparesTurns(subject) && mayBegin(subject)
export const queuedPrepared = (subject: Subject): boolean => preparesTurns(subject) && hasPrompts(subject)
export const repliesPrepared = (subject: Subject): boolean => preparesTurns(subject) && mustReply(subject)
export const answersPrepared = (subject: Subject): boolean => preparesTurns(subject) && answersAtLimit(subject)
export const prepared = ({ event }: Subject): boolean => (event as unknown as { output: PrepareOutput }).output.ok

/** True if no run is in progress or paused. */
export const isAtRest = ({ context }: Subject): boolean =>
  context.run === null && (context.pause === null || isHeldBack({ context }))
export const isEnding = (subject: Subject): boolean => subject.context.ending !== null && !hasChildren(subject)
export const hasChildren = ({ context }: Subject): boolean => context.attached.length > 0

/** True if a sub-agent's task is done and it has no further messages. */
export const isTaskDone = ({ context }: Subject): boolean =>
  context.isTaskOver && context.prompts.length === 0 && context.attached.length === 0

export const decidesHeldCall = ({ context, event }: Subject): boolean =>
  event.type === 'decide' && context.run !== null && context.calls.some((call) => waitsFor(call, event.callId))
/** True if calls wait for people or for a time. */
export const pausedByApprovals = ({ context }: Subject): boolean => context.pause !== null && isWait(context.pause)
/** True if the time of a sleeping call has come. */
export const wakesCall = ({ context, event }: Subject): boolean =>
  event.type === 'timer' &&
  context.run !== null &&
  context.calls.some(({ status, key }) => status === 'sleeping' && event.keys.includes(key))
export const pausedByStore = ({ context }: Subject): boolean =>
  context.pause?.type === 'store' && context.storeError !== null
/** True if the agent is idle, with something waiting that must not start before `resume`. */
const isHeldBack = ({ context }: Pick<Subject, 'context'>): boolean =>
  context.pause?.type === 'interrupted' && context.pausedRun === null
const betweenTurns: ReadonlySet<PauseReason['type'] | undefined> = new Set(['limit', 'stall', 'interrupted'])
export const pausedBetweenTurns = ({ context }: Subject): boolean => betweenTurns.has(context.pause?.type)
/** True if a new message may replace the paused run. Not while a call waits for people, because the call has not been refused. */
export const mayLeaveRun = (subject: Subject): boolean =>
  pausedBetweenTurns(subject) && heldCalls(subject.context).length === 0
/** True if a schedule is due after a limit or a stall ended the run. The run then gives way, as it would to a message. */
export const scheduleLeavesRun = (subject: Subject): boolean => {
  const { context, event } = subject
  if (event.type !== 'schedules' || context.pause?.type === 'interrupted' || !mayLeaveRun(subject)) return false
  return event.firings.some(({ isSkipped }) => !isSkipped) || isOwing(context)
}
export const mayResumeCalls = (subject: Subject): boolean => mayResumeRun(subject) && subject.context.calls.length > 0
export const mayResumeRun = ({ context }: Subject): boolean =>
  !pausedByApprovals({ context } as Subject) && context.pausedRun !== null
/** True if the last run failed, no other has begun since, and no command to continue it waits. */
export const mayResumeFailed = ({
  context,
}: {
  readonly context: Pick<AgentContext, 'run' | 'pause' | 'failedRun' | 'resuming' | 'ending'>
}): boolean =>
  context.run === null &&
  context.pause === null &&
  context.failedRun !== null &&
  context.resuming === null &&
  context.ending === null
/** True if a person asked to continue a run that failed. */
export const resumesFailed = (subject: Subject): boolean => subject.context.resuming !== null && mayBegin(subject)
export const mayResumeIdle = (subject: Subject): boolean =>
  subject.context.pause?.type === 'store' || isHeldBack(subject)

export const isCurrentReply = ({ context, event }: Subject): boolean =>
  (event.type === 'reply.started' || event.type === 'reply.replaced' || event.type === 'request.captured') &&
  event.key === replyKey(context)

type Keyed = { readonly output?: { readonly key?: string } | null }
const keyOf = ({ event }: Subject): string | undefined => (event as unknown as Keyed).output?.key

export const isStalePreparation = (subject: Subject): boolean => keyOf(subject) !== prepareKey(subject.context)
export const isStaleWake = (subject: Subject): boolean => keyOf(subject) !== replyKey(subject.context)
export const isStaleCompaction = (subject: Subject): boolean => keyOf(subject) !== compactionKey(subject.context)
export const isStaleDrain = (subject: Subject): boolean => keyOf(subject) !== drainKey(subject.context)
export const isStaleFold = (subject: Subject): boolean => keyOf(subject) !== foldKey(subject.context)
export const isStaleStall = (subject: Subject): boolean => keyOf(subject) !== stallKey(subject.context)
export const isStaleConsultation = (subject: Subject): boolean => keyOf(subject) !== consultKey(subject.context)
export const isStaleUndo = (subject: Subject): boolean => keyOf(subject) !== undoKey(subject.context)
export const isStaleSettle = (subject: Subject): boolean => keyOf(subject) !== settleKey(subject.context)

/** True if the key of a result is no longer outstanding. Such a result is dropped. */
export const isStaleReply = (subject: Subject): boolean => outputOf(subject).key !== replyKey(subject.context)

/** True if a guard refused a message from people, or the answer. Only with guards. */
export const refusedByGuard = (subject: Subject): boolean => {
  const { inputGuards, outputGuards } = subject.context.policy.flags
  return (inputGuards ?? outputGuards) === true && refusalIn(outputOf(subject).guards) !== undefined
}

export const repliedWithCalls = (subject: Subject): boolean => {
  const output = outputOf(subject)
  return output.ok && output.calls.length > 0
}
export const replied = (subject: Subject): boolean => outputOf(subject).ok

/** Returns true if the request is too large and compacting may help. At most once per turn. */
export function overflowed(subject: Subject): boolean {
  const output = outputOf(subject)
  if (output.ok || output.failure.kind !== 'overflow') return false
  return subject.context.policy.flags.compact && subject.context.run?.overflowed === false
}

/** True if the request of a sub-agent would exceed its caller's allowance. */
export const overBudget = (subject: Subject): boolean => {
  const output = outputOf(subject)
  return !output.ok && output.failure.kind === 'overBudget'
}

/** True if the provider rejected a part of the request that can be left out. The request is made again at once without the part. */
export const leavesOut = (subject: Subject): boolean => {
  const output = outputOf(subject)
  const { run } = subject.context
  return !output.ok && output.failure.without !== undefined && run !== null && run.fallbacks < mostLeftOut
}
/** Maximum number of parts left out in one reply. A part stays left out: the next run continues from there. */
const mostLeftOut = 16

const retriedKinds: ReadonlySet<string> = new Set(['rateLimited', 'network', 'other'])

/** True if the answer is missing or does not match `output`, and may be requested again: at once, because waiting would not help. */
export const mayRepair = (subject: Subject): boolean => {
  const output = outputOf(subject)
  const { policy, run } = subject.context
  if (output.ok || run === null) return false
  if (output.failure.kind === 'empty') return run.badAnswers === 0
  if (output.failure.kind !== 'badAnswer') return false
  return run.badAnswers + 1 < policy.outputAttempts
}

/** True if the answer could be requested again, but its cost has used up a limit of the run. */
export const repairOverLimit = (subject: Subject): boolean => {
  const output = outputOf(subject)
  const { run } = subject.context
  // The last answer may be repaired: how often is bounded anyway.
  if (!mayRepair(subject) || output.ok || run === null || run.answer !== undefined) return false
  return limitAfter(run, output.failure) !== undefined
}

export function mayRetry(subject: Subject): boolean {
  const output = outputOf(subject)
  const { policy, run } = subject.context
  if (output.ok || run === null || !retriedKinds.has(output.failure.kind)) return false
  return failuresOf(run) < policy.retry.attempts && (output.failure.retryAfterMs ?? 0) <= policy.retry.maxRetryAfterMs
}

export const compactedForOverflow = ({ context, event }: Subject): boolean =>
  context.compactionCause === 'overflow' && (event as unknown as { output?: CompactOutput }).output?.overlay != null
export const compactingForOverflow = ({ context }: Subject): boolean => context.compactionCause === 'overflow'
