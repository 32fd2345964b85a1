import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { loadRichText, richText } from '../model/words/richText.ts'
import type { MarkdownProps } from './markdown.tsx'

const drawing = signal<FunctionComponent<MarkdownProps> | null>(null)

/** The reading of Markdown and what draws it; `null` until both are there. Read it where signals are followed. */
export function readMarkdown() {
  const [rich, Markdown] = [richText.value, drawing.value]
  return rich === null || Markdown === null ? null : { ...rich, Markdown }
}

/** Fetches them. Never rejects: without them the page says the same. */
export const loadMarkdown = async (): Promise<void> => {
  const fetched = import('./markdown.tsx').then(
    ({ Markdown }) => void (drawing.value = Markdown),
    () => {},
  )
  await Promise.all([fetched, loadRichText()])
}
