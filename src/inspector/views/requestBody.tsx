import { useSignal, type Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useCallback, useMemo, useRef } from 'preact/hooks'
import type { ConversationView } from '../../conversation/conversationView.ts'
import type { ModelRequest } from '../../protocol/model.ts'
import type { Provenance } from '../../protocol/provenance.ts'
import { requestMarks, type MessageMark, type RequestMarks } from '../model/requestMarks.ts'
import { artifactsIn } from '../model/namedArtifacts.ts'
import { requestReasons } from '../model/requestReason.ts'
import { counted } from '../../charts/amounts.ts'
import { Rows, useRowScroll } from './rowScroll.tsx'
import { toggled } from '../model/toggled.ts'
import { SettingsPart, SystemPart, ToolsPart } from './requestParts.tsx'
import { RequestMessageRow } from './requestMessage.tsx'

export interface RequestBodyProps {
  readonly request: ModelRequest
  readonly provenance: readonly Provenance[]
  /** The request before. */
  readonly old: ModelRequest | undefined
  readonly kept: number
  /** Whose results keep what the messages name. */
  readonly conversation: ConversationView
}

type Part =
  | { readonly type: 'system' | 'tools' | 'settings' | 'gone' }
  | { readonly type: 'lost' | 'message'; readonly at: number; readonly mark?: MessageMark }

/** A request in its parts: system, tools, settings, and every message. */
export function RequestBody({ request, provenance, old, kept, conversation }: RequestBodyProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null)
  const showsGone = useSignal(false)
  /** Messages shown in full. */
  const full = useSignal<ReadonlySet<string>>(new Set())
  const compared = useMemo(
    () => (old === undefined ? undefined : requestMarks(old.messages, request.messages, kept)),
    [request, old, kept],
  )
  const parts = useMemo(
    () => partsOf(request, kept, compared, showsGone.value),
    [request, compared, kept, showsGone.value],
  )
  const scroll = useRowScroll({
    count: parts.length,
    keyOf: useCallback((index: number) => keyOf(parts[index]!), [parts]),
    estimate: heightOf,
    scroller: () => scroller.current,
    follows: false,
  })
  const toggleFull = (key: string): void => void (full.value = toggled(full.value, key))
  const namedBy = artifactsIn(conversation)
  const draw = (part: Part): JSX.Element => {
    switch (part.type) {
      case 'system':
        return <SystemPart system={request.system} isChanged={old !== undefined && old.system !== request.system} />
      case 'tools':
        return <ToolsPart tools={request.tools} old={old?.tools} />
      case 'settings':
        return <SettingsPart settings={request.settings} old={old?.settings} />
      case 'gone':
        return <GoneRow count={compared?.gone.length ?? 0} isOpen={showsGone} />
      case 'lost':
      case 'message': {
        const isLost = part.type === 'lost'
        const key = keyOf(part)
        const message = (isLost ? old! : request).messages[part.at]!
        return (
          <RequestMessageRow
            at={part.at}
            message={message}
            artifacts={namedBy(message)}
            mark={isLost ? 'gone' : part.mark}
            reasons={isLost ? [] : requestReasons(provenance[part.at])}
            isFull={full.value.has(key)}
            onToggle={() => toggleFull(key)}
          />
        )
      }
    }
  }
  return (
    <div ref={scroller} class="request-scroll scroll" tabIndex={0} role="region" aria-label="Parts of the request">
      <Rows scroll={scroll} listOf={parts.length} row={(index) => parts[index] !== undefined && draw(parts[index])} />
    </div>
  )
}

/** What is sent no more stands where the two requests part. */
function partsOf(request: ModelRequest, kept: number, compared: RequestMarks | undefined, showsGone: boolean): Part[] {
  const { marks, gone = [] } = compared ?? {}
  const messages = request.messages.map((_, at): Part => {
    const mark = marks?.[at]
    return { type: 'message', at, ...(mark === undefined ? {} : { mark }) }
  })
  const lost = showsGone ? gone.map((at): Part => ({ type: 'lost', at })) : []
  const between: Part[] = gone.length === 0 ? [] : [{ type: 'gone' }, ...lost]
  const frame: Part[] = [{ type: 'system' }, { type: 'tools' }, { type: 'settings' }]
  return [...frame, ...messages.slice(0, kept), ...between, ...messages.slice(kept)]
}

const GoneRow = ({ count, isOpen }: { readonly count: number; readonly isOpen: Signal<boolean> }): JSX.Element => (
  <button
    type="button"
    class="request-gone"
    aria-expanded={isOpen.value}
    onClick={() => (isOpen.value = !isOpen.value)}
  >
    <span class="request-sign is-gone" aria-hidden="true">
      −
    </span>
    {counted(count, 'message')} of the request before {count === 1 ? 'is' : 'are'} sent no more
    <span class="request-more">{isOpen.value ? 'Hide' : 'Show'}</span>
  </button>
)

/** System, tools and settings are closed at first. */
const heightOf = (index: number): number => (index < 3 ? 40 : 96)

const keyOf = (part: Part): string => ('at' in part ? `${part.type} ${part.at}` : part.type)
