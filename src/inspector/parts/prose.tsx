import { useMemo } from 'preact/hooks'
import { isRaw } from '../model/rawText.ts'
import { richText } from '../model/richText.ts'
import { forDisplay } from '../model/shortText.ts'
import { Markdown } from './markdown.tsx'

/** What somebody said: as Markdown, or as it was written if the person wants that. */
export function Prose({ text }: { readonly text: string }) {
  const rich = isRaw.value ? null : richText.value
  const blocks = useMemo(() => rich?.parseMarkdown(text), [text, rich])
  return blocks === undefined ? (
    <div class="conversation-text-body">{forDisplay(text)}</div>
  ) : (
    <Markdown blocks={blocks} />
  )
}
