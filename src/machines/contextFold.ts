import { refusalIn, type Refusal } from '../protocol/guarding.ts'
import { mapped } from '../protocol/mapped.ts'
import { noUsage, toolCallsOf, type Usage } from '../protocol/messages.ts'
import { isOfPart } from '../protocol/parts/partRecords.ts'
import type { LogRecord, RecordDraft, RunStopReason, Spent } from '../protocol/records.ts'
import { movedCall, stageAfter, type CallRecord } from '../log/callStage.ts'
import { addSpent } from '../log/spent.ts'
import type { CallState, LoggedContext, RunState } from './agentTypes.ts'
import { answeredInBackground, backgroundOf, givenTo, inBackground } from './backgroundFold.ts'
import { callKey, reporterOf, reportId } from './callFacts.ts'
import { numberOf } from './continuing.ts'
import type { FoldedCalls } from './foldedCalls.ts'
import { remainingLimits, newRun, nothingPaused } from './limits.ts'
import { preparedFrame, usedFrame, withoutUse } from './frames.ts'
import { partFolding, partStates } from './partStates.ts'
import { withSpent, withUsage } from './spending.ts'
import { answersResults, endingOf, whyUnfit } from './unfitReplies.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** State of an agent that follows from its records, writable for the fold that changes it in place. */
export type Logged = Writable<LoggedContext>

/** State that a step changes. The calls have a list of their own. */
type State = Omit<Logged, 'calls'>

type DraftOf<T extends LogRecord['type']> = Extract<RecordDraft, { type: T }>

/** Applies one record to the state. `now`: the time of the record, or of the one before it for the first record of a fork. */
type Step<R> = (state: State, record: R, calls: FoldedCalls, now: number) => void

type Steps = { readonly [T in LogRecord['type']]?: Step<DraftOf<T>> }

function inRun(state: State, change: Partial<RunState>): void {
  if (state.run !== null) state.run = { ...state.run, ...change }
}

/** Adds the usage of a record; usage between turns counts towards the run and the previous turn. */
function spend(state: State, usage: Usage = noUsage, costUsd = 0): void {
  if (state.run !== null) state.run = withUsage(state.run, usage, costUsd)
}

/** Marks the run as refused, because a guard refused a message or the answer in it. */
function refuse(state: State, refused: Refusal | undefined): void {
  if (refused === undefined) return
  const { at, guard, reason } = refused
  inRun(state, { refusal: { at, guard, reason } })
  state.owesReply = false
}

/** Moves a call to the stage that its record leads to. */
const move = (calls: FoldedCalls, record: DraftOf<CallRecord['type']>, more: Partial<CallState> = {}): void =>
  calls.change(movedCall(record as CallRecord), { status: stageAfter(record as CallRecord), ...more })

/** Returns the marks that `beforeTool` left on a call. */
function marksOf(
  calls: FoldedCalls,
  { callId, input, beforeTool, rule, edited }: DraftOf<'tool.start' | 'approval.requested'>,
): Partial<CallState> {
  return {
    ...(beforeTool === undefined ? {} : { beforeTool }),
    ...(rule === undefined ? {} : { rule }),
    ...(edited === undefined ? {} : { edited: calls.find(callId)?.edited ?? 'hook', input }),
  }
}

/** Notes the decision about an inner call for the call that makes it, which runs on or starts again. */
function decideInner(calls: FoldedCalls, record: DraftOf<'approval.decided'>, parentCall: string): void {
  const call = calls.find(parentCall)
  if (call?.asks === undefined) return
  const { asks, ...others } = call
  const { decision, reason, input } = record
  const decided = {
    key: asks.key,
    asked: asks.input,
    decision,
    ...(reason === undefined ? {} : { reason }),
    ...(input === undefined ? {} : { input }),
  }
  const status = stageAfter(record as CallRecord)
  calls.replace({ ...others, status, decided: [...(call.decided ?? []), decided] })
}

/** Pauses a call that its run leaves unfinished, and adds its usage to the part already counted. */
function leaveUnfinished(calls: FoldedCalls, callId: string, spent: Spent): void {
  const call = calls.find(callId)
  if (call === undefined) return
  const { used: _, ...left } = call
  const counted = call.counted === undefined ? spent : addSpent(call.counted, spent)
  calls.replace({ ...left, status: 'paused', counted })
}

/** Closes the step once all calls have their results. */
function closeStep(state: State, calls: FoldedCalls): void {
  if (calls.isOpen) return
  // The values in use were requested for the definition before.
  if (calls.list.some(({ handsOver }) => handsOver === true)) state.frame = withoutUse(state.frame)
  if (calls.list.some(({ failsToEnd }) => failsToEnd === true)) state.endedBy = null
  calls.open(none)
  state.owesReply = state.endedBy === null && answersResults(state.run)
}

const none: readonly never[] = Object.freeze([])

/**
 * Takes the report in a queued message off the list of awaited reports. If the report came before the result of its call, marks the call.
 */
function takeReport(state: State, calls: FoldedCalls, messageId: string): void {
  const isIts = ({ key }: { readonly key: string }): boolean => reportId(key) === messageId
  if (state.reporters.some(isIts)) state.reporters = state.reporters.filter((one) => !isIts(one))
  else {
    const call = calls.list.find(isIts)
    if (call !== undefined) calls.change(call.callId, { reported: true })
  }
}

/** Resets the state so that nothing is in progress or awaited. */
function rest(state: State, calls: FoldedCalls): void {
  calls.open(none)
  Object.assign(state, resting)
}

const resting = {
  run: null,
  reporters: none,
  isTurnOpen: false,
  isCompacting: false,
  consulting: null,
  undoing: null,
} as const

const givenUp = { ...nothingPaused, owesReply: false, failedRun: null } as const

/** Ends everything left open in the past of another party: no run and no due reply continues. */
export function endAll(state: State, calls: FoldedCalls): void {
  rest(state, calls)
  Object.assign(state, givenUp)
}

/** Sets the state of a new fork: idle, or interrupted if a reply is due, as if the process had died there. */
function fork(state: State, calls: FoldedCalls, now: number): void {
  const { run, owesReply, pausedRun, failedRun } = state
  rest(state, calls)
  // One that failed waits to be asked for again.
  if (failedRun !== null) return
  const owedRun = owesReply ? (run?.runId ?? pausedRun) : null
  if (owedRun === null) return void Object.assign(state, { owesReply: false, ...nothingPaused })
  state.pausedRun = owedRun
  state.pause = { type: 'interrupted' }
  if (run === null) return
  state.pausedLimits = remainingLimits(run, now)
  state.givenLimits = run.given ?? null
}

/** Returns true if a run that ended may be continued. */
const goesOn = (stopReason: RunStopReason, owesReply: boolean): boolean =>
  stopReason === 'paused' || (stopReason === 'error' && owesReply)

const giveUp: Step<unknown> = (state) => void Object.assign(state, givenUp)

const steps: Steps = {
  'agent.created': (state, { forkedFrom, parent }, calls, now) => {
    if (forkedFrom === undefined) return
    fork(state, calls, now)
    if (parent !== undefined) state.frame = null
  },
  'run.start': (state, { runId, requestId, limits, cause, messages = 1, given }, _, now) => {
    const run = newRun(runId, requestId, limits, now)
    const unsaid = cause === 'resume' ? 0 : messages
    state.run = given === undefined ? { ...run, unsaid } : { ...run, unsaid, given }
    state.runs += 1
    Object.assign(state, nothingPaused)
    state.failedRun = null
  },
  'run.end': (state, { stopReason, runId, reason = null, left = null, unfinished = [] }, calls) => {
    for (const { callId, spent } of unfinished) leaveUnfinished(calls, callId, spent)
    const { run, owesReply } = state
    const [isPaused, hasFailed] = [stopReason === 'paused', stopReason === 'error']
    state.run = null
    state.pausedLimits = left
    state.givenLimits = goesOn(stopReason, owesReply) ? (run?.given ?? null) : null
    state.pausedRun = isPaused ? runId : null
    state.pause = isPaused ? reason : null
    state.failedRun = hasFailed && owesReply ? runId : null
    if (!isPaused && !hasFailed) state.owesReply = false
  },
  'run.abandoned': giveUp,
  'agent.stopped': giveUp,
  'turn.start': (state, { turnIndex }, calls) => {
    state.turns = turnIndex + 1
    state.isTurnOpen = true
    if (state.frame !== null && state.frame.offered !== null) state.frame = { ...state.frame, offered: null }
    if (state.run === null) return
    state.run = {
      ...state.run,
      // One that continues earlier calls does not ask the model, and is not counted.
      turns: calls.list.length > 0 ? 0 : state.run.turns + 1,
      attempt: 1,
      badAnswers: 0,
      fallbacks: 0,
      turnUsage: noUsage,
      turnCostUsd: 0,
    }
  },
  'turn.prepared': (state, record) => {
    state.frame = preparedFrame(state.frame, record)
    if (record.limit !== undefined) inRun(state, { answer: { limit: record.limit, isAsked: true } })
  },
  'use.changed': (state, { use }) => {
    state.frame = usedFrame(state.frame, use)
  },
  'turn.end': (state) => {
    state.isTurnOpen = false
  },
  'message.added': (state) => {
    state.owesReply = true
    state.endedBy = null
    const unsaid = state.run?.unsaid ?? 0
    if (unsaid > 0) inRun(state, { unsaid: unsaid - 1 })
  },
  'reply.end': (state, { runId, turnIndex, nodeId, message, costUsd, withheld }, calls, now) => {
    state.repliedAt = now
    const agentId = agentOf(runId)
    const unfit = whyUnfit(message)
    const made = mapped(toolCallsOf(message.content), ({ callId, name, input, via }, index): CallState => ({
      callId,
      name,
      input,
      ...(via === undefined ? {} : { via }),
      key: callKey(agentId, turnIndex, callId),
      nodeId: nodeId + 1 + index,
      ...unfit,
      status: 'ready',
    }))
    spend(state, message.usage, costUsd)
    inRun(state, endingOf(state.run, message))
    calls.open(made)
    state.owesReply = made.length > 0
    state.endedBy = null
    refuse(state, withheld)
  },
  'reply.reset': (state, { attempt, usage, costUsd, repair, next, without }) => {
    spend(state, usage, costUsd)
    const { run } = state
    if (run === null) return
    const badAnswers = run.badAnswers + (repair === undefined ? 0 : 1)
    const fallbacks = run.fallbacks + ((next ?? without) === undefined ? 0 : 1)
    state.run = { ...run, attempt: attempt + 1, badAnswers, fallbacks }
  },
  'approval.requested': (_, record, calls) => {
    const { irreversible, parentCall, callId, key, name, input, suggest } = record
    const marked = {
      ...(irreversible === undefined ? {} : { irreversible }),
      ...(suggest === undefined ? {} : { suggest }),
    }
    if (parentCall !== undefined) return move(calls, record, { asks: { callId, key, name, input, ...marked } })
    move(calls, record, { ...marked, ...marksOf(calls, record) })
  },
  'approval.decided': (_, record, calls) => {
    const { decision: type, reason, input, parentCall } = record
    if (parentCall !== undefined) return decideInner(calls, record, parentCall)
    const edit = input === undefined ? {} : ({ input, edited: 'person' } as const)
    move(calls, record, { decision: reason === undefined ? { type } : { type, reason }, ...edit })
  },
  'question.asked': (state, record, calls, now) => {
    const { key, question: text, schema, problem, background } = record
    const question = { key, question: text, schema, ...(problem === undefined ? {} : { problem }) }
    if (background !== undefined)
      return inBackground(state, background, (call) => ({ ...call, question, askedAt: now }))
    move(calls, record, { question })
  },
  'question.answered': (state, record, calls) => {
    const { callId, background } = record
    if (background !== undefined) return answeredInBackground(state, record)
    const call = calls.find(callId)
    const given = givenTo(
      { key: call?.key ?? '', ...(call?.question === undefined ? {} : { question: call.question }) },
      record,
    )
    move(calls, record, { answers: [...(call?.answers ?? []), given] })
  },
  'call.requested': (_, record, calls) => move(calls, record),
  'timer.set': (_, record, calls) => {
    const { due: until, goesOn: again } = record
    move(calls, record, again === undefined ? { until } : { until, goesOn: again })
  },
  'timer.fired': (_, record, calls) => {
    if (record.again === true) move(calls, record)
  },
  'tool.start': (state, record, calls) => {
    const { runId, key, childId, reports, background } = record
    const by = childId === undefined ? {} : reports === undefined ? { childId } : { childId, reports }
    move(calls, record, { key, ...marksOf(calls, record), ...by, ...(background === undefined ? {} : { background }) })
    if (background !== undefined) state.backgrounds = Math.max(state.backgrounds ?? 0, Number(background.slice(1)))
    // One that a call goes on with is known.
    if (childId !== undefined && (numberOf(agentOf(runId), childId) ?? 0) > state.children) state.children += 1
  },
  'tool.end': (state, record, calls) => {
    const { callId, name, spent, message, handoff, endsRun } = record
    move(calls, record, {
      ...(handoff === undefined ? {} : { handsOver: true }),
      ...(endsRun === false ? { failsToEnd: true } : {}),
    })
    if (endsRun === true) state.endedBy = { callId, name }
    const call = message.isError ? undefined : calls.find(callId)
    const reporter = call === undefined ? undefined : (backgroundOf(call, record) ?? reporterOf(call))
    if (spent !== undefined && state.run !== null) state.run = withSpent(state.run, spent)
    if (reporter !== undefined) state.reporters = [...state.reporters, reporter]
    if (handoff !== undefined) inRun(state, { handoffs: (state.run?.handoffs ?? 0) + 1 })
    closeStep(state, calls)
  },
  'queue.changed': (state, { added }, calls) => {
    if (added !== undefined) takeReport(state, calls, added.id)
  },
  'call.noted': (state, { key, left }) => {
    state.reporters = state.reporters.map((one) => (one.kind === 'call' && one.key === key ? { ...one, left } : one))
  },
  'call.reported': (state, { key, content, isError, ended }) => {
    const reported = { content, isError, ...(ended === undefined ? {} : { ended }) }
    state.reporters = state.reporters.map((one) =>
      one.kind === undefined || one.key !== key ? one : { ...one, reported },
    )
  },
  'child.spawned': (state) => {
    state.children += 1
  },
  'child.ended': (state, { inRun: isCalled, spent }) => {
    if (isCalled === true && state.run !== null) state.run = withSpent(state.run, spent)
  },
  'guard.decided': (state, verdict) => {
    if (verdict.to !== undefined) state.guardedTo = verdict.to
    if (verdict.at === 'input') refuse(state, refusalIn([verdict]))
  },
  'compaction.start': (state) => {
    state.isCompacting = true
    state.compactions += 1
  },
  'compaction.end': (state, { usage, costUsd }) => {
    state.isCompacting = false
    spend(state, usage, costUsd)
  },
  'policy.start': (state, { policy, requestId }) => {
    state.consulting = requestId === undefined ? { policy } : { policy, requestId }
  },
  'policy.end': (state, { usage, costUsd }) => {
    state.consulting = null
    spend(state, usage, costUsd)
  },
  'revert.applied': (state, { id, applied, usage, costUsd, undo, tag }) => {
    const gone = (tag?.evidence.background ?? none).filter(({ aborted }) => aborted).map((call) => call.id)
    if (gone.length > 0)
      state.reporters = state.reporters.filter((one) => one.kind === undefined || !gone.includes(one.id))
    if (applied && state.endedBy !== null) {
      // The result is no longer there.
      state.endedBy = null
      if (state.run !== null) state.owesReply = true
    }
    if (usage !== undefined || costUsd !== undefined) spend(state, usage, costUsd)
    if (undo !== undefined) state.undoing = { id, ...undo, steps: [] }
  },
  'undo.step': (state, { call, undone, why }) => {
    const { undoing } = state
    const step = { call, undone, ...(why === undefined ? {} : { why }) }
    if (undoing !== null) state.undoing = { ...undoing, steps: [...undoing.steps, step] }
  },
  'undo.end': (state) => {
    state.undoing = null
  },
}

const foldParts = partFolding(partStates, (type) => isOfPart({ type }))

const agentOf = (runId: string): string => runId.slice(0, runId.lastIndexOf('/'))

/**
 * Folds one more record into the state. The machine folds its drafts, whose arguments are complete; a checkpoint
 * folds the arguments that the log holds.
 */
export function foldRecord(state: Logged, record: RecordDraft, calls: FoldedCalls, now: number): void {
  state.parts = foldParts(state.parts, record, { now })
  if ('costUsd' in record && isOfPart(record)) spend(state, record.usage, record.costUsd)
  const step = steps[record.type] as Step<RecordDraft> | undefined
  if (step === undefined) return
  step(state, record, calls, now)
  state.calls = calls.list
}
