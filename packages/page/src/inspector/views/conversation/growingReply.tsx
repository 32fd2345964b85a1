import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { GrowingMarkdown } from '../../../../../charts/src/text/growingMarkdown.ts'
import type { PartialReply } from '../../model/agent/agentView.ts'
import { growingTail, textTail, type TailPlace } from '../../model/conversation/growingTail.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { isRaw } from '../../model/words/rawText.ts'
import { forDisplay } from '../../model/words/shortText.ts'
import { readMarkdown } from '../../parts/laterMarkdown.ts'
import { lanesWidth } from './conversationLanes.tsx'

export interface GrowingReplyProps {
  readonly partial: PartialReply
  readonly gap: number
  readonly lanes: number
  /** Returns true while the list follows its end. */
  readonly isFollowing: () => boolean
}

/** Number of characters of a growing reply shown to a person who follows its end. The rest is shown once the reply is complete. */
const mostShown = 4_000

/** The reply under way, at the end of the trunk. */
export function GrowingReply({ partial, gap, lanes, isFollowing }: GrowingReplyProps): JSX.Element {
  const { text, thinking, turnIndex } = partial
  const isThinking = text === '' && thinking !== ''
  return (
    <div class="conversation-row is-partial" role="treeitem" aria-level={1} aria-busy="true">
      <svg class="conversation-lanes" width={lanesWidth(gap, lanes)} height="100%" aria-hidden="true">
        <line class="is-trunk" x1="10" x2="10" y1="0" y2="18" />
        <circle class="mark is-partial" cx="10" cy="18" r="4.5" />
      </svg>
      <div class="conversation-body" style={{ marginLeft: `${lanesWidth(gap, lanes)}px` }}>
        <div class="conversation-head">
          <span class="conversation-role is-assistant">Assistant</span>
          <span class="muted">turn {turnIndex + 1}</span>
          <span class="badge accent">
            {text === '' && !isThinking ? 'waiting for the model' : isThinking ? 'thinking' : 'writing'}
          </span>
          <span class="conversation-meta number">{formatCount(text.length + thinking.length)} characters</span>
        </div>
        {isThinking && <Growing key="thinking" text={thinking} isThought isFollowing={isFollowing} />}
        {text !== '' && <Growing key="text" text={text} isFollowing={isFollowing} />}
      </div>
    </div>
  )
}

interface GrowingProps extends Pick<GrowingReplyProps, 'isFollowing'> {
  readonly text: string
  readonly isThought?: boolean
}

/** Text that the model has written so far. Only new text is parsed and drawn. The part that a person reads keeps its beginning. */
function Growing({ text, isThought = false, isFollowing }: GrowingProps): JSX.Element {
  const growing = useRef<GrowingMarkdown | undefined>(undefined)
  const place = useRef<TailPlace>({ first: 0, skipped: 0 })
  const [isWhole, setWhole] = useState(false)
  const kept = isWhole ? { first: 0, skipped: 0 } : isFollowing() ? undefined : place.current
  const rich = isThought || isRaw.value ? null : readMarkdown()
  if (rich !== null && growing.current?.source !== text) growing.current = rich.growMarkdown(text, growing.current)
  const markdown = rich === null ? undefined : growingTail(growing.current!, mostShown, kept)
  const tail = markdown ?? textTail(text, mostShown, kept)
  place.current = tail
  return (
    <div class={isThought ? 'conversation-thought' : 'conversation-text is-growing'}>
      {tail.isCut && (
        <button type="button" class="link small" onClick={() => setWhole(true)}>
          Show from the beginning
        </button>
      )}
      {rich === null || markdown === undefined ? (
        <div class={isThought ? undefined : 'conversation-text-body'} dir="auto">
          {forDisplay(text.slice(tail.skipped))}
        </div>
      ) : (
        <rich.Markdown blocks={markdown.blocks} first={markdown.first} isGrowing />
      )}
    </div>
  )
}
