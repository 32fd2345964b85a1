import type { PruneRequest, RevertRequest } from '../../../../../../src/protocol/braking.ts'
import type { UndoPlan } from '../../../../../../src/protocol/undo.ts'
import type { Conversation } from '../../../../../../src/conversation/tree/conversation.ts'
import type { ConversationNode } from '../../../../../../src/conversation/tree/node.ts'
import { planUndo } from '../../../../../../src/conversation/brakes/revert/planUndo.ts'
import { applyPrune } from '../../../../../../src/conversation/brakes/prune/planPrune.ts'
import { applyRevert, planRevert } from '../../../../../../src/conversation/brakes/revert/planRevert.ts'
import { sizesOfPrune, sizesOfRevert } from '../../../../../../src/conversation/limits/trunkSizes.ts'

/** Effect of a change of the trunk, computed before the change is requested. */
interface Preview {
  /** Nodes that the model would no longer see, oldest first. */
  readonly nodes: readonly ConversationNode[]
  /** Estimated tokens of the trunk as it is shown. */
  readonly tokens: number
  /** Tokens by which the trunk would shrink, negative if the replacement is larger. Text that is still to be written is not counted. */
  readonly freed: number
}

export interface RevertPreview extends Preview {
  /** Number of `nodes` that are messages of people. Agents refuse to abandon them unless they may append them again. */
  readonly users: number
  /** Calls that would be undone, and calls that would not, according to the log. The effects of a tool are known once it has been called. */
  readonly undo: UndoPlan
}

/**
 * Previews a revert to a step. Returns a text with the reason if every agent would refuse it. Rules that depend on the agent are not checked: the
 * number of reverts to one step, and messages of people. Pure; the cost grows with the length of the conversation.
 */
export function previewRevert(
  conversation: Conversation,
  asked: Pick<RevertRequest, 'step' | 'category' | 'undo'>,
): RevertPreview | string {
  const request: RevertRequest = { ...asked, id: '', by: 'person' }
  const plan = planRevert(conversation, request, { maxRevertsPerTarget: Infinity, onUserMessage: 'rebase' })
  if (typeof plan === 'string') return plan
  const { span, users } = plan
  const undo = planUndo(conversation, span, effectsSeen(conversation))
  const at = { turnIndex: 0, lastNodeId: conversation.lastNodeId }
  const outcome = applyRevert(request, asked.undo === true ? { ...plan, undo } : plan, { text: '' }, at)
  const { before, after } = sizesOfRevert(conversation, outcome)
  return { nodes: span, users: users.length, undo, tokens: before, freed: Math.round(before - after) }
}

/**
 * Previews hiding a step or masking its results. Returns a text with the reason if it would be refused. Pure; the cost grows with the length of the
 * conversation.
 */
export function previewPrune(
  conversation: Conversation,
  { step, mask }: Pick<PruneRequest, 'mask'> & { readonly step: string },
): Preview | string {
  const request: PruneRequest = { id: '', by: 'person', steps: [step], ...(mask === undefined ? {} : { mask }) }
  const outcome = applyPrune(conversation, request)
  if (!outcome.applied) return outcome.reason ?? 'prune refused'
  const { before, after } = sizesOfPrune(conversation, outcome)
  const nodes = conversation.path.filter(({ stepId }) => outcome.steps.includes(stepId))
  return { nodes, tokens: before, freed: Math.round(before - after) }
}

/** Finds the tools whose calls could be undone at the time of the call. */
function effectsSeen(conversation: Conversation): (tool: string) => 'reversible' | undefined {
  const tools = new Set(
    conversation
      .log()
      .flatMap(({ message, reversible }) =>
        message.role === 'toolResult' && reversible !== undefined ? [message.toolName] : [],
      ),
  )
  return (tool) => (tools.has(tool) ? 'reversible' : undefined)
}
