import type { Provenance, ProvenanceKind } from '../../../../../../src/protocol/provenance.ts'

/** Reason why a message is in a request: a word for its kind, and its origin. */
export interface RequestReason {
  readonly word: string
  readonly from: string
  readonly tone: 'plain' | 'accent' | 'warn'
}

type Reasons = { readonly [T in ProvenanceKind['type']]: (kind: Extract<ProvenanceKind, { type: T }>) => RequestReason }

const words = { user: 'prompt', assistant: 'reply', toolResult: 'tool result' } as const

const notes: Readonly<Record<string, string>> = {
  memo: 'memo of a prune or fold',
  index: 'index of folded steps',
  refusal: 'refused revert or prune',
  mcp: 'task of an MCP client',
}

const reasons: Reasons = {
  systemPrompt: () => ({ word: 'instructions', from: 'the system prompt', tone: 'plain' }),
  identityBlock: ({ name, order }) => ({ word: 'identity', from: `block "${name}", place ${order}`, tone: 'accent' }),
  memoryTier: ({ tier, recordId }) => ({ word: 'memory', from: `${tier}, record ${recordId}`, tone: 'accent' }),
  loopTurn: ({ turnIndex, role }) => ({ word: words[role], from: `turn ${turnIndex + 1}`, tone: 'plain' }),
  steering: () => ({ word: 'steering', from: 'steering', tone: 'accent' }),
  followUp: () => ({ word: 'follow-up', from: 'follow-up', tone: 'accent' }),
  note: ({ kind }) => ({
    word: notes[kind] ?? kind,
    from: notes[kind] === undefined ? 'left by a revert' : '',
    tone: 'warn',
  }),
  summary: () => ({ word: 'summary', from: 'of a compaction', tone: 'warn' }),
  imported: () => ({ word: 'history', from: 'of another system', tone: 'plain' }),
  report: ({ agentId, name }) => ({ word: 'report', from: `of ${name}, ${agentId}`, tone: 'accent' }),
  schedule: ({ id }) => ({ word: 'schedule', from: id, tone: 'plain' }),
  unknown: () => ({ word: 'unknown', from: 'not recorded', tone: 'plain' }),
}

/** Returns the reason why a message is in a request; several reasons if messages were merged into one. Pure. */
export const requestReasons = (provenance: Provenance | undefined): RequestReason[] => {
  const { merged = [], ...first } = provenance ?? { type: 'unknown' as const }
  return [first, ...merged].map((kind) => (reasons[kind.type] as (kind: ProvenanceKind) => RequestReason)(kind))
}
