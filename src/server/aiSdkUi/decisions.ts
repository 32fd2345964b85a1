import type { DecideOptions, Decision } from '../../protocol/commands.ts'
import type { DrivenAgent } from '../bridge/drivenAgent.ts'
import type { Exchange } from './exchange.ts'
import type { ChatInput, GivenMessage, GivenPart } from './readChat.ts'

/** What a client decided of something that waits, by its key. */
export interface Decided {
  readonly callId: string
  readonly decision: Decision
  readonly how?: DecideOptions
}

/** What a client's message and its answers decide of what still waits; what does not wait any more is left out. */
export function decisionsIn(
  agent: DrivenAgent,
  exchange: Exchange | undefined,
  { message, answers }: { readonly message: GivenMessage | undefined; readonly answers: ChatInput['answers'] },
): Decided[] {
  const parts = (message?.parts ?? []).filter(({ type }) => type === 'dynamic-tool' || type.startsWith('tool-'))
  return agent.pending().flatMap(({ kind, agentId, callId, key }): Decided[] => {
    const answer = answers[key]
    if (answer !== undefined) return [{ callId: key, decision: answer }]
    if (kind === 'question') return []
    const toolCallId = exchange?.callOf(agentId, callId)?.toolCallId
    const part = parts.findLast((candidate) => candidate['toolCallId'] === toolCallId)
    const decided = part && (kind === 'approval' ? approvalIn(part, key) : resultIn(part))
    return decided === undefined ? [] : [{ callId: key, ...decided }]
  })
}

function approvalIn(part: GivenPart, key: string): Omit<Decided, 'callId'> | undefined {
  const approval = part['approval'] as { id?: unknown; approved?: unknown; reason?: unknown } | null | undefined
  if (part['state'] !== 'approval-responded' || approval?.id !== key) return undefined
  const decision = approval.approved === true ? 'approve' : 'deny'
  return { decision, how: typeof approval.reason === 'string' ? { reason: approval.reason } : {} }
}

/** What a tool of the client's own returned. */
function resultIn(part: GivenPart): Omit<Decided, 'callId'> | undefined {
  const { state, output, errorText } = part
  if (state === 'output-available') return { decision: { result: output ?? null } }
  if (state === 'output-error') return { decision: { error: typeof errorText === 'string' ? errorText : 'It failed.' } }
  return undefined
}
