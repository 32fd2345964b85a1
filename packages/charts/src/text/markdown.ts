import { lexPiece, type LexedToken, type LinkTargets } from './boundedLexer.ts'
import { withoutEntities } from './entities.ts'
import type { MarkdownBlock, MarkdownItem, MarkdownSpan } from './markdownTree.ts'
import { piecesOf, type Piece } from './pieces.ts'

/** Number of characters that are parsed as Markdown; the rest is shown as it is. */
export const mostMarkdown = 500_000

/**
 * Returns the blocks of a text in Markdown (GitHub's kind). HTML is text, images are not loaded, and any part that cannot be parsed in
 * bounded time is text as it was written: nothing is lost. Never throws; linear in the length. Pure.
 */
export function parseMarkdown(source: string): readonly MarkdownBlock[] {
  const text = withPlainLineEnds(source)
  const parsed = text.slice(0, mostMarkdown)
  const links = linkTargets(parsed)
  const blocks = piecesOf(parsed).flatMap((piece) => blocksOf(piece, links))
  return text.length > mostMarkdown ? [...blocks, plain(text.slice(mostMarkdown))] : blocks
}

/** Returns a text whose lines end with `\n` alone. */
export const withPlainLineEnds = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text)

/** Returns a text as it is, in one paragraph. */
export const plain = (text: string): MarkdownBlock => ({ type: 'paragraph', spans: [{ type: 'text', text }] })

const mostLinks = 500

/** Returns the targets of labels that are defined in lines of their own, anywhere in the text. */
export function linkTargets(text: string): LinkTargets {
  const targets: Record<string, { href: string; title: string }> = Object.create(null) as Record<string, never>
  if (!text.includes(']:')) return targets
  let count = 0
  for (const [, label, href] of text.matchAll(
    /^ {0,3}\[([^\]\r\n\u2028\u2029]{1,200})\]:[ \t]*<?([^\s<>]{1,2000})>?/gm,
  )) {
    if (++count > mostLinks) break
    targets[label!.toLowerCase().replace(/\s+/g, ' ')] ??= { href: href!, title: '' }
  }
  return targets
}

/** Returns the blocks of one piece. */
export function blocksOf(piece: Piece, links: LinkTargets): readonly MarkdownBlock[] {
  if (piece.type === 'code') return [{ type: 'code', language: piece.language, text: piece.text }]
  if (piece.type === 'plain') return [plain(piece.text.trimEnd())]
  return blocks(lexPiece(piece.text, links))
}

const blocks = (tokens: readonly LexedToken[]): readonly MarkdownBlock[] => tokens.flatMap(block)

function block(token: LexedToken): MarkdownBlock | readonly MarkdownBlock[] {
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return []
    case 'heading':
      return { type: 'heading', level: token.depth ?? 1, spans: spansOf(token) }
    case 'hr':
      return { type: 'rule' }
    case 'blockquote':
      return { type: 'quote', blocks: blocks(token.tokens ?? []) }
    case 'code':
      return { type: 'code', language: languageOf(token.lang), text: token.text ?? '' }
    case 'list':
      return listOf(token)
    case 'table':
      return {
        type: 'table',
        align: token.align ?? [],
        head: (token.header ?? []).map(({ tokens }) => spans(tokens)),
        rows: (token.rows ?? []).map((row) => row.map(({ tokens }) => spans(tokens))),
      }
    case 'html':
      return plain(token.raw.trimEnd())
    default:
      return { type: 'paragraph', spans: spansOf(token) }
  }
}

function listOf({ ordered, start, raw, items: lexed = [] }: LexedToken): MarkdownBlock {
  const items = lexed.map(item)
  if (ordered === true) return { type: 'list', start: Number(start ?? 1), mark: null, items }
  const [sign] = raw.trimStart()
  return { type: 'list', start: null, mark: sign === '+' || sign === '*' ? sign : '-', items }
}

const item = ({ task, checked, tokens = [] }: LexedToken): MarkdownItem => ({
  ...(task === true ? { isDone: checked === true } : {}),
  blocks: blocks(tokens),
})

const languageOf = (info = ''): string => /^[^\s{]*/.exec(info.trim())![0].toLowerCase()

const spansOf = ({ tokens, text = '' }: LexedToken): readonly MarkdownSpan[] =>
  tokens === undefined ? [{ type: 'text', text }] : spans(tokens)

/** Converts tokens into spans; adjacent texts are joined. */
function spans(tokens: readonly LexedToken[]): readonly MarkdownSpan[] {
  const made: MarkdownSpan[] = []
  for (const token of tokens) {
    const next = span(token)
    const last = made.at(-1)
    if (next === undefined) continue
    if (next.type === 'text' && last?.type === 'text')
      made[made.length - 1] = { type: 'text', text: last.text + next.text }
    else made.push(next)
  }
  return made
}

function span(token: LexedToken): MarkdownSpan | undefined {
  switch (token.type) {
    case 'checkbox':
      return undefined
    case 'strong':
      return { type: 'strong', spans: spans(token.tokens ?? []) }
    case 'em':
      return { type: 'emphasis', spans: spans(token.tokens ?? []) }
    case 'del':
      return { type: 'strike', spans: spans(token.tokens ?? []) }
    case 'codespan':
      return { type: 'code', text: codeText(token.raw) }
    case 'br':
      return { type: 'break' }
    case 'link':
      return { type: 'link', url: withoutEntities(token.href ?? ''), spans: spans(token.tokens ?? []) }
    case 'image':
      return { type: 'image', alt: altOf(token), url: withoutEntities(token.href ?? '') }
    case 'escape':
      return { type: 'text', text: token.raw.slice(1) }
    case 'html':
      return { type: 'text', text: token.raw }
    default:
      return { type: 'text', text: withoutEntities(token.raw) }
  }
}

/** Reads the alternative text from the source, as versions of the lexer differ in whether they make HTML of it. */
const altOf = ({ raw, text = '' }: LexedToken): string => withoutEntities(/^!\[([^\]]*)\]/.exec(raw)?.[1] ?? text)

function codeText(raw: string): string {
  const text = raw.replace(/^`+|(?<!`)`+$/g, '').replaceAll('\n', ' ')
  return text.startsWith(' ') && text.endsWith(' ') && text.trim() !== '' ? text.slice(1, -1) : text
}
