import type { AgentDefinition } from '../actors/agentDefinition.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { AgentInput } from '../machines/agentTypes.ts'
import { rebuildContext } from '../machines/rebuildContext.ts'
import type { LogRecord } from '../protocol/records.ts'

/** What a machine needs to go on from a log: its context, and which calls may run again. */
export function restoreInput(
  records: readonly LogRecord[],
  conversation: Conversation,
  definition: AgentDefinition,
): NonNullable<AgentInput['restored']> {
  const { flags } = definition.policy
  const { queues, annotations, head, lastNodeId } = conversation
  return {
    context: {
      ...rebuildContext(records),
      head,
      lastNodeId,
      ...queues,
      reverts: flags.revert ? [...(annotations?.reverts ?? [])] : null,
      prunes: flags.prune ? [...(annotations?.prunes ?? [])] : null,
      contextTokens: Math.round((definition.frameTokens + conversation.trunkTokens) * conversation.correction),
    },
    mayRerun: [...definition.tools.values()]
      .filter(({ effects }) => effects !== 'irreversible')
      .map(({ name }) => name),
  }
}
