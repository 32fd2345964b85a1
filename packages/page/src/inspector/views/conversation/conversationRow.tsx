import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { hitMarks } from '../../model/search/hitMarks.ts'
import type { VisibleRow } from '../../model/conversation/graphVisible.ts'
import { CallBody } from './conversationCall.tsx'
import { Lanes, lanesWidth } from './conversationLanes.tsx'
import { MessageBody } from './conversationMessage.tsx'
import { RepeatBody } from './conversationRepeat.tsx'
import { FoldBody, MemoBody, NoticeBody, TagBody } from './conversationNotes.tsx'
import { stopping } from '../../parts/stopping.ts'

export interface ConversationRowProps {
  readonly id: string
  readonly shown: VisibleRow
  /** Version of the row, which changes in place. */
  readonly version: number
  readonly level: number
  readonly position: number
  readonly count: number
  readonly gap: number
  readonly lanes: number
  readonly isActive: boolean
  readonly isSelected: boolean
  readonly isFull: boolean
  /** True for the newest answer. */
  readonly isAnswer: boolean
  /** Time of the row above, in epoch milliseconds. */
  readonly before: number | undefined
  readonly onSelect: (shown: VisibleRow) => void
  readonly onToggle: (key: string) => void
  readonly onToggleFull: (key: string) => void
}

/** One row of the conversation. It is rendered again only when something in it has changed. */
export function ConversationRow(props: ConversationRowProps): JSX.Element {
  const { shown, version, level, position, count, gap, lanes, isActive, isSelected, isFull, isAnswer, before } = props
  const { row, isOpen, passing, isJoined, goesOn, isInForce, hidden } = shown
  const drawn = [row, version, level, isOpen, passing, isJoined, goesOn, isInForce, hidden, gap, lanes]
  return useMemo(
    () => <Drawn {...props} />,
    [...drawn, position, count, isActive, isSelected, isFull, isAnswer, before],
  )
}

function Drawn(props: ConversationRowProps): JSX.Element {
  const { id, shown, level, position, count, gap, lanes, isActive, isSelected, onSelect, onToggle } = props
  const { row, isOpen } = shown
  const pruned = 'pruned' in row ? row.pruned : undefined
  const isFolded = pruned?.by === 'runtime'
  const classes = [
    'conversation-row',
    `is-${row.type}`,
    row.lane > 0 ? 'is-abandoned' : '',
    pruned === undefined ? '' : isFolded ? 'is-folded' : 'is-pruned',
    isActive ? 'is-active' : '',
    isSelected ? 'is-selected' : '',
    'nodeId' in row && hitMarks.value.nodes.has(row.nodeId) ? 'is-hit' : '',
  ]
  return (
    <div
      id={id}
      class={classes.filter(Boolean).join(' ')}
      role="treeitem"
      aria-level={level}
      aria-posinset={position}
      aria-setsize={count}
      aria-expanded={isOpen}
      aria-selected={isSelected}
      onClick={() => onSelect(shown)}
    >
      <Lanes shown={shown} gap={gap} lanes={lanes} />
      <div class="conversation-body" style={{ marginLeft: `${lanesWidth(gap, lanes)}px` }}>
        {row.lane > 0 && <span class="hidden">abandoned: </span>}
        {pruned !== undefined && <span class="hidden">{isFolded ? 'folded: ' : 'pruned: '}</span>}
        <Body
          {...props}
          toggle={isOpen === undefined ? null : <Chevron isOpen={isOpen} onToggle={() => onToggle(row.key)} />}
        />
      </div>
    </div>
  )
}

export interface BodyProps extends ConversationRowProps {
  /** Button that opens and closes the row; the keyboard does so from the tree. */
  readonly toggle: JSX.Element | null
}

function Body({ shown, before, isFull, isAnswer, onToggleFull, onToggle, toggle }: BodyProps): JSX.Element {
  const { row, isOpen = false } = shown
  const text = { isFull, onToggle: () => onToggleFull(row.key) }
  switch (row.type) {
    case 'message':
      return (
        <MessageBody row={row} before={before} toggle={toggle} text={text} hidden={shown.hidden} isAnswer={isAnswer} />
      )
    case 'call':
      return <CallBody row={row} isOpen={isOpen} toggle={toggle} onToggle={() => onToggle(row.key)} />
    case 'tag':
      return <TagBody row={row} isOpen={isOpen} toggle={toggle} hidden={shown.hidden} work={shown.work} text={text} />
    case 'fold':
      return <FoldBody row={row} isInForce={shown.isInForce} toggle={toggle} hidden={shown.hidden} text={text} />
    case 'memo':
      return <MemoBody row={row} text={text} />
    case 'repeat':
      return <RepeatBody row={row} toggle={toggle} />
    case 'notice':
      return <NoticeBody row={row} />
  }
}

function Chevron({ isOpen, onToggle }: { readonly isOpen: boolean; readonly onToggle: () => void }): JSX.Element {
  return (
    <span class={`conversation-chevron ${isOpen ? 'is-open' : ''}`} onClick={stopping(onToggle)} aria-hidden="true">
      <svg width="12" height="12" viewBox="0 0 12 12">
        <path d="M4.5 2.5 8 6 4.5 9.5" />
      </svg>
    </span>
  )
}
