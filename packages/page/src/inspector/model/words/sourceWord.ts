import { isOfProgram } from '../../../../../../src/protocol/asked.ts'
import { isRemembered } from '../../../../../../src/protocol/remembered.ts'
import type { UserMessage, UserSource } from '../../../../../../src/protocol/messages.ts'

const sources: Readonly<Record<UserSource, string | undefined>> = {
  prompt: undefined,
  steering: 'steering',
  followUp: 'follow-up',
}

/** Returns a word for the origin of a user message that is no prompt. Pure. */
export const sourceWord = ({ source, provenance }: Pick<UserMessage, 'source' | 'provenance'>): string | undefined =>
  isRemembered(provenance)
    ? `from memory, ${provenance.tier}`
    : provenance?.type === 'report'
      ? `report of ${provenance.agentId}`
      : provenance?.type === 'schedule'
        ? `of the schedule ${provenance.id}`
        : isOfProgram(provenance)
          ? 'of an MCP client'
          : sources[source]
