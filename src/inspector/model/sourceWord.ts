import type { UserMessage, UserSource } from '../../protocol/messages.ts'

const sources: Readonly<Record<UserSource, string | undefined>> = {
  prompt: undefined,
  steering: 'steering',
  followUp: 'follow-up',
}

/** How a user message came, if not as a prompt. Pure. */
export const sourceWord = ({ source, provenance }: Pick<UserMessage, 'source' | 'provenance'>): string | undefined =>
  provenance?.type === 'report' ? `report of ${provenance.agentId}` : sources[source]
