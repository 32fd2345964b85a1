import { sourceWord } from '../model/sourceWord.ts'
import type { NodeId } from '../../protocol/ids.ts'
import { formatNodeId } from '../../protocol/nodeIds.ts'
import type { Block, Message } from '../../protocol/messages.ts'
import { providedText } from '../../protocol/messageText.ts'
import type { ConversationNode } from '../../conversation/node.ts'
import type { FollowedAgent } from '../model/followedAgent.ts'
import type { Inspector } from '../model/inspector.ts'
import { formatCount } from '../model/numbers.ts'
import { ControlButton } from '../parts/controlButton.tsx'
import { CutText } from '../parts/cutText.tsx'
import { Icon } from '../parts/icon.tsx'
import { Artifacts } from './artifacts.tsx'
import { Media } from './conversationMedia.tsx'
import { CallInput } from './callInput.tsx'
import { LongText } from './longText.tsx'
import { JsonTree } from '../parts/jsonTree.tsx'

const roles = { user: 'User message', assistant: 'Reply', toolResult: 'Tool result' } as const

export interface NodeDetailsProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly id: NodeId
  readonly onRevert: (node: NodeId) => void
  readonly onPrune: (node: NodeId) => void
}

/** A message of the conversation: where it stands, what it says, and the way back to it. */
export function NodeDetails({ inspector, view, id, onRevert, onPrune }: NodeDetailsProps) {
  const { conversation, status, at } = view.state.value
  const node = conversation.node(id) ?? conversation.log().find((other) => other.id === id)
  if (node === undefined) {
    if (status === 'loading' || status === 'error') return null
    return <NoSuchNode inspector={inspector} id={id} at={at} />
  }
  const { message, tags } = node
  const isOnTrunk = conversation.trunk()[node.depth - 1]?.id === id
  const why = isOnTrunk ? inspector.controls.value.revert : 'It is not on the trunk.'
  const isPinned = conversation.pins().includes(node.stepId)
  return (
    <section class="details-part" aria-labelledby="node-title">
      <div class="part-title">
        <h2 id="node-title" class="grow">
          <span class="mono">{formatNodeId(id)}</span> {roles[message.role]}
        </h2>
        <button
          type="button"
          class="button quiet square"
          aria-label="Leave the message"
          onClick={() => inspector.go({ node: null }, 'replace')}
        >
          <Icon name="close" />
        </button>
      </div>
      <div class="part-actions">
        <ControlButton why={why} onUse={() => onRevert(id)} label={`Revert to ${formatNodeId(id)}`}>
          <Icon name="revert" /> Revert
        </ControlButton>
        {isOnTrunk ? null : <GraftButton inspector={inspector} view={view} node={node} />}
        <PinButton inspector={inspector} view={view} node={node} isOnTrunk={isOnTrunk} />
        <ControlButton
          why={isOnTrunk ? (inspector.controls.value.prune ?? whyNotHidden(node, isPinned)) : 'It is not on the trunk.'}
          onUse={() => onPrune(id)}
          label={`Hide ${formatNodeId(id)}`}
          kind="quiet"
        >
          <Icon name="prune" /> Hide
        </ControlButton>
        <MaskButton inspector={inspector} view={view} node={node} isOnTrunk={isOnTrunk} />
      </div>
      <Badges message={message} isOnTrunk={isOnTrunk} isPinned={isPinned} />
      <Facts inspector={inspector} node={node} />
      {tags.map((tag) => (
        <div key={`${tag.kind} ${tag.turnIndex}`} class="note">
          <span class="badge accent">{tag.kind}</span>
          <CutText text={tag.text} />
        </div>
      ))}
      {message.content.map((block, index) => (
        <BlockView key={`${id} ${index}`} block={block} isProse={message.role !== 'toolResult'} />
      ))}
      {message.role === 'toolResult' && <Artifacts key={id} artifacts={message.artifacts} showsPictures />}
    </section>
  )
}

interface NoSuchNodeProps extends Pick<NodeDetailsProps, 'inspector' | 'id'> {
  readonly at: number | null
}

function NoSuchNode({ inspector, id, at }: NoSuchNodeProps) {
  const where = at === null ? 'in the conversation of this agent' : `at record ${at}; it may come later`
  return (
    <section class="details-part" aria-labelledby="node-title">
      <h2 id="node-title">{formatNodeId(id)}</h2>
      <p class="problem">
        There is no message {formatNodeId(id)} {where}.
      </p>
      <button type="button" class="button" onClick={() => inspector.go({ node: null }, 'replace')}>
        Clear
      </button>
    </section>
  )
}

const whyNotHidden = ({ message }: ConversationNode, isPinned: boolean): string | null => {
  if (message.role === 'user') return 'What a person said is never hidden.'
  return isPinned ? 'Its step is pinned.' : null
}

/** Hides what the results of a step hold from the model, and leaves its calls. What is refused is said in the conversation. */
function MaskButton({ inspector, view, node, isOnTrunk }: StepButtonProps) {
  const { conversation } = view.state.value
  const step = formatNodeId(node.id)
  const isPinned = conversation.pins().includes(node.stepId)
  const isMasked = conversation.masks().includes(node.stepId)
  const mask = (): void => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    void inspector.attempt(() => agent.prune({ steps: [step], mask: true }))
  }
  const whyNot = isMasked ? 'Its results are masked.' : whyNotHidden(node, isPinned)
  return (
    <ControlButton
      why={isOnTrunk ? (inspector.controls.value.prune ?? whyNot) : 'It is not on the trunk.'}
      onUse={mask}
      label={`Mask the results of ${step}`}
      kind="quiet"
    >
      <Icon name="mask" /> Mask
    </ControlButton>
  )
}

interface StepButtonProps extends Pick<NodeDetailsProps, 'inspector' | 'view'> {
  readonly node: ConversationNode
  readonly isOnTrunk: boolean
}

/** Pins the step of a message, or takes the pin away. */
function PinButton({ inspector, view, node, isOnTrunk }: StepButtonProps) {
  const step = formatNodeId(node.id)
  const isPinned = view.state.value.conversation.pins().includes(node.stepId)
  const toggle = (): void => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    void inspector.attempt(() => (isPinned ? agent.unpin(step) : agent.pin(step)))
  }
  return (
    <ControlButton
      why={isOnTrunk ? inspector.controls.value.pin : 'It is not on the trunk.'}
      onUse={toggle}
      label={`${isPinned ? 'Unpin' : 'Pin'} ${step}`}
      kind="quiet"
    >
      <Icon name="pin" /> {isPinned ? 'Unpin' : 'Pin'}
    </ControlButton>
  )
}

/** Brings the step of an abandoned message back. */
function GraftButton({ inspector, view, node }: Omit<StepButtonProps, 'isOnTrunk'>) {
  const step = formatNodeId(node.id)
  const graft = (): void => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    void inspector.attempt(() => agent.graft(step))
  }
  const why = node.message.role === 'user' ? 'What a person said is never repeated.' : inspector.controls.value.graft
  return (
    <ControlButton why={why} onUse={graft} label={`Bring back ${step}`}>
      <Icon name="graft" /> Bring back
    </ControlButton>
  )
}

interface BadgesProps {
  readonly message: Message
  readonly isOnTrunk: boolean
  readonly isPinned: boolean
}

const Badges = ({ message, isOnTrunk, isPinned }: BadgesProps) => (
  <p class="badges">
    <span class={`badge ${isOnTrunk ? 'accent' : ''}`}>{isOnTrunk ? 'trunk' : 'abandoned'}</span>
    {isPinned ? <span class="badge accent">pinned</span> : null}
    {message.role === 'toolResult' && message.isError ? <span class="badge bad">error</span> : null}
    {message.role === 'toolResult' && message.synthetic !== undefined ? (
      <span class="badge warn">{message.synthetic}</span>
    ) : null}
    {message.role === 'assistant' ? <span class="badge">{message.stopReason}</span> : null}
    {message.role === 'user' ? <span class="badge">{sourceWord(message) ?? message.source}</span> : null}
  </p>
)

function Facts({ inspector, node }: { readonly inspector: Inspector; readonly node: ConversationNode }) {
  const { message, tokens, turnIndex, runId, parentId, rebasedFrom, graftedFrom } = node
  return (
    <dl class="pairs">
      <dt>Run</dt>
      <dd class="mono">{runId}</dd>
      <dt>Turn</dt>
      <dd>
        <button type="button" class="link" onClick={() => inspector.go({ view: 'requests', turn: turnIndex })}>
          {turnIndex + 1}, its request
        </button>
      </dd>
      <dt>After</dt>
      <dd>
        {parentId === null ? (
          'nothing: it is the first'
        ) : (
          <button type="button" class="link mono" onClick={() => inspector.go({ node: parentId })}>
            {formatNodeId(parentId)}
          </button>
        )}
      </dd>
      {rebasedFrom === undefined ? null : (
        <>
          <dt>Repeats</dt>
          <dd class="mono">{formatNodeId(rebasedFrom)}</dd>
        </>
      )}
      {graftedFrom === undefined ? null : (
        <>
          <dt>Copy of</dt>
          <dd>
            <button type="button" class="link mono" onClick={() => inspector.go({ node: graftedFrom })}>
              {formatNodeId(graftedFrom)}
            </button>
          </dd>
        </>
      )}
      <dt>Tokens</dt>
      <dd class="number">{formatCount(tokens)}, estimated</dd>
      {message.role === 'assistant' ? (
        <>
          <dt>Model</dt>
          <dd class="mono">{message.model}</dd>
        </>
      ) : null}
    </dl>
  )
}

function BlockView({ block, isProse }: { readonly block: Block; readonly isProse: boolean }) {
  switch (block.type) {
    case 'text':
      return isProse ? <LongText text={block.text} lines={60} chars={6_000} /> : <CutText text={block.text} />
    case 'thinking':
      return (
        <div class="thinking">
          <span class="faint small">Thinking</span>
          <CutText text={block.text} />
        </div>
      )
    case 'toolCall':
      return (
        <div class="call">
          <span class="mono">
            <strong>{block.name}</strong> <span class="faint">{block.callId}</span>
          </span>
          <CallInput name={block.name} input={block.input} />
        </div>
      )
    case 'provider':
      return (
        <div class="call">
          <span class="mono">{providedText(block)}</span>
          <JsonTree value={block.data} depth={1} />
        </div>
      )
    case 'file':
      return <Media content={[block]} />
    case 'image':
      return 'url' in block ? (
        <Media content={[block]} />
      ) : (
        <img class="image" alt="Image of the message" src={`data:${block.mimeType};base64,${block.data}`} />
      )
  }
}
