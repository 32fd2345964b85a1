import { formatNodeId, type Agent } from '../../../../src/index.ts'
import { scriptedCall } from '../replay.ts'

/**
 * The ids of the steps of the recorded turns that were replayed so far, in order, as a model names them: `n12`. A script's own replies
 * and messages that a revert repeated are no recorded turns.
 */
export function stepNodes(agent: Agent): string[] {
  const own = (content: readonly { readonly type: string }[]): boolean =>
    content.some((block) => 'callId' in block && String(block.callId).startsWith(scriptedCall))
  return agent.conversation
    .log()
    .filter(
      ({ id, stepId, message, rebasedFrom }) => id === stepId && rebasedFrom === undefined && !own(message.content),
    )
    .map(({ id }) => formatNodeId(id))
}
