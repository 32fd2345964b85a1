import type { ConversationNode } from '../../../../../../src/conversation/tree/node.ts'
import type { Message } from '../../../../../../src/protocol/messages.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { NodePlace } from '../../model/conversation/nodePlace.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { sourceWord } from '../../model/words/sourceWord.ts'

interface BadgesProps {
  readonly message: Message
  readonly place: NodePlace
  readonly isPinned: boolean
}

/** Kind of a message, in words. */
export const Badges = ({ message, place, isPinned }: BadgesProps) => (
  <p class="badges">
    <span class={`badge ${place === 'abandoned' ? '' : 'accent'}`}>{place === 'abandoned' ? place : 'trunk'}</span>
    {isPinned ? <span class="badge accent">pinned</span> : null}
    {message.role === 'toolResult' && message.isError ? <span class="badge bad">error</span> : null}
    {message.role === 'toolResult' && message.synthetic !== undefined ? (
      <span class="badge warn">{message.synthetic}</span>
    ) : null}
    {message.role === 'assistant' ? <span class="badge">{message.stopReason}</span> : null}
    {message.role === 'user' ? <span class="badge">{sourceWord(message) ?? message.source}</span> : null}
  </p>
)

/** Place of a message in the conversation, and its time. */
export function Facts({ inspector, node }: { readonly inspector: Inspector; readonly node: ConversationNode }) {
  const { message, tokens, turnIndex, runId, parentId, rebasedFrom, copiedFrom } = node
  return (
    <dl class="pairs">
      <dt>Run</dt>
      <dd class="mono">{runId}</dd>
      <dt>Turn</dt>
      <dd>
        <button type="button" class="link" onClick={() => inspector.go({ view: 'requests', turn: turnIndex })}>
          {turnIndex + 1} (view request)
        </button>
      </dd>
      <dt>After</dt>
      <dd>
        {parentId === null ? (
          'first message'
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
      {copiedFrom === undefined ? null : (
        <>
          <dt>Copy of</dt>
          <dd>
            <button type="button" class="link mono" onClick={() => inspector.go({ node: copiedFrom })}>
              {formatNodeId(copiedFrom)}
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
