import type { PruneRequest, RevertRequest } from '../protocol/braking.ts'
import type { UndoPlan } from '../protocol/undo.ts'
import type { Conversation } from './conversation.ts'
import type { ConversationNode } from './node.ts'
import { planUndo } from './planUndo.ts'
import { applyPrune } from './prune.ts'
import { applyRevert, planRevert } from './revert.ts'
import { sizesOfPrune, sizesOfRevert } from './trunkSizes.ts'

/** What a change of the trunk would do, before anybody asks for it. */
interface Preview {
  /** What the model would not see any more, oldest first. */
  readonly nodes: readonly ConversationNode[]
  /** Estimated tokens of the trunk as it is shown now. */
  readonly tokens: number
  /** Of these, so many fewer; below zero when what is left in the place takes more. Without the text that is still to be written. */
  readonly freed: number
}

export interface RevertPreview extends Preview {
  /** How many of `nodes` are messages of people: agents refuse to abandon them, unless told to say them again. */
  readonly users: number
  /** What undoing it would take back, and what it would leave, as far as the log tells: what a tool does is known once it has been called. */
  readonly undo: UndoPlan
}

/**
 * What a revert to a step would do; a text says why no agent would do it. What depends on an agent's rules is not looked at: how
 * often it reverts to one step, and messages of people. Pure; costs the length of the conversation.
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

/** What hiding a step, or masking its results, would do; a text says why it would be refused. Pure; costs the length of the conversation. */
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
