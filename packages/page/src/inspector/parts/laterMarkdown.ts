import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { loadRichText, richText } from '../model/words/richText.ts'
import type { MarkdownProps } from './markdown.tsx'

const drawing = signal<FunctionComponent<MarkdownProps> | null>(null)

/** Returns the Markdown parser and its component; `null` until both are loaded. Call it where signals are followed. */
export function readMarkdown() {
  const [rich, Markdown] = [richText.value, drawing.value]
  return rich === null || Markdown === null ? null : { ...rich, Markdown }
}

/** Fetches the parser and the component. Never rejects: without them the page says the same. */
export const loadMarkdown = async (): Promise<void> => {
  const fetched = import('./markdown.tsx').then(
    ({ Markdown }) => void (drawing.value = Markdown),
    () => {},
  )
  await Promise.all([fetched, loadRichText()])
}
