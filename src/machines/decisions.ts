import type { CallDecision, CallState, EventOfType } from './agentTypes.ts'
import { endCall, synthesize } from './callEnds.ts'
import { callSlot, waitsFor } from './callFacts.ts'
import { askInBackground, decideInBackground } from './background.ts'
import { advanceCalls } from './calls.ts'
import type { Draft } from './draft.ts'
import type { CallInput } from './effectTypes.ts'

/** Returns the index of the running call under a key; -1 if it no longer runs, or already asks. */
const runningUnder = (draft: Draft, key: string): number =>
  draft.context.calls.findIndex((call) => call.status === 'running' && call.key === key)

/** Records a question that the tool of a running call asks people. The call waits for the answer. */
export function askPeople(draft: Draft, event: EventOfType<'ask'>): void {
  const { key, question } = event
  const index = runningUnder(draft, key)
  if (index < 0) return askInBackground(draft, event)
  const { callId, name, input } = draft.callAt(index)
  draft.record({ type: 'question.asked', ...draft.at, callId, name, input, ...question })
  draft.setCall(index, { status: 'asking' })
}

/** Requests approval for a call that a running call makes. The running call waits for it. */
export function askApproval(draft: Draft, { key, request }: EventOfType<'ask.approval'>): void {
  const index = runningUnder(draft, key)
  if (index < 0) return
  draft.record({ type: 'approval.requested', ...draft.at, ...request, parentCall: draft.callAt(index).callId })
  draft.setCall(index, { status: 'asking' })
}

type Decided<D extends CallDecision['decision']> = EventOfType<'decide'> & { readonly decision: D }

const is = <D extends CallDecision['decision']>(event: EventOfType<'decide'>, ...decisions: D[]): event is Decided<D> =>
  decisions.includes(event.decision as D)

/** Carries out a decision on a call that waits for people. A decision of a kind that it does not wait for changes nothing. */
export function applyDecision(draft: Draft, event: EventOfType<'decide'>): void {
  const index = draft.context.calls.findIndex((call) => waitsFor(call, event.callId))
  const call = draft.context.calls[index]
  const status = call?.status
  if (call === undefined) return decideInBackground(draft, event)
  if (call.asks !== undefined) {
    if (!is(event, 'approve', 'deny')) return
    decideInner(draft, call, event)
  } else if (status === 'held' && is(event, 'approve', 'deny')) decideApproval(draft, index, event)
  else if ((status === 'asking' || status === 'asked') && is(event, 'answer', 'deny'))
    answerQuestion(draft, index, event)
  else if (status === 'requested' && is(event, 'return', 'deny')) endRequest(draft, index, event)
  else return
  advanceCalls(draft)
}

const grantOf = ({ grant }: Decided<'approve' | 'deny'>) => (grant === undefined ? {} : { grant })

const requestOf = ({ requestId }: EventOfType<'decide'>) => (requestId === undefined ? {} : { requestId })

const reasonOf = ({ reason }: Decided<'approve' | 'deny'>) => (reason === undefined ? {} : { reason })

/** Starts a held call, perhaps with other arguments, or answers it with the refusal. */
function decideApproval(draft: Draft, index: number, event: Decided<'approve' | 'deny'>): void {
  const { callId, key } = draft.callAt(index)
  const input = event.decision === 'approve' && event.input !== undefined ? { input: event.input } : {}
  const { decision } = event
  const decided = { callId, key, decision, ...reasonOf(event), ...input, ...grantOf(event), ...requestOf(event) }
  draft.record({ type: 'approval.decided', ...draft.at, ...decided })
  if (decision === 'deny') synthesize(draft, index, 'denied', event.reason)
}

/** Records the decision about an inner call. The call that made it continues or, if its process is gone, starts again. */
function decideInner(draft: Draft, call: CallState, event: Decided<'approve' | 'deny'>): void {
  const { callId, key } = call.asks!
  const input = event.decision === 'approve' && event.input !== undefined ? { input: event.input } : {}
  draft.record({
    type: 'approval.decided',
    ...draft.at,
    callId,
    key,
    decision: event.decision,
    ...reasonOf(event),
    ...input,
    ...grantOf(event),
    parentCall: call.callId,
    ...(call.status === 'asked' ? { again: true } : {}),
    ...requestOf(event),
  })
}

/** Gives the answer to the tool; if its process is gone, the call starts again. */
function answerQuestion(draft: Draft, index: number, event: Decided<'answer' | 'deny'>): void {
  const { callId, status, question } = draft.callAt(index)
  const { key } = question!
  const given =
    event.decision === 'answer'
      ? { decision: event.decision, value: event.value }
      : { decision: event.decision, ...reasonOf(event) }
  const again = status === 'asked' ? ({ again: true } as const) : {}
  draft.record({ type: 'question.answered', ...draft.at, callId, key, ...given, ...again, ...requestOf(event) })
}

/** Ends a request with the client's result, or with its refusal. */
function endRequest(draft: Draft, index: number, event: Decided<'return' | 'deny'>): void {
  const returned = requestOf(event)
  if (event.decision === 'deny') return synthesize(draft, index, 'denied', event.reason, { returned })
  const { tokens, isReviewed, ...result } = event.result
  if (isReviewed === true) return startReview(draft, index, result, returned)
  const { content, isError } = result
  endCall(draft, index, { content, isError, returned })
  draft.set({ contextTokens: draft.context.contextTokens + tokens })
}

/**
 * Sends a client's result through the steps that follow a tool, as if the tool had run here. If the process dies meanwhile, the client is asked
 * again.
 */
function startReview(
  draft: Draft,
  index: number,
  result: NonNullable<CallInput['returned']>,
  returned: CallState['returned'],
): void {
  const { callId, key, name, input } = draft.callAt(index)
  draft.setCall(index, { status: 'running', ...(returned === undefined ? {} : { returned }) })
  draft.children.push({
    type: 'start',
    src: 'runTool',
    id: callSlot(index),
    input: { agentId: draft.context.agentId, ...draft.at, key, callId, name, input, returned: result },
  })
}
