import type { JSX } from 'preact'
import type { Block } from '../../../../../../src/protocol/messages.ts'
import { providedText } from '../../../../../../src/protocol/text/messageText.ts'
import type { RequestMessage } from '../../../../../../src/protocol/ports/model.ts'
import { formatCompact } from '../../model/words/numbers.ts'
import type { MessageMark } from '../../model/requests/requestMarks.ts'
import type { RequestReason } from '../../model/requests/requestReason.ts'
import { messageTokens } from '../../model/requests/requestSize.ts'
import { KeptResults, type Keeping } from '../calls/keptResults.tsx'
import { Media } from '../conversation/conversationMedia.tsx'
import { JsonText, LongText } from '../../parts/longText.tsx'

export interface RequestMessageRowProps {
  /** Index of the message in the request. */
  readonly at: number
  readonly message: RequestMessage
  /** Change of the message since the request before; `undefined` if there is no request before. */
  readonly mark: MessageMark | 'gone' | undefined
  readonly reasons: readonly RequestReason[]
  /** Artifacts that the message's texts name, which are kept beside the log. */
  readonly kept: Keeping
  readonly isFull: boolean
  readonly onToggle: () => void
}

const signs = { kept: '=', moved: '≈', new: '+', gone: '−' } as const
const titles = {
  kept: 'unchanged',
  moved: 'unchanged, but after a change',
  new: 'new',
  gone: 'removed',
} as const

const roles = { user: 'User', assistant: 'Assistant', toolResult: 'Tool result' } as const

/** A message of a request, with the reasons why it is there. */
export function RequestMessageRow({
  at,
  message,
  mark,
  reasons,
  kept,
  isFull,
  onToggle,
}: RequestMessageRowProps): JSX.Element {
  return (
    <article class={`request-message ${mark === undefined ? '' : `is-${mark}`}`}>
      <div class="request-sign-place">
        {mark !== undefined && (
          <span class={`request-sign is-${mark}`} title={titles[mark]}>
            <span aria-hidden="true">{signs[mark]}</span>
            <span class="hidden">{titles[mark]}</span>
          </span>
        )}
      </div>
      <div class="conversation-body">
        <div class="conversation-head">
          <span class={`conversation-role is-${message.role}`}>{roles[message.role]}</span>
          {message.role === 'toolResult' && (
            <>
              <span class="mono cut request-tool-of">{message.toolName}</span>
              {message.isError && <span class="badge bad">error</span>}
            </>
          )}
          {reasons.map((reason, index) => (
            <Reason key={index} {...reason} />
          ))}
          <span class="conversation-meta number">
            <span>≈{formatCompact(messageTokens(message))} tok</span>
            <span class="conversation-id">{at}</span>
          </span>
        </div>
        {message.content.map((block, index) => (
          <BlockPart
            key={index}
            block={block}
            isResult={message.role === 'toolResult'}
            isFull={isFull}
            onToggle={onToggle}
          />
        ))}
        <KeptResults of={kept} />
      </div>
    </article>
  )
}

const Reason = ({ word, from, tone }: RequestReason): JSX.Element => (
  <span class={`badge ${tone === 'plain' ? '' : tone}`} title={from}>
    {word}
    {from !== '' && <span class="request-from"> · {from}</span>}
  </span>
)

interface BlockPartProps {
  readonly block: Block
  readonly isResult: boolean
  readonly isFull: boolean
  readonly onToggle: () => void
}

function BlockPart({ block, isResult, isFull, onToggle }: BlockPartProps): JSX.Element {
  switch (block.type) {
    case 'text':
      return <LongText text={block.text} kind={isResult ? 'code' : 'prose'} isFull={isFull} onToggle={onToggle} />
    case 'image':
    case 'file':
      return <Media content={[block]} />
    case 'thinking':
      return (
        <details class="conversation-thought">
          <summary>Thinking{block.signature === undefined ? '' : ', signed'}</summary>
          <LongText text={block.text} />
        </details>
      )
    case 'provider':
      return (
        <div class="request-call">
          <p class="mono">{providedText(block)}</p>
        </div>
      )
    case 'toolCall':
      return (
        <div class="request-call">
          <p>
            <span class="muted">calls</span> <span class="mono conversation-tool">{block.name}</span>{' '}
            <span class="mono faint">{block.callId}</span>
          </p>
          <JsonText value={block.input} isFull={isFull} onToggle={onToggle} />
        </div>
      )
  }
}
