import type { ConversationNode } from '../../../../../../src/conversation/tree/node.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { NodePlace } from '../../model/conversation/nodePlace.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import type { AgentDialog } from '../agent/headerActions.tsx'
import { ControlButton } from '../../parts/controlButton.tsx'
import { Icon } from '../../parts/icon.tsx'

export interface NodeActionsProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onOpen: (dialog: AgentDialog) => void
  readonly node: ConversationNode
  readonly place: NodePlace
}

/** Actions on a message, each with the reason why it cannot be used. */
export function NodeActions({ inspector, view, node, place, onOpen }: NodeActionsProps) {
  const { id } = node
  const isPinned = view.state.value.conversation.pins().includes(node.stepId)
  const away = whyAway[place]
  return (
    <div class="part-actions">
      <ControlButton
        why={away ?? inspector.controls.value.revert}
        onUse={() => onOpen({ revert: id })}
        label={`Revert to ${formatNodeId(id)}`}
      >
        <Icon name="revert" /> Revert
      </ControlButton>
      {place === 'abandoned' ? <GraftButton inspector={inspector} view={view} node={node} /> : null}
      <ControlButton
        why={inspector.whyNotFork.value}
        onUse={() => onOpen({ fork: id })}
        label={`Fork here, at ${formatNodeId(id)}`}
        kind="quiet"
      >
        <Icon name="fork" /> Fork here
      </ControlButton>
      <PinButton inspector={inspector} view={view} node={node} away={away} />
      <ControlButton
        why={away ?? inspector.controls.value.prune ?? whyNotHidden(node, isPinned)}
        onUse={() => onOpen({ prune: id })}
        label={`Hide ${formatNodeId(id)}`}
        kind="quiet"
      >
        <Icon name="prune" /> Hide
      </ControlButton>
      <MaskButton inspector={inspector} view={view} node={node} away={away} />
      <ShowButton inspector={inspector} view={view} node={node} away={away} />
    </div>
  )
}

const whyAway: Readonly<Record<NodePlace, string | null>> = {
  trunk: null,
  open: 'Its turn has not ended.',
  abandoned: 'It is not on the trunk.',
}

const whyNotHidden = ({ message }: ConversationNode, isPinned: boolean): string | null => {
  if (message.role === 'user') return 'Messages from people cannot be hidden.'
  return isPinned ? 'The step is pinned.' : null
}

/** Hides the content of a step's results from the model, and leaves its calls. The conversation shows a refusal. */
function MaskButton({ inspector, view, node, away }: StepButtonProps) {
  const { conversation } = view.state.value
  const step = formatNodeId(node.id)
  const isPinned = conversation.pins().includes(node.stepId)
  const isMasked = conversation.masks().includes(node.stepId)
  const mask = (): void => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    void inspector.attempt(() => agent.prune({ steps: [step], mask: true }))
  }
  const whyNot = isMasked ? 'The results are already masked.' : whyNotHidden(node, isPinned)
  return (
    <ControlButton
      why={away ?? inspector.controls.value.prune ?? whyNot}
      onUse={mask}
      label={`Mask the results of ${step}`}
      kind="quiet"
    >
      <Icon name="mask" /> Mask
    </ControlButton>
  )
}

/** Shows a hidden, folded or masked step to the model again; nothing for any other step. The conversation shows a refusal. */
function ShowButton({ inspector, view, node, away }: StepButtonProps) {
  const { conversation } = view.state.value
  const step = formatNodeId(node.id)
  const isHidden = conversation.annotations?.hiddenBy(node.stepId) !== undefined
  if (!isHidden && !conversation.masks().includes(node.stepId)) return null
  const show = (): void => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    void inspector.attempt(() => agent.prune({ steps: [step], show: true }))
  }
  return (
    <ControlButton
      why={away ?? inspector.controls.value.prune}
      onUse={show}
      label={`Show the model ${step} again`}
      kind="quiet"
    >
      <Icon name="show" /> Show the model this again
    </ControlButton>
  )
}

interface StepButtonProps extends Pick<NodeActionsProps, 'inspector' | 'view'> {
  readonly node: ConversationNode
  /** Reason why actions on the trunk cannot be used on the step; `null` if they can. */
  readonly away: string | null
}

/** Pins the step of a message, or removes the pin. */
function PinButton({ inspector, view, node, away }: StepButtonProps) {
  const step = formatNodeId(node.id)
  const isPinned = view.state.value.conversation.pins().includes(node.stepId)
  const toggle = (): void => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    void inspector.attempt(() => (isPinned ? agent.unpin(step) : agent.pin(step)))
  }
  return (
    <ControlButton
      why={away ?? inspector.controls.value.pin}
      onUse={toggle}
      label={`${isPinned ? 'Unpin' : 'Pin'} ${step}`}
      kind="quiet"
    >
      <Icon name="pin" /> {isPinned ? 'Unpin' : 'Pin'}
    </ControlButton>
  )
}

/** Brings the step of an abandoned message back. */
function GraftButton({ inspector, view, node }: Omit<StepButtonProps, 'away'>) {
  const step = formatNodeId(node.id)
  const graft = (): void => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    void inspector.attempt(() => agent.graft(step))
  }
  const why =
    node.message.role === 'user' ? 'Messages from people cannot be brought back.' : inspector.controls.value.graft
  return (
    <ControlButton why={why} onUse={graft} label={`Bring back ${step}`}>
      <Icon name="bringBack" /> Bring back
    </ControlButton>
  )
}
