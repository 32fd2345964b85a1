import { signal } from '@preact/signals'
import type * as RichText from './richTextParts.ts'

/** Parsers of Markdown and of code colours, loaded after the page. `null` until then: all is shown as it was written. */
export const richText = signal<typeof RichText | null>(null)

/** Fetches the code for rich text. Never rejects: without it the page says the same. */
export const loadRichText = (): Promise<void> =>
  import('./richTextParts.ts').then(
    (parts) => void (richText.value = parts),
    () => {},
  )
