import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import { isRedacted } from '../../redaction/redactor.ts'
import type { Conversation } from '../../conversation/conversation.ts'
import type { AgentInput, CallState } from '../../machines/agentTypes.ts'
import { rebuildContext } from '../../machines/rebuildContext.ts'
import type { History } from '../../sessions/readHistory.ts'

/** What a machine needs to continue from its history: its context, and which calls may run again. */
export function restoreInput(
  { past, records }: Pick<History, 'past' | 'records'>,
  conversation: Conversation,
  definition: AgentDefinition,
  staysPaused = false,
): NonNullable<AgentInput['restored']> {
  const { flags } = definition.policy
  const { queues, annotations, head, lastNodeId } = conversation
  const context = rebuildContext(records, past)
  return {
    context: {
      ...context,
      head,
      lastNodeId,
      ...queues,
      undoing: flags.revert ? context.undoing : null,
      reverts: flags.revert ? [...(annotations?.reverts ?? [])] : null,
      prunes: flags.prune ? [...(annotations?.prunes ?? [])] : null,
      grafts: [...(annotations?.grafts ?? [])],
      pins: [...(annotations?.pins ?? [])],
      compactRequests: flags.compact ? [...(annotations?.compactions ?? [])] : null,
      policyRequests: flags.policies ? [...(annotations?.policyRequests ?? [])] : null,
      contextTokens: Math.round((definition.frameTokens + conversation.trunkTokens) * conversation.correction),
    },
    unapproved: context.calls.filter((call) => isUnapproved(call, definition)).map(({ callId }) => callId),
    mayRerun: [...definition.tools.values()]
      .filter(({ effects }) => effects === 'none' || effects === 'idempotent')
      .map(({ name }) => name),
    staysPaused,
    redacted: context.calls.filter(({ input }) => isRedacted(input)).map(({ callId }) => callId),
  }
}

/** An undecided call of a tool that may need approval: the process died before it asked. */
function isUnapproved({ status, decision, name, input }: CallState, { tools }: AgentDefinition): boolean {
  if (status !== 'ready' || decision !== undefined) return false
  const tool = tools.get(name)
  const parsed = tool?.parse(input)
  if (tool === undefined || parsed?.ok !== true) return false
  try {
    // An asynchronous predicate is not awaited: better to ask a person once too often than not at all.
    return tool.needsApproval(parsed.value) !== false
  } catch {
    return true
  }
}
