import { useMemo } from 'preact/hooks'
import { isRaw } from '../model/words/rawText.ts'
import { forDisplay } from '../model/words/shortText.ts'
import { readMarkdown } from './laterMarkdown.ts'

/** The text of a message: as Markdown, or as it was written if the person wants that. */
export function Prose({ text }: { readonly text: string }) {
  const rich = isRaw.value ? null : readMarkdown()
  const blocks = useMemo(() => rich?.parseMarkdown(text), [text, rich?.parseMarkdown])
  return rich === null || blocks === undefined ? (
    <div class="conversation-text-body" dir="auto">
      {forDisplay(text)}
    </div>
  ) : (
    <rich.Markdown blocks={blocks} />
  )
}
