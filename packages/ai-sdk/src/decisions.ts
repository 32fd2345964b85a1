import type { DecideOptions, Decision } from '../../../src/protocol/bridge/commands.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import type { Exchange } from './exchange.ts'
import type { ChatInput, GivenMessage, GivenPart } from './readChat.ts'

/** A client's decision about a pending call or question. `callId` is its key. */
export interface Decided {
  readonly callId: string
  readonly decision: Decision
  readonly how?: DecideOptions
}

/** Returns the decisions of a client's message and answers that concern calls and questions still waiting. */
export function decisionsIn(
  agent: DrivenAgent,
  exchange: Exchange | undefined,
  { message, answers }: { readonly message: GivenMessage | undefined; readonly answers: ChatInput['answers'] },
): Decided[] {
  const parts = (message?.parts ?? []).filter(({ type }) => type === 'dynamic-tool' || type.startsWith('tool-'))
  return agent.pending().flatMap(({ kind, agentId, callId, key }): Decided[] => {
    const answer = answers[key]
    if (typeof answer === 'object' && 'decision' in answer)
      return [{ callId: key, decision: answer.decision, how: { grant: answer.grant } }]
    if (answer !== undefined) return [{ callId: key, decision: answer }]
    if (kind === 'question') return []
    const toolCallId = exchange?.callOf(agentId, callId)?.toolCallId
    const part = parts.findLast((candidate) => candidate['toolCallId'] === toolCallId)
    const decided = part && (kind === 'approval' ? approvalIn(part, key) : resultIn(part))
    return decided === undefined ? [] : [{ callId: key, ...decided }]
  })
}

/** States of a part that a client has decided or abandoned: assistant-ui abandons waiting calls when a person sends a message instead. */
const decidedStates: ReadonlySet<unknown> = new Set(['approval-responded', 'output-error'])

/** True if a client's message may decide calls that need an approval. */
export const mayDecide = (message: GivenMessage | undefined): boolean =>
  message?.parts.some((part) => decidedStates.has(part['state'])) === true

function approvalIn(part: GivenPart, key: string): Omit<Decided, 'callId'> | undefined {
  const { errorText } = part
  if (part['state'] === 'output-error')
    return { decision: 'deny', how: typeof errorText === 'string' ? { reason: errorText } : {} }
  const approval = part['approval'] as { id?: unknown; approved?: unknown; reason?: unknown } | null | undefined
  if (part['state'] !== 'approval-responded' || approval?.id !== key) return undefined
  const decision = approval.approved === true ? 'approve' : 'deny'
  return { decision, how: typeof approval.reason === 'string' ? { reason: approval.reason } : {} }
}

/** Result of one of the client's own tools; `undefined` if the part has none. */
function resultIn(part: GivenPart): Omit<Decided, 'callId'> | undefined {
  const { state, output, errorText } = part
  if (state === 'output-available') return { decision: { result: output ?? null } }
  if (state === 'output-error') return { decision: { error: typeof errorText === 'string' ? errorText : 'It failed.' } }
  return undefined
}
