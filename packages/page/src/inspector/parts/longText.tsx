import { useState } from 'preact/hooks'
import type { ComponentChildren, JSX } from 'preact'
import { jsonParts } from '../model/words/jsonParts.ts'
import { formatCount } from '../model/words/numbers.ts'
import { beginningWorthCutting, forDisplay, jsonOf } from '../model/words/shortText.ts'
import { Prose } from './prose.tsx'
import { stopping } from './stopping.ts'

/** Length up to which JSON is coloured, in UTF-16 units; longer JSON has one colour. */
const mostColoured = 20_000

export interface LongTextProps {
  readonly text: string
  /** Number of lines, and of characters, shown at first. */
  readonly lines?: number
  readonly chars?: number
  /** True if all of the text is shown. Unset: the component keeps that state itself. */
  readonly isFull?: boolean
  readonly onToggle?: () => void
  readonly kind?: 'prose' | 'code' | 'json'
}

/** A text of any length: its beginning, or all of it on request. Its content is always text, never markup. */
export function LongText({
  text,
  lines = 12,
  chars = 1_200,
  isFull,
  onToggle,
  kind = 'prose',
}: LongTextProps): JSX.Element {
  const [isOwnFull, setOwnFull] = useState(false)
  const isAll = isFull ?? isOwnFull
  const first = beginningWorthCutting(text, { lines, chars })
  const isCut = first.length < text.length
  const toggle = onToggle ?? ((): void => setOwnFull(!isOwnFull))
  const shown = isAll ? text : first
  return (
    <div class={`conversation-text is-${kind}`}>
      {kind === 'prose' ? (
        <Prose text={shown} />
      ) : (
        <div class="conversation-text-body" dir={kind === 'json' ? undefined : 'auto'}>
          {kind === 'json' ? coloured(forDisplay(shown)) : forDisplay(shown)}
        </div>
      )}
      {isCut && (
        <button type="button" class="conversation-more" onClick={stopping(toggle)}>
          {isAll ? 'Show less' : `Show all (${formatCount(text.length)} characters)`}
        </button>
      )}
    </div>
  )
}

/** A value as indented JSON. */
export function JsonText({
  value,
  ...rest
}: { readonly value: unknown } & Omit<LongTextProps, 'text' | 'kind'>): JSX.Element {
  return <LongText {...rest} kind="json" text={jsonOf(value, 2)} />
}

const coloured = (text: string): ComponentChildren =>
  text.length > mostColoured
    ? text
    : jsonParts(text).map(({ kind, text: piece }) =>
        kind === 'plain' ? piece : <span class={`json-${kind}`}>{piece}</span>,
      )
