import { isOfProgram } from '../../protocol/asked.ts'
import { isRemembered } from '../../protocol/remembered.ts'
import type { UserMessage, UserSource } from '../../protocol/messages.ts'

const sources: Readonly<Record<UserSource, string | undefined>> = {
  prompt: undefined,
  steering: 'steering',
  followUp: 'follow-up',
}

/** How a user message came, if not as a prompt. Pure. */
export const sourceWord = ({ source, provenance }: Pick<UserMessage, 'source' | 'provenance'>): string | undefined =>
  isRemembered(provenance)
    ? `from memory, ${provenance.tier}`
    : provenance?.type === 'report'
      ? `report of ${provenance.agentId}`
      : isOfProgram(provenance)
        ? 'of an MCP client'
        : sources[source]
