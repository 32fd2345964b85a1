import { sourceWord } from '../../model/words/sourceWord.ts'
import type { JSX } from 'preact'
import { estimateTokens } from '../../../../../../src/conversation/limits/tokenCounter.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { AssistantMessage, Block } from '../../../../../../src/protocol/messages.ts'
import { providedText, textOf } from '../../../../../../src/protocol/text/messageText.ts'
import type { MessageRow } from '../../model/conversation/graphRow.ts'
import { dayTime, exactTime } from '../../model/words/dayTime.ts'
import { formatCompact, formatCount, formatShare } from '../../model/words/numbers.ts'
import { counted } from '../../../../../charts/src/amounts.ts'
import { CopyButton } from '../../parts/copyButton.tsx'
import { PrunedBadge } from '../../parts/prunedBadge.tsx'
import { Media } from './conversationMedia.tsx'
import { LongText } from '../../parts/longText.tsx'

/** Size up to which the newest answer is shown, about two screens. */
const answerSize = { lines: 80, chars: 6_000 } as const

export interface TextState {
  readonly isFull: boolean
  readonly onToggle: () => void
}

export interface MessageBodyProps {
  readonly row: MessageRow
  /** Time of the row above, in epoch milliseconds. */
  readonly before: number | undefined
  readonly toggle: JSX.Element | null
  readonly text: TextState
  /** Number of calls that are not shown. */
  readonly hidden: number
  /** True for the newest answer, which is what a person came to read. */
  readonly isAnswer: boolean
}

/** A message of a person or of the model. */
export function MessageBody({ row, before, toggle, text, hidden, isAnswer }: MessageBodyProps): JSX.Element {
  const { message, nodeId, turnIndex, rebasedFrom, copiedFrom, pruned, isPinned = false } = row
  const isUser = message.role === 'user'
  const said = textOf(message.content)
  const thought = thinkingOf(message.content)
  const source = isUser ? sourceWord(message) : undefined
  return (
    <>
      <div class="conversation-head">
        <span class={`conversation-role is-${message.role}`}>{isUser ? 'User' : 'Assistant'}</span>
        {!isUser && <span class="muted conversation-turn">turn {turnIndex + 1}</span>}
        {source !== undefined && <span class="badge">{source}</span>}
        {rebasedFrom !== undefined && (
          <span
            class="badge accent"
            title="A revert would have removed this message from the trunk, so it was repeated"
          >
            repeat of {formatNodeId(rebasedFrom)}
          </span>
        )}
        {copiedFrom !== undefined && (
          <span class="badge accent" title="Copied from an abandoned branch; no tool ran again">
            copy of {formatNodeId(copiedFrom)}
          </span>
        )}
        {!isUser && <StopBadge message={message} />}
        {pruned !== undefined && <PrunedBadge pruned={pruned} />}
        {isPinned && (
          <span class="badge accent" title="Always visible to the model">
            pinned
          </span>
        )}
        {toggle}
        {hidden > 0 && <span class="muted">{counted(hidden, 'call')}</span>}
        <span class="conversation-meta number">
          {said !== '' && <CopyButton text={() => said} label={`Copy ${formatNodeId(nodeId)}`} />}
          {isUser ? <Estimate message={message} /> : <Used message={message} />}
          <time class="conversation-time" title={exactTime(row.time)}>
            {dayTime(row.time, before)}
          </time>
          <span class="conversation-id">{formatNodeId(nodeId)}</span>
        </span>
      </div>
      {thought !== '' && <Thought text={thought} />}
      {message.content.map((block, index) =>
        block.type === 'provider' ? (
          <p key={index} class="mono muted">
            {providedText(block)}
          </p>
        ) : null,
      )}
      {said !== '' && <LongText text={said} {...(isAnswer ? answerSize : {})} {...text} />}
      <Media content={message.content} />
    </>
  )
}

const thinkingOf = (content: readonly Block[]): string =>
  content.flatMap((block) => (block.type === 'thinking' ? [block.text] : [])).join('\n\n')

function Thought({ text }: { readonly text: string }): JSX.Element {
  return (
    <details class="conversation-thought" onClick={(event) => event.stopPropagation()}>
      <summary>Thinking · {formatCount(text.length)} characters</summary>
      <LongText text={text} />
    </details>
  )
}

const stops: Readonly<Record<AssistantMessage['stopReason'], string | undefined>> = {
  stop: undefined,
  toolUse: undefined,
  length: 'cut off at its length limit',
  refusal: 'refused',
  aborted: 'aborted',
}

function StopBadge({ message }: { readonly message: AssistantMessage }): JSX.Element | null {
  const label = stops[message.stopReason]
  return label === undefined ? null : <span class="badge warn">{label}</span>
}

function Estimate({ message }: { readonly message: MessageRow['message'] }): JSX.Element {
  const tokens = estimateTokens.message(message)
  return <span title={`about ${counted(tokens, 'token')}`}>≈{formatCompact(tokens)} tok</span>
}

function Used({ message }: { readonly message: AssistantMessage }): JSX.Element {
  const { input, output, cacheRead, cacheWrite } = message.usage
  const sent = input + cacheRead + cacheWrite
  if (sent + output === 0) return <Estimate message={message} />
  const share = sent === 0 ? 0 : cacheRead / sent
  const title = `${counted(sent, 'token')} in (${formatCount(cacheRead)} from the cache), ${formatCount(output)} out`
  return (
    <span title={title}>
      {formatCompact(sent)} in · {formatCompact(output)} out
      {share > 0 && <span class="conversation-wide"> · {formatShare(share)} cached</span>}
    </span>
  )
}
