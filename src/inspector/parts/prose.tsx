import { useMemo } from 'preact/hooks'
import { isRaw } from '../model/rawText.ts'
import { forDisplay } from '../model/shortText.ts'
import { richText } from './richText.ts'

/** What somebody said: as Markdown, or as it was written if the person wants that. */
export function Prose({ text }: { readonly text: string }) {
  const rich = isRaw.value ? null : richText.value
  const blocks = useMemo(() => rich?.parseMarkdown(text), [text, rich])
  return rich === null || blocks === undefined ? (
    <div class="conversation-text-body">{forDisplay(text)}</div>
  ) : (
    <rich.Markdown blocks={blocks} />
  )
}
