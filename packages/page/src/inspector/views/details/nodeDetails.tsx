import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { Block, ToolCallBlock } from '../../../../../../src/protocol/messages.ts'
import { providedText } from '../../../../../../src/protocol/text/messageText.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import type { AgentDialog } from '../agent/headerActions.tsx'
import { CutText } from '../../parts/cutText.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Media } from '../conversation/conversationMedia.tsx'
import { LongText } from '../../parts/longText.tsx'
import { CallOutput } from './callOutput.tsx'
import { placeOf } from '../../model/conversation/nodePlace.ts'
import { stateAtNode } from '../../model/conversation/stateAtNode.ts'
import { NodeActions } from './nodeActions.tsx'
import { CallFacts, CallPart, useCalls } from './nodeCall.tsx'
import { Badges, Facts } from './nodeFacts.tsx'
import { NodeState } from './nodeState.tsx'
import { JsonTree } from '../../parts/jsonTree.tsx'

const roles = { user: 'User message', assistant: 'Reply', toolResult: 'Tool result' } as const

export interface NodeDetailsProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly id: NodeId
  readonly onOpen: (dialog: AgentDialog) => void
}

/** A message of the conversation: its place, its content, and the actions on it. */
export function NodeDetails({ inspector, view, id, onOpen }: NodeDetailsProps) {
  const { conversation, status, at } = view.state.value
  const calls = useCalls(view)
  const node = conversation.node(id) ?? conversation.log().find((other) => other.id === id)
  if (node === undefined) {
    if (status === 'loading' || status === 'error') return null
    const reply = conversation.log().findLast(({ message }) => message.role === 'assistant')
    const open = reply?.message.content.filter(({ type }) => type === 'toolCall').length ?? 0
    const isToCome = reply !== undefined && id > reply.id && id <= reply.id + open
    return <NoSuchNode inspector={inspector} id={id} at={at} isToCome={isToCome} />
  }
  const { message, tags } = node
  const place = placeOf(conversation, node)
  // A copy has the calls of what it repeats.
  const source = node.copiedFrom ?? id
  const call = message.role === 'toolResult' ? calls.ofResult(source) : undefined
  const toNode = (to: NodeId): void => inspector.go({ node: to })
  const state = stateAtNode(conversation, node)
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
          aria-label="Close the message"
          onClick={() => inspector.go({ node: null }, 'replace')}
        >
          <Icon name="close" />
        </button>
      </div>
      <NodeActions inspector={inspector} view={view} node={node} place={place} onOpen={onOpen} />
      <Badges message={message} place={place} isPinned={isPinned} />
      <Facts inspector={inspector} node={node} />
      {tags.map((tag) => (
        <div key={`${tag.kind} ${tag.turnIndex}`} class="note">
          <span class="badge accent">{tag.kind}</span>
          <CutText text={tag.text} />
        </div>
      ))}
      {message.role === 'toolResult' ? (
        <>
          {call === undefined ? null : <CallFacts call={call} onNode={toNode} isOfResult />}
          <CallOutput key={id} message={message} data={call?.result?.data} input={call?.ranWith?.input ?? call?.input}>
            {message.content.map((block, index) => (
              <BlockView key={`${id} ${index}`} block={block} isProse={false} />
            ))}
          </CallOutput>
        </>
      ) : (
        message.content.map((block, index) =>
          block.type === 'toolCall' ? (
            <CallPart key={`${id} ${index}`} block={block} call={calls.ofReply(source, block.callId)} onNode={toNode} />
          ) : (
            <BlockView key={`${id} ${index}`} block={block} isProse />
          ),
        )
      )}
      {state === undefined ? null : <NodeState key={`state ${id}`} state={state} />}
    </section>
  )
}

interface NoSuchNodeProps extends Pick<NodeDetailsProps, 'inspector' | 'id'> {
  readonly at: number | null
  /** True if the node is the place of the result of a call that has not ended. */
  readonly isToCome: boolean
}

function NoSuchNode({ inspector, id, at, isToCome }: NoSuchNodeProps) {
  const where = at === null ? 'in this conversation' : `at record ${at}. It may come later`
  return (
    <section class="details-part" aria-labelledby="node-title">
      <h2 id="node-title">{formatNodeId(id)}</h2>
      {isToCome ? (
        <p>This call has not finished.</p>
      ) : (
        <p class="problem">
          There is no message {formatNodeId(id)} {where}.
        </p>
      )}
      <button type="button" class="button" onClick={() => inspector.go({ node: null }, 'replace')}>
        Clear
      </button>
    </section>
  )
}

function BlockView({ block, isProse }: { readonly block: Exclude<Block, ToolCallBlock>; readonly isProse: boolean }) {
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
        <img class="image" alt="Image in the message" src={`data:${block.mimeType};base64,${block.data}`} />
      )
  }
}
