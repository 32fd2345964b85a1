import { signal } from '@preact/signals'
import type * as RichText from './richTextParts.ts'

/** The reading of Markdown and the colours of code, which come after the page; `null` until then: all is shown as it was written. */
export const richText = signal<typeof RichText | null>(null)

/** Fetches them. Never rejects: without them the page says the same. */
export const loadRichText = (): Promise<void> =>
  import('./richTextParts.ts').then(
    (parts) => void (richText.value = parts),
    () => {},
  )
