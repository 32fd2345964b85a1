import { mapped } from '../protocol/mapped.ts'
import type { AgentContext, AgentInput, CallState } from './agentTypes.ts'
import type { CallOutput, PlannedCall } from './effectTypes.ts'
import type { ToolExecution } from './agentPolicy.ts'
import { pinResult, requestBrake } from './brakes.ts'
import { endCall, recordEnd, synthesize } from './callEnds.ts'
import type { AssistantMessage } from '../protocol/messages.ts'
import { recordVersion as v, type Spent } from '../protocol/records.ts'
import { aliveChildren, allowanceFor } from './allowances.ts'
import { room, type Draft } from './draft.ts'
import { askHook, hookSlot, isUnchecked, marksOf } from './hooks.ts'
import { earlierChild, isTaken } from './continuing.ts'
import { handedOver, takeOver } from './handoffs.ts'
import type { ExplainedReason } from './explanations.ts'
import { mayAnswer, reachedLimit } from './limits.ts'
import { spendByChild } from './spending.ts'
import { answersResults, whyUnfit } from './unfitReplies.ts'

/** Child ids are reused by position, because every new id would stay in memory for the lifetime of the machine. */
export const callSlot = (index: number): string => `call.${index}`

/**
 * Deterministic id of a call: the idempotency key of its effect; a result without it does not count. Made with `join`, because a log keeps the key:
 * the result of a template would keep every part, linked to the next, in memory.
 */
export const callKey = (agentId: string, turnIndex: number, callId: string): string =>
  [agentId, '/t', turnIndex, '/tool/', callId].join('')

/** Opens the step of a reply's calls: requests approvals and starts the calls that may start. */
export function openCalls(draft: Draft, planned: readonly PlannedCall[], message: AssistantMessage): void {
  const { agentId, lastNodeId, policy } = draft.context
  const unfit = whyUnfit(message)
  const { turnIndex } = draft.at
  const calls = mapped(planned, (call, index): CallState => ({
    callId: call.callId,
    name: call.name,
    input: call.input,
    ...(call.isSettled === undefined ? {} : { edited: 'tool' as const }),
    key: callKey(agentId, turnIndex, call.callId),
    nodeId: lastNodeId + 1 + index,
    ...unfit,
    status:
      unfit.unfit === undefined && call.needsApproval && index < policy.maxCallsPerReply && isOffered(draft, call.name)
        ? 'held'
        : 'ready',
  }))
  draft.set({ calls, lastNodeId: lastNodeId + calls.length })
  refuseUnfit(draft)
  refuseExcess(draft)
  refuseUnoffered(draft)
  for (const [index, { status }] of calls.entries()) if (status === 'held') holdCall(draft, index)
  advanceCalls(draft)
}

/** Answers the calls of a reply that was not whole. People are not asked about them, and no decision about them counts. */
function refuseUnfit(draft: Draft): void {
  for (const [index, { unfit, status }] of draft.context.calls.entries()) {
    if (unfit === undefined || (status !== 'ready' && status !== 'held')) continue
    endCall(draft, index, { content: [{ type: 'text', text: unfit }], isError: true, synthetic: 'refused' })
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
  for (const call of calls.filter(isExcess))
    recordEnd(draft, call, { content: [{ type: 'text', text }], isError: true, synthetic: 'refused' })
  // All at once: there may be thousands.
  draft.set({ calls: calls.map((call, index) => (isExcess(call, index) ? { ...call, status: 'settled' } : call)) })
}

const isOffered = ({ context: { frame } }: Draft, name: string): boolean =>
  frame === null || frame.offered === null || frame.offered.includes(name)

/** Answers calls of tools that this turn does not offer: models remember the tools of earlier turns. */
function refuseUnoffered(draft: Draft): void {
  const offered = draft.context.frame?.offered
  if (offered == null) return
  const names = offered.length === 0 ? 'no tools' : offered.join(', ')
  for (const [index, { name, status, decision }] of draft.context.calls.entries()) {
    if (status !== 'ready' || decision !== undefined || isOffered(draft, name)) continue
    const text = `Not run: ${JSON.stringify(name)} is not available in this turn, which has ${names}.`
    endCall(draft, index, { content: [{ type: 'text', text }], isError: true, synthetic: 'refused' })
  }
}

/** Asks for an approval. */
export function holdCall(draft: Draft, index: number): void {
  const call = draft.context.calls[index]!
  const { callId, key, name, input } = call
  const irreversible = isIrreversible(draft, name) ? ({ irreversible: true } as const) : {}
  draft.setCall(index, { status: 'held', ...irreversible })
  draft.record({ type: 'approval.requested', ...draft.at, callId, key, name, input, ...irreversible, ...marksOf(call) })
}

/** Starts every call whose turn it is; with steering waiting, skips those that have not started instead. */
export function advanceCalls(draft: Draft): void {
  const { context } = draft
  if (context.storeError !== null) return
  if (context.steering.length > 0) {
    context.calls.forEach((call, index) => {
      if (call.status === 'running' || call.status === 'settled') return
      // The question of its tool is not the subject of the new message.
      if (call.status === 'asking') draft.children.push({ type: 'stop', id: callSlot(index) })
      synthesize(draft, index, 'skipped', undefined, spentBy(call.used))
    })
    return
  }
  const { agents, maxChildren, toolExecution } = context.policy
  for (let next = startable(context.calls, toolExecution); next.length > 0;) {
    for (const index of next) {
      const call = draft.context.calls[index]!
      if (isUnchecked(draft.context, call)) askHook(draft, index)
      else if (!agents.includes(call.name)) startCall(draft, index)
      else if (aliveChildren(draft.context) < maxChildren) startSubAgent(draft, index)
      else if (!isCalling(draft.context))
        synthesize(draft, index, 'refused', `${maxChildren} are alive, the most allowed`)
    }
    // A refused call is answered at once, so the next one may start.
    const { calls } = draft.context
    next = next.some((index) => calls[index]!.status === 'settled') ? startable(calls, toolExecution) : []
  }
}

/** The most calls that run at once: every child of an actor makes the next one more expensive. */
const mostRunning = 100

/** Positions of the calls that may start now. Pure. */
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
  const call = draft.context.calls[index]!
  const { callId, key, name, input, answers } = call
  const { agentId, policy } = draft.context
  const isExternal = policy.external?.includes(name) === true
  setStatus(draft, index, isExternal ? 'requested' : 'running')
  const { runId, turnIndex } = draft.at
  const type = 'tool.start'
  const started = isIrreversible(draft, name)
    ? ({ v, seq: 0, type, runId, turnIndex, callId, key, name, input, irreversible: true, ...room } as const)
    : ({ v, seq: 0, type, runId, turnIndex, callId, key, name, input, ...room } as const)
  const marked = policy.reversible.includes(name) ? ({ ...started, reversible: true } as const) : started
  const polling = policy.polling.includes(name) ? ({ ...marked, polls: true } as const) : marked
  draft.record(call.beforeTool === undefined && call.edited === undefined ? polling : { ...polling, ...marksOf(call) })
  if (isExternal) return draft.record({ type: 'call.requested', runId, turnIndex, callId, key, name, input })
  const called = { agentId, runId, turnIndex, key, callId, name, input }
  draft.children.push({
    type: 'start',
    src: 'runTool',
    id: callSlot(index),
    input: answers === undefined ? called : { ...called, answers },
  })
}

const isIrreversible = ({ context }: Draft, name: string): boolean => context.policy.irreversible.includes(name)

/** Starts a sub-agent, or continues the one that executed the call before a crash. */
function startSubAgent(draft: Draft, index: number): void {
  const { agentId, children } = draft.context
  const call = draft.context.calls[index]!
  const allowance = allowanceFor(draft.context, call)
  if (allowance === null) return synthesize(draft, index, 'refused', 'the budget of this run is used up')
  const earlier = call.childId ?? earlierChild(draft.context, call)
  if (earlier !== undefined && isTaken(draft.context, call, earlier))
    return synthesize(draft, index, 'refused', `${earlier} is at work on another call`)
  const { callId, key, name, input } = call
  const childId = earlier ?? `${agentId}.${children + 1}`
  if (earlier === undefined) draft.set({ children: children + 1 })
  const irreversible = isIrreversible(draft, name) ? ({ irreversible: true } as const) : {}
  const reports = draft.context.policy.reports.includes(name) ? ({ reports: true } as const) : {}
  draft.setCall(index, { status: 'running', childId, allowance, ...reports })
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
    if (output.spent !== undefined) spendByChild(draft, output.spent)
    if (output.pins === true) pinResult(draft, draft.context.calls[index]!)
    if (mayGoOn(draft, output)) pauseCall(draft, index, output.spent)
    else endCall(draft, index, handedOver(draft, output))
    if (output.brake !== undefined) requestBrake(draft, output.key, output.brake)
  }
  if (draft.context.calls[index]!.status === 'settled')
    draft.set({ contextTokens: draft.context.contextTokens + output.tokens })
  advanceCalls(draft)
}

/** Its sub-agent has reached the limit of the run itself, not only of its share: the run pauses, and `resume` continues both. */
const mayGoOn = ({ context: { run } }: Draft, { isOverAllowance, spent }: CallOutput): boolean =>
  isOverAllowance === true && spent !== undefined && run !== null && reachedLimit(run) !== undefined && !mayAnswer(run)

function pauseCall(draft: Draft, index: number, used: Spent | undefined): void {
  draft.setCall(index, { status: 'paused', ...(used === undefined ? {} : { used }) })
}

/** Makes calls ready whose sub-agents were waiting for a new allowance. */
export function readyPausedCalls(draft: Draft): void {
  draft.context.calls.forEach(({ status }, index) => {
    if (status === 'paused') draft.setCall(index, { status: 'ready' })
  })
}

/** A runner that crashed still answers its call. */
export function failCall(draft: Draft, slot: string, message: string): void {
  const index = draft.context.calls.findIndex((call, i) => callSlot(i) === slot && isUnderWay(call))
  if (index < 0) return
  endCall(draft, index, { content: [{ type: 'text', text: `The tool failed: ${message}` }], isError: true })
  advanceCalls(draft)
}

/** Answers every call that has no result yet. */
export function cancelCalls(
  draft: Draft,
  reason: ExplainedReason,
  spent: { readonly [key: string]: Spent } = {},
): void {
  draft.context.calls.forEach((call, index) => {
    if (call.status === 'settled') return
    if (isUnderWay(call)) draft.children.push({ type: 'stop', id: callSlot(index) })
    const used = call.status === 'running' ? spent[call.key] : undefined
    if (used !== undefined) spendByChild(draft, used)
    // The usage of a paused call is counted, but recorded only at the end of the run.
    synthesize(draft, index, reason, undefined, spentBy(used ?? call.used))
  })
}

/** After a crash: calls that may run again are made ready, and the rest are answered, because it is not known whether they happened. */
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
    // Its log says what it had done; it continues from there.
    else if (call.childId !== undefined || mayRerun.includes(call.name)) setStatus(draft, index, 'ready')
    else synthesize(draft, index, 'interrupted')
  })
}

/** Answers every call that has no result yet, whatever the decision about it: the person who decided is not known here. */
export function interruptCalls(draft: Draft): void {
  draft.context.calls.forEach(({ status, used }, index) => {
    if (status !== 'settled') synthesize(draft, index, 'interrupted', undefined, spentBy(used))
  })
}

/** Stops the runners without answering yet. */
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

/** Closes the step: the head moves to its last result. */
export function sealCalls(draft: Draft): void {
  const last = draft.context.calls.at(-1)
  if (last === undefined) return
  // Those that have ended are released together: one at a time would copy the others each time.
  const hasHook = draft.context.policy.flags.beforeTool === true
  for (const index of draft.context.calls.keys()) {
    draft.children.push({ type: 'stop', id: callSlot(index) })
    if (hasHook) draft.children.push({ type: 'stop', id: hookSlot(index) })
  }
  draft.set({ calls: [], head: last.nodeId, owesReply: answersResults(draft.context.run) })
  takeOver(draft)
}

export const callsSettled = ({ calls }: AgentContext): boolean => calls.every((call) => call.status === 'settled')
export const isCalling = ({ calls }: Pick<AgentContext, 'calls'>): boolean => calls.some(isAtWork)
export const isAtWork = ({ status }: CallState): boolean => status === 'running' || status === 'checking'
export const pausedCalls = ({ calls }: Pick<AgentContext, 'calls'>): readonly CallState[] =>
  calls.filter((call) => call.status === 'paused')
/** Keys of the calls that wait for people. */
export const heldCalls = ({ calls }: Pick<AgentContext, 'calls'>): string[] =>
  calls.filter(waitsForPeople).map((call) => call.callId)
export const waitsForPeople = ({ status }: Pick<CallState, 'status'>): boolean => waiting.has(status)
const waiting: ReadonlySet<CallState['status']> = new Set(['held', 'asking', 'asked', 'requested'])
/** Says whether an actor of the call is running, even one that only waits for an answer. */
const isUnderWay = ({ status }: CallState): boolean => status === 'running' || status === 'asking'

const spentBy = (spent: Spent | undefined) => (spent === undefined ? {} : { spent })

const setStatus = (draft: Draft, index: number, status: CallState['status']): void => draft.setCall(index, { status })
