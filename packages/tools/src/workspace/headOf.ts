import { cutEnd, oneLine } from '../../../../src/protocol/text/cutMiddle.ts'

const mostHeadings = 60
const mostHeadingChars = 80

/**
 * Returns the first lines of a long Markdown file, in at most `maxChars` characters, with the headings of the rest and where they are, to be read
 * with `read_file`. A file that is not longer, or would not become shorter, stays as it is. Pure.
 */
export function headOf(text: string, path: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const lines = text.split('\n')
  let shown = 0
  for (let chars = 0; shown < lines.length; shown++) {
    chars += lines[shown]!.length + 1
    if (chars > maxChars) break
  }
  const head = shown === 0 ? cutEnd(lines[0]!, maxChars) : lines.slice(0, shown).join('\n')
  const headings = headingsIn(lines).filter(({ line }) => line > shown)
  const listed = headings.slice(0, mostHeadings).map(({ line, title }) => `${line}: ${title}`)
  const more = headings.length > listed.length ? [`and ${headings.length - listed.length} more`] : []
  const what = `[These are the first ${shown} of ${lines.length} lines. When your work touches the rest, read it first: read_file with ${JSON.stringify({ path, offset: shown + 1 })}.${listed.length === 0 ? '' : ' By line:'}`
  const short = [head, [what, ...listed, ...more].join('\n') + ']'].join('\n\n')
  return short.length < text.length ? short : text
}

/** Returns the headings of a Markdown text with their lines, without lines in code that look like headings. */
function headingsIn(lines: readonly string[]): readonly { readonly line: number; readonly title: string }[] {
  let fence: string | undefined
  return lines.flatMap((text, index) => {
    const mark = /^\s{0,3}(```+|~~~+)/.exec(text)?.[1]
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence)))
      fence = fence === undefined ? mark : undefined
    const isHeading = fence === undefined && mark === undefined && /^#{1,6}\s+\S/.test(text)
    return isHeading ? [{ line: index + 1, title: oneLine(text, mostHeadingChars) }] : []
  })
}
