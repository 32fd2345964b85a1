import type { JSX } from 'preact'
import type { PartialReply } from '../model/agentView.ts'
import { formatCount } from '../model/numbers.ts'
import { forDisplay } from '../model/shortText.ts'
import { lanesWidth } from './conversationLanes.tsx'

export interface PartialRowProps {
  readonly partial: PartialReply
  readonly gap: number
  readonly lanes: number
}

/** More of a reply that still grows than this is shown once it is there. */
const mostShown = 4_000

const tail = (text: string): string => forDisplay(text.length > mostShown ? `…${text.slice(-mostShown)}` : text)

/** The reply under way, at the end of the trunk. */
export function PartialRow({ partial, gap, lanes }: PartialRowProps): JSX.Element {
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
          <span class="muted">turn {turnIndex}</span>
          <span class="badge accent">
            {text === '' && !isThinking ? 'waiting for the model' : isThinking ? 'thinking' : 'writing'}
          </span>
          <span class="conversation-meta number">{formatCount(text.length + thinking.length)} characters</span>
        </div>
        {isThinking && <div class="conversation-thought">{tail(thinking)}</div>}
        {text !== '' && <div class="conversation-text-body">{tail(text)}</div>}
      </div>
    </div>
  )
}
