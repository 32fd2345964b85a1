/** Title, description and body of a page. */
export interface PageText {
  readonly title: string
  /** The first paragraph in plain words, for search engines and lists. */
  readonly description: string
  /** Without the title. */
  readonly body: string
}

const longest = 220

/** Takes a page of Markdown apart: its title is its first line. Pure. */
export function pageText(markdown: string): PageText {
  const [, title = '', body = ''] = /^# (.+)\n([\s\S]*)$/.exec(markdown) ?? []
  return { title: plain(title), description: description(body), body: body.trimStart() }
}

const isProse = (paragraph: string): boolean => /^[\p{L}`[*"“]/u.test(paragraph) && !paragraph.startsWith('```')

function description(body: string): string {
  const paragraph = body.split(/\n\s*\n/).find((part) => isProse(part.trim()))
  const text = plain((paragraph ?? '').trim())
  if (text.length <= longest) return text
  const sentence = text.slice(0, longest).lastIndexOf('. ')
  return sentence > 40 ? text.slice(0, sentence + 1) : `${text.slice(0, text.lastIndexOf(' ', longest))} …`
}

/** Markdown without its marks. Pure. */
export const plain = (markdown: string): string =>
  markdown
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|`/g, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/:$/, '.')
