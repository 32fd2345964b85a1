import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useCallback, useMemo, useRef } from 'preact/hooks'
import { counted } from '../../../../../charts/src/amounts.ts'
import type { ModelRequest } from '../../../../../../src/protocol/ports/model.ts'
import { jsonLines, type JsonLine } from '../../model/requests/jsonLines.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { forDisplay } from '../../model/words/shortText.ts'
import { toggled } from '../../model/words/toggled.ts'
import { Icon } from '../../parts/icon.tsx'
import { Rows, useRowScroll } from '../../parts/rowScroll.tsx'

/** Number of lines up to which all are in the document, where the browser's search finds them. */
const mostDrawn = 1_000

/** A request as it is recorded, as indented JSON that folds. */
export function RequestRaw({ request }: { readonly request: ModelRequest }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null)
  const changed = useSignal<ReadonlySet<string>>(new Set())
  const bytes = useMemo(() => new Blob([JSON.stringify(request)]).size, [request])
  const lines = useMemo(() => jsonLines(request, changed.value), [request, changed.value])
  // As it is at first, so that the focus stays where one folds.
  const isMany = useMemo(() => lines.length > mostDrawn || lines.some(({ fold }) => fold?.isOpen === false), [request])
  const toggle = (key: string): void => void (changed.value = toggled(changed.value, key))
  const draw = (line: JsonLine): JSX.Element => <RawLine line={line} onToggle={() => toggle(line.key)} />
  return (
    <>
      <div class="request-raw-bar">
        <span class="muted number">
          {formatCount(bytes)} bytes · {counted(lines.length, 'line')}
        </span>
        <CopyButton text={() => JSON.stringify(request, undefined, 2)} />
      </div>
      <div ref={scroller} class="request-scroll scroll request-raw" tabIndex={0} role="region" aria-label="Raw JSON">
        {isMany ? (
          <ManyLines lines={lines} scroller={() => scroller.current} draw={draw} />
        ) : (
          lines.map((line) => <div key={line.key}>{draw(line)}</div>)
        )}
      </div>
    </>
  )
}

interface ManyLinesProps {
  readonly lines: readonly JsonLine[]
  readonly scroller: () => HTMLElement | null
  readonly draw: (line: JsonLine) => JSX.Element
}

function ManyLines({ lines, scroller, draw }: ManyLinesProps): JSX.Element {
  const scroll = useRowScroll({
    count: lines.length,
    keyOf: useCallback((index: number) => lines[index]!.key, [lines]),
    estimate: useCallback(() => 20, []),
    scroller,
    follows: false,
  })
  return <Rows scroll={scroll} row={(index) => lines[index] !== undefined && draw(lines[index])} />
}

interface RawLineProps {
  readonly line: JsonLine
  readonly onToggle: () => void
}

function RawLine({ line: { level, name, text, fold, cutOf }, onToggle }: RawLineProps): JSX.Element {
  const key = name === undefined ? null : <span class="json-key">{forDisplay(name)}: </span>
  const indent = { paddingLeft: `${Math.min(level, 40) * 14 + 28}px` }
  if (fold !== undefined) {
    return (
      <div class="json-line" style={indent}>
        <button type="button" class="tree-fold" aria-expanded={fold.isOpen} onClick={onToggle}>
          <Icon name="chevron" />
          {key}
          {text}
        </button>
        {fold.isOpen ? null : <span class="faint"> {formatCount(fold.count)}</span>}
      </div>
    )
  }
  return (
    <div class="json-line" style={indent}>
      {key}
      <span class={kindOf(text)}>{forDisplay(text)}</span>
      {cutOf === undefined ? null : (
        <button type="button" class="conversation-more" onClick={onToggle}>
          {text.endsWith('…') ? `Show all (${formatCount(cutOf)} characters)` : 'Show less'}
        </button>
      )}
    </div>
  )
}

const kindOf = (text: string): string =>
  text.startsWith('"') ? 'json-string' : /^-?\d/.test(text) ? 'json-number' : /^[tfn]/.test(text) ? 'json-word' : ''

/** Button that copies a text, and says if that succeeded. */
function CopyButton({ text }: { readonly text: () => string }): JSX.Element {
  const outcome = useSignal('')
  const copy = (): void => {
    copyText(text()).then(
      () => (outcome.value = 'Copied'),
      () => (outcome.value = 'Copy failed'),
    )
  }
  return (
    <>
      <button type="button" class="button quiet" onClick={copy}>
        <Icon name="copy" /> Copy
      </button>
      <span class="muted" role="status">
        {outcome.value}
      </span>
    </>
  )
}

/** Copies a text. Pages without TLS have no clipboard API, and copy from a hidden text area instead. */
async function copyText(text: string): Promise<void> {
  // Its type promises it everywhere.
  const { clipboard } = navigator as { readonly clipboard?: Clipboard }
  if (clipboard !== undefined) return await clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'hidden'
  document.body.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (!isDone) throw new Error('The browser refused to copy.')
}
