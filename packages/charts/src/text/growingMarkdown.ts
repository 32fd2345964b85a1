import type { LinkTargets } from './boundedLexer.ts'
import { blocksOf, linkTargets, mostMarkdown, plain, withPlainLineEnds } from './markdown.ts'
import type { MarkdownBlock } from './markdownTree.ts'
import { piecesOf } from './pieces.ts'

/** A text in Markdown that grows at its end. */
export interface GrowingMarkdown {
  readonly source: string
  /** All blocks of the text. */
  readonly blocks: readonly MarkdownBlock[]
  /** Number of `blocks` that no further text will change: they stay the same objects. */
  readonly settled: number
  /** Number of characters that were parsed to make this value from the one before. */
  readonly looked: number
  /** Index in `text` at which the part begins that may still change. */
  readonly from: number
  /** The source, with plain line ends. */
  readonly text: string
  readonly links: LinkTargets
}

/**
 * Parses a text that may continue the one before. If it does, only its last two pieces are parsed again, which have a bounded length unless they are
 * code. At the end of the text the blocks equal those of `parseMarkdown`, except for links whose address came after them. Pure.
 */
export function growMarkdown(source: string, before?: GrowingMarkdown): GrowingMarkdown {
  const text = withPlainLineEnds(source)
  const isMore = before !== undefined && text.startsWith(before.text)
  const from = isMore ? before.from : 0
  const kept = isMore ? before.blocks.slice(0, before.settled) : []
  const parsed = text.slice(0, mostMarkdown)
  const links = { ...(isMore ? before.links : {}), ...linkTargets(parsed.slice(from)) }
  const pieces = piecesOf(parsed, from)
  // A line that has just begun may still turn out to belong to the list before it.
  const open = pieces.slice(pieces.at(-1)?.text.includes('\n') === false ? -2 : -1)
  const made = pieces.slice(0, pieces.length - open.length).flatMap((piece) => blocksOf(piece, links))
  const changing = open.flatMap((piece) => blocksOf(piece, links))
  const rest = text.length > mostMarkdown ? [plain(text.slice(mostMarkdown))] : []
  return {
    source,
    text,
    blocks: [...kept, ...made, ...changing, ...rest],
    settled: kept.length + made.length,
    looked: parsed.length - from,
    from: open[0]?.start ?? from,
    links,
  }
}
