import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ModelRequest } from '../../protocol/model.ts'
import { formatCount } from '../model/numbers.ts'
import { Icon } from '../parts/icon.tsx'
import { LongText } from './longText.tsx'

/** A request as it is recorded, byte for byte. */
export function RequestRaw({ request }: { readonly request: ModelRequest }): JSX.Element {
  const text = useMemo(() => JSON.stringify(request), [request])
  return (
    <div class="request-scroll scroll request-raw" tabIndex={0} role="region" aria-label="Raw JSON">
      <div class="request-raw-bar">
        <span class="muted number">{formatCount(new Blob([text]).size)} bytes</span>
        <CopyButton text={text} />
      </div>
      <LongText text={text} kind="code" lines={400} chars={100_000} />
    </div>
  )
}

/** Copies a text; says so, or why not. */
export function CopyButton({ text }: { readonly text: string }): JSX.Element {
  const outcome = useSignal('')
  const copy = (): void => {
    copyText(text).then(
      () => (outcome.value = 'Copied'),
      () => (outcome.value = 'The browser refused'),
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

/** Pages without TLS have no clipboard but this. */
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
  if (!isDone) throw new Error('The browser refused.')
}
