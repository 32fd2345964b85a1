import type { AgentContext, AgentInput, CallState, LiveCall } from './agentTypes.ts'
import type { CallOutput, PlannedCall, SettleOutput } from './effectTypes.ts'
import type { ToolExecution } from './agentPolicy.ts'
import { isBackground, nextBackgroundId, receiptOf, startBackground, whyNoMore } from './background.ts'
import { pinResult, requestBrake } from './brakes.ts'
import { endCall, refuseCall, synthesize, type ExplainedReason } from './callEnds.ts'
import { callSlot, isAtWork, waitsForPeople } from './callFacts.ts'
import { recordVersion as v, type Spent } from '../protocol/records.ts'
import { aliveChildren, allowanceFor } from './allowances.ts'
import { room, type Draft } from './draft.ts'
import { askHook, hookSlot, isUnchecked, marksOf } from './hooks.ts'
import { earlierChild, isTaken } from './continuing.ts'
import { handedOver } from './handoffs.ts'
import { mayAnswer, reachedLimit } from './limits.ts'
import { endSleep } from './sleepEnds.ts'
import { spentRun, withSpent } from './spending.ts'

/** Opens the calls of a reply: requests approvals and starts the calls that may start. */
export function openCalls(draft: Draft, planned: readonly PlannedCall[]): void {
  const { lastNodeId, policy } = draft.context
  draft.set({ lastNodeId: lastNodeId + planned.length })
  for (const [index, { input, isSettled }] of planned.entries())
    if (isSettled === true) draft.setCall(index, { input, edited: 'tool' })
  for (const [index, { misfits }] of planned.entries()) if (misfits === true) draft.setCall(index, { misfits })
  refuseUnfit(draft)
  refuseExcess(draft)
  refuseUnoffered(draft)
  for (const [index, { mistake: text }] of planned.entries())
    if (text !== undefined && draft.context.calls[index]?.status === 'ready') refuseCall(draft, index, text)
  for (const [index, { needsApproval }] of planned.entries())
    if (needsApproval && index < policy.maxCallsPerReply && draft.context.calls[index]?.status === 'ready')
      holdCall(draft, index)
  advanceCalls(draft)
}

/** Answers the calls of an incomplete reply. People are not asked about them, and no decision about them counts. */
function refuseUnfit(draft: Draft): void {
  for (const [index, { unfit, status }] of draft.context.calls.entries()) {
    if (unfit === undefined || (status !== 'ready' && status !== 'held')) continue
    refuseCall(draft, index, unfit)
  }
}

/**
 * Answers the calls of a reply beyond the maximum, unless a version without that limit started them. Decided by position, so that a
 * restored agent answers the same ones.
 */
function refuseExcess(draft: Draft): void {
  const { calls, policy } = draft.context
  const most = policy.maxCallsPerReply
  const isExcess = ({ status, decision }: CallState, index: number): boolean =>
    index >= most && status === 'ready' && decision === undefined
  if (!calls.some(isExcess)) return
  const text =
    `Not run: this reply made ${calls.length} calls, and only the first ${most} of a reply are run. ` +
    'Make those you still need in your next reply.'
  for (const [index, call] of calls.entries()) if (isExcess(call, index)) refuseCall(draft, index, text)
}

const isOffered = ({ context: { frame } }: Draft, { name, via }: Pick<CallState, 'name' | 'via'>): boolean =>
  frame === null ||
  frame.offered === null ||
  frame.offered.includes(name) ||
  (via !== undefined && frame.offered.includes(via))

/** Answers calls of tools that this turn does not offer: models remember the tools of earlier turns. */
function refuseUnoffered(draft: Draft): void {
  const offered = draft.context.frame?.offered
  if (offered == null) return
  const names = offered.length === 0 ? 'no tools' : offered.join(', ')
  for (const [index, call] of draft.context.calls.entries()) {
    const { name, status, decision } = call
    if (status !== 'ready' || decision !== undefined || isOffered(draft, call)) continue
    const text = `Not run: ${JSON.stringify(name)} is not available in this turn, which has ${names}.`
    refuseCall(draft, index, text)
  }
}

/** Requests an approval for a call. */
export function holdCall(draft: Draft, index: number, suggest?: readonly string[]): void {
  const call = draft.callAt(index)
  const { callId, key, name, input } = call
  const irreversible = isIrreversible(draft, name) ? ({ irreversible: true } as const) : {}
  const asked = { ...draft.at, callId, key, name, input, ...irreversible, ...marksOf(call) }
  draft.record({ type: 'approval.requested', ...asked, ...(suggest === undefined ? {} : { suggest: [...suggest] }) })
}

/** Starts every call whose turn has come. With steering waiting, skips the calls that have not started instead. */
export function advanceCalls(draft: Draft): void {
  const { context } = draft
  if (context.storeError !== null || context.isLeaving) return
  if (context.steering.length > 0) {
    context.calls.forEach((call, index) => {
      if (call.status === 'running' || call.status === 'settled') return
      if (call.status === 'sleeping') return endSleep(draft, index, 'steering')
      // The question of its tool is not the subject of the new message.
      if (call.status === 'asking') draft.children.push({ type: 'stop', id: callSlot(index) })
      synthesize(draft, index, 'skipped', undefined, spentBy(call.used))
    })
    return
  }
  const { agents, maxChildren, toolExecution } = context.policy
  for (let next = startable(context.calls, toolExecution); next.length > 0;) {
    for (const index of next) {
      const call = draft.callAt(index)
      if (isUnchecked(draft.context, call)) askHook(draft, index)
      else if (!agents.includes(call.name)) startCall(draft, index)
      else if (aliveChildren(draft.context) < maxChildren) startSubAgent(draft, index)
      else if (!isCalling(draft.context))
        synthesize(draft, index, 'refused', `${maxChildren} are alive, the most allowed`)
    }
    // A refused call is answered at once, so the next one may start.
    const { calls } = draft.context
    next = next.some((index) => calls[index]?.status === 'settled') ? startable(calls, toolExecution) : []
  }
}

/** Maximum number of calls that run at once. Every child of an actor makes the next one more expensive. */
const mostRunning = 100

/** Returns the positions of the calls that may start now. Pure. */
export function startable(calls: readonly CallState[], mode: ToolExecution): number[] {
  const size = mode === 'parallel' ? calls.length : mode === 'sequential' ? 1 : mode.batch
  const indexes: number[] = []
  let end = -1
  let running = 0
  for (let i = 0; i < calls.length; i++) {
    const { status } = calls[i]!
    if (status === 'settled') continue
    if (end < 0) end = Math.floor(i / size) * size + size
    if (status === 'running' || status === 'checking' || status === 'asking') running += 1
    else if (status === 'ready' && i < end) indexes.push(i)
  }
  return indexes.slice(0, Math.max(0, mostRunning - running))
}

function startCall(draft: Draft, index: number): void {
  const call = draft.callAt(index)
  const { callId, key, name, input, answers, decided } = call
  const { agentId, policy } = draft.context
  const isExternal = policy.external?.includes(name) === true
  const { runId, turnIndex } = draft.at
  if (isBackground(draft.context, call)) return sendToBackground(draft, index)
  const type = 'tool.start'
  const started = isIrreversible(draft, name)
    ? ({ v, seq: 0, type, runId, turnIndex, callId, key, name, input, irreversible: true, ...room } as const)
    : ({ v, seq: 0, type, runId, turnIndex, callId, key, name, input, ...room } as const)
  const marked = policy.reversible.includes(name) ? ({ ...started, reversible: true } as const) : started
  const polling = policy.polling.includes(name) ? ({ ...marked, polls: true } as const) : marked
  draft.record((call.beforeTool ?? call.rule ?? call.edited) === undefined ? polling : { ...polling, ...marksOf(call) })
  if (isExternal) return draft.record({ type: 'call.requested', runId, turnIndex, callId, key, name, input })
  const called = { agentId, runId, turnIndex, key, callId, name, input }
  draft.children.push({
    type: 'start',
    src: 'runTool',
    id: callSlot(index),
    input:
      answers === undefined && decided === undefined
        ? called
        : { ...called, ...(answers === undefined ? {} : { answers }), ...(decided === undefined ? {} : { decided }) },
  })
}

/** Answers a call with a receipt, and starts it in the background. Its effect begins once the log has both. */
function sendToBackground(draft: Draft, index: number): void {
  const call = draft.callAt(index)
  const { callId, key, name, input } = call
  const { policy } = draft.context
  const refused = whyNoMore(draft.context)
  if (refused !== undefined) return refuseCall(draft, index, refused)
  const background = nextBackgroundId(draft.context, call)
  draft.record({
    type: 'tool.start',
    ...draft.at,
    callId,
    key,
    name,
    input,
    ...(isIrreversible(draft, name) ? { irreversible: true } : {}),
    ...(policy.reversible.includes(name) ? { reversible: true } : {}),
    ...(policy.polling.includes(name) ? { polls: true } : {}),
    ...marksOf(call),
    background,
  })
  endCall(draft, index, { content: receiptOf(background), isError: false })
  startBackground(draft)
}

const isIrreversible = ({ context }: Draft, name: string): boolean => context.policy.irreversible.includes(name)

/** Starts a sub-agent, or continues the one that executed the call before a crash. */
function startSubAgent(draft: Draft, index: number): void {
  const { agentId, children } = draft.context
  const call = draft.callAt(index)
  const allowance = allowanceFor(draft.context, call)
  if (allowance === null) return synthesize(draft, index, 'refused', 'the budget of this run is used up')
  const earlier = call.childId ?? earlierChild(draft.context, call)
  if (earlier !== undefined && isTaken(draft.context, call, earlier))
    return synthesize(draft, index, 'refused', `${earlier} is at work on another call`)
  const { callId, key, name, input } = call
  const childId = earlier ?? `${agentId}.${children + 1}`
  const irreversible = isIrreversible(draft, name) ? ({ irreversible: true } as const) : {}
  const reports = draft.context.policy.reports.includes(name) ? ({ reports: true } as const) : {}
  draft.setCall(index, { allowance })
  draft.record({
    type: 'tool.start',
    ...draft.at,
    callId,
    key,
    name,
    input,
    ...irreversible,
    ...marksOf(call),
    childId,
    ...reports,
  })
  draft.children.push({
    type: 'start',
    src: 'subAgent',
    id: callSlot(index),
    input: { agentId, ...draft.at, key, callId, name, input, childId, allowance },
  })
}

/** Accepts a result if its key is still outstanding; a late or forged one is dropped. */
export function settleCall(draft: Draft, output: CallOutput | null): void {
  if (output === null) return
  const index = draft.context.calls.findIndex((call) => isUnderWay(call) && call.key === output.key)
  if (index < 0) return
  if (output.notStarted !== undefined) {
    setStatus(draft, index, 'ready')
    draft.set({ storeError: output.notStarted })
  } else {
    if (output.pins === true) pinResult(draft, draft.callAt(index))
    if (mayGoOn(draft, output)) pauseCall(draft, index, output.spent)
    else endCall(draft, index, handedOver(draft, output))
    if (output.brake !== undefined) requestBrake(draft, output.key, output.brake)
  }
  if (!isUnfinished(draft, index)) draft.set({ contextTokens: draft.context.contextTokens + output.tokens })
  advanceCalls(draft)
}

/** True if a call still has no result. A step that is over has no calls any more. */
const isUnfinished = ({ context: { calls } }: Draft, index: number): boolean =>
  calls.length > 0 && calls[index]!.status !== 'settled'

/** True if a sub-agent has reached the limit of the run itself, not only its share. The run then pauses, and `resume` continues both. */
function mayGoOn({ context }: Draft, { isOverAllowance, spent }: CallOutput): boolean {
  if (isOverAllowance !== true || spent === undefined) return false
  const run = spentRun(context)
  return run !== null && reachedLimit(withSpent(run, spent)) !== undefined && !mayAnswer(run)
}

function pauseCall(draft: Draft, index: number, used: Spent | undefined): void {
  draft.setCall(index, { status: 'paused', ...(used === undefined ? {} : { used }) })
}

/** Makes calls ready whose sub-agents were waiting for a new allowance. */
export function readyPausedCalls(draft: Draft): void {
  draft.context.calls.forEach(({ status }, index) => {
    if (status === 'paused') draft.setCall(index, { status: 'ready' })
  })
}

/** Answers the call of a runner that crashed. */
export function failCall(draft: Draft, slot: string, message: string): void {
  const index = draft.context.calls.findIndex((call, i) => callSlot(i) === slot && isUnderWay(call))
  if (index < 0) return
  endCall(draft, index, { content: [{ type: 'text', text: `The tool failed: ${message}` }], isError: true })
  advanceCalls(draft)
}

/** Facts about calls that were aborted. */
export type AbortedCalls = Partial<Pick<SettleOutput, 'spent' | 'printed' | 'receipts'>>

/** Answers every call that has no result yet. */
export function cancelCalls(
  draft: Draft,
  reason: ExplainedReason,
  { spent = {}, printed = {}, receipts = {} }: AbortedCalls = {},
): void {
  draft.context.calls.forEach((call, index) => {
    if (call.status === 'settled') return
    if (isUnderWay(call)) draft.children.push({ type: 'stop', id: callSlot(index) })
    const used = call.status === 'running' ? spent[call.key] : undefined
    const said = printed[call.callId]
    const receipt = receipts[call.callId]
    synthesize(draft, index, reason, undefined, {
      ...spentBy(used ?? call.used),
      ...(said === undefined ? {} : { printed: said }),
      ...(receipt === undefined ? {} : { receipt }),
    })
  })
}

/** Recovers calls after a crash: makes those ready that may run again, and answers the rest, which may or may not have happened. */
export function recoverCalls(draft: Draft, restored: NonNullable<AgentInput['restored']>): void {
  const { mayRerun, redacted, unapproved } = restored
  refuseUnfit(draft)
  refuseExcess(draft)
  refuseUnoffered(draft)
  draft.context.calls.forEach((call, index) => {
    if (call.status === 'settled') return
    if (call.decision?.type === 'deny') synthesize(draft, index, 'denied', call.decision.reason)
    else if (redacted.includes(call.callId)) synthesize(draft, index, 'interrupted')
    else if (unapproved.includes(call.callId)) holdCall(draft, index)
    else if (call.status !== 'running') return
    // Its log says what it had done, here or elsewhere; it continues from there.
    else if (call.childId !== undefined || isNoted(draft, call) || mayRerun.includes(call.name))
      setStatus(draft, index, 'ready')
    else synthesize(draft, index, 'interrupted')
  })
}

/** True if a call noted how to find the work that it began elsewhere, or that it was about to begin some. */
const isNoted = ({ context: { parts } }: Draft, { callId }: CallState): boolean =>
  parts.remote !== undefined && Object.hasOwn(parts.remote, callId)

/** Answers every call without a result as interrupted, whatever was decided, because the person who decided is not known here. */
export function interruptCalls(draft: Draft): void {
  draft.context.calls.forEach(({ status, used }, index) => {
    if (status !== 'settled') synthesize(draft, index, 'interrupted', undefined, spentBy(used))
  })
}

/** Stops the runners of all calls without answering the calls yet. */
export function stopCalls(draft: Draft): void {
  draft.context.calls.forEach((call, index) => {
    if (call.status === 'checking') draft.children.push({ type: 'stop', id: hookSlot(index) })
    if (!isUnderWay(call)) return
    const id = callSlot(index)
    // A sub-agent finishes its own log before it ends; `settle` waits for that.
    draft.children.push(
      call.childId === undefined ? { type: 'stop', id } : { type: 'tell', id, event: { type: 'abort' } },
    )
  })
}

// Both from the back: calls end about as they were begun, and a reply may make hundreds.
export const callsSettled = ({ calls }: AgentContext): boolean =>
  calls.findLast((call) => call.status !== 'settled') === undefined
export const isCalling = ({ calls }: Pick<AgentContext, 'calls'>): boolean => calls.findLast(isAtWork) !== undefined
export const pausedCalls = ({ calls }: Pick<AgentContext, 'calls'>): readonly CallState[] =>
  calls.filter((call) => call.status === 'paused')
/** Ids of the calls that wait for people. */
export const heldCalls = ({ calls }: Pick<AgentContext, 'calls'>): string[] =>
  calls.filter(waitsForPeople).map((call) => call.callId)
/** True if an actor of the call is running, even one that only waits for an answer. */
const isUnderWay = ({ status }: CallState): boolean => status === 'running' || status === 'asking'

const spentBy = (spent: Spent | undefined) => (spent === undefined ? {} : { spent })

const setStatus = (draft: Draft, index: number, status: LiveCall['status']): void => draft.setCall(index, { status })
