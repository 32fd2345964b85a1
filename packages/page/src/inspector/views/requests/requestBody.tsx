import { useSignal, type Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { counted } from '../../../../../charts/src/amounts.ts'
import type { ConversationView } from '../../../../../../src/conversation/tree/conversationView.ts'
import { keptIn } from '../../model/calls/keptResults.ts'
import { formatCompact } from '../../model/words/numbers.ts'
import { requestReasons } from '../../model/requests/requestReason.ts'
import { changedRows, type ComparedRequest, type RequestRow } from '../../model/requests/requestRows.ts'
import { messageTokens } from '../../model/requests/requestSize.ts'
import { toggled } from '../../model/words/toggled.ts'
import { RequestMessageRow } from './requestMessage.tsx'
import { SettingsPart, SystemPart, ToolsPart } from './requestParts.tsx'
import { Rows, useRowScroll } from '../../parts/rowScroll.tsx'

export interface RequestBodyProps {
  readonly compared: ComparedRequest
  readonly rows: readonly RequestRow[]
  /** Index of the change that the person went to. */
  readonly place: number
  readonly showsSame: Signal<boolean>
  readonly showsGone: Signal<boolean>
  /** Conversation whose results have the artifacts that the messages name. */
  readonly conversation: ConversationView
}

/** A request in its parts: system, tools, settings, and every message; unchanged messages are one line. */
export function RequestBody({
  compared,
  rows,
  place,
  showsSame,
  showsGone,
  conversation,
}: RequestBodyProps): JSX.Element {
  const { request, provenance, old } = compared
  const scroller = useRef<HTMLDivElement>(null)
  /** Keys of the messages shown in full. */
  const full = useSignal<ReadonlySet<string>>(new Set())
  const scroll = useRowScroll({
    count: rows.length,
    keyOf: useCallback((index: number) => keyOf(rows[index]!), [rows]),
    estimate: useCallback((index: number) => (rows[index]!.type === 'message' ? 96 : 36), [rows]),
    scroller: () => scroller.current,
    follows: false,
  })
  const shown = changedRows(rows)[place]
  useLayoutEffect(() => {
    // What is at the top is read from the top on.
    if (shown !== undefined && (place > 0 || showsSame.peek())) scroll.scrollTo(shown, 'start')
  }, [compared, place])
  /** Token counts, computed once however often the request is drawn. */
  const counts = useMemo(() => new Map<number, number>(), [compared])
  const tokensOf = (from: number, to: number): number => {
    const known = counts.get(from)
    if (known !== undefined) return known
    const sum = request.messages.slice(from, to).reduce((all, message) => all + messageTokens(message), 0)
    counts.set(from, sum)
    return sum
  }
  const toggleFull = (key: string): void => void (full.value = toggled(full.value, key))
  const namedBy = keptIn(conversation)
  const draw = (row: RequestRow): JSX.Element => {
    switch (row.type) {
      case 'system':
        return <SystemPart system={request.system} old={old?.request.system} />
      case 'tools':
        return <ToolsPart tools={request.tools} old={old?.request.tools} />
      case 'settings':
        return <SettingsPart settings={request.settings} old={old?.request.settings} />
      case 'gone':
        return (
          <FoldRow sign="−" kind="gone" isOpen={showsGone}>
            {counted(row.count, 'message')} removed since the previous request
          </FoldRow>
        )
      case 'same':
        return (
          <FoldRow sign={row.mark === 'kept' ? '=' : '≈'} kind={row.mark} isOpen={showsSame}>
            {counted(row.to - row.from, 'message')} unchanged{row.mark === 'moved' ? ', but after a change' : ''}
            <span class="muted number"> · ≈{formatCompact(tokensOf(row.from, row.to))} tok</span>
          </FoldRow>
        )
      case 'lost':
      case 'message': {
        const isLost = row.type === 'lost'
        const key = keyOf(row)
        const message = (isLost ? old!.request : request).messages[row.at]!
        return (
          <RequestMessageRow
            at={row.at}
            message={message}
            kept={namedBy(message)}
            mark={isLost ? 'gone' : row.mark}
            reasons={isLost ? [] : requestReasons(provenance[row.at])}
            isFull={full.value.has(key)}
            onToggle={() => toggleFull(key)}
          />
        )
      }
    }
  }
  return (
    <div ref={scroller} class="request-scroll scroll" tabIndex={0} role="region" aria-label="Parts of the request">
      <Rows
        scroll={scroll}
        listOf={rows.length}
        row={(index) =>
          rows[index] !== undefined && (
            <div class={index === shown ? 'request-shown' : undefined}>{draw(rows[index])}</div>
          )
        }
      />
    </div>
  )
}

interface FoldRowProps {
  readonly sign: string
  readonly kind: 'gone' | 'kept' | 'moved'
  readonly isOpen: Signal<boolean>
  readonly children: JSX.Element | readonly (JSX.Element | string)[]
}

const FoldRow = ({ sign, kind, isOpen, children }: FoldRowProps): JSX.Element => (
  <button
    type="button"
    class={`request-fold is-${kind}`}
    aria-expanded={isOpen.value}
    onClick={() => (isOpen.value = !isOpen.value)}
  >
    <span class={`request-sign is-${kind}`} aria-hidden="true">
      {sign}
    </span>
    <span>{children}</span>
    <span class="request-more">{isOpen.value ? 'Hide' : 'Show'}</span>
  </button>
)

const keyOf = (row: RequestRow): string =>
  row.type === 'same' ? `same ${row.from}` : 'at' in row ? `${row.type} ${row.at}` : row.type
