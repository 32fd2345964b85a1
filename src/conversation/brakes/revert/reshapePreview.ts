import type { PruneRequest, RevertRequest } from '../../../protocol/braking.ts'
import type { UndoPlan } from '../../../protocol/undo.ts'
import type { Conversation } from '../../tree/conversation.ts'
import type { ConversationNode } from '../../tree/node.ts'
import { planUndo } from './planUndo.ts'
import { applyPrune } from '../prune/prune.ts'
import { applyRevert, planRevert } from './revert.ts'
import { sizesOfPrune, sizesOfRevert } from '../../limits/trunkSizes.ts'

/** Effect of a change of the trunk, computed before the change is requested. */
interface Preview {
  /** Nodes that the model would not see any more, oldest first. */
  readonly nodes: readonly ConversationNode[]
  /** Estimated tokens of the trunk as it is shown. */
  readonly tokens: number
  /** Tokens by which the trunk would shrink; below zero when the replacement takes more. The text that is still to be written is not counted. */
  readonly freed: number
}

export interface RevertPreview extends Preview {
  /** How many of `nodes` are messages of people: agents refuse to abandon them, unless told to say them again. */
  readonly users: number
  /**
   * Calls that undoing would take back, and those that it would leave, as far as the log tells: the effects of a tool are known once it has been
   * called.
   */
  readonly undo: UndoPlan
}

/**
 * Previews a revert to a step; a text says why no agent would do it. Rules that depend on the agent are not checked: how often it reverts to one
 * step, and messages of people. Pure; costs the length of the conversation.
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

/** Previews the hiding of a step, or the masking of its results; a text says why it would be refused. Pure; costs the length of the conversation. */
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

/** Tools whose calls could be undone when they were made. */
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
