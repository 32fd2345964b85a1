import { growMarkdown, type GrowingMarkdown } from '../../../../charts/src/text/growingMarkdown.ts'
import type { MarkdownBlock } from '../../../../charts/src/text/markdownTree.ts'
import { areApart, blockLines, type GrowingLines } from './markdownLines.ts'
import type { ReplyLook } from './spanRuns.ts'

/** A reply in progress, and the part of it already written to a terminal. */
export interface GrowingReply {
  /** The text from the model, including control characters. */
  readonly source: string
  /** The Markdown of its complete lines. */
  readonly whole: GrowingMarkdown | undefined
  /** Number of its blocks that are final and written. */
  readonly settled: number
  /** Lines written below the final blocks, laid out in `columns`. */
  readonly begun: readonly string[]
  readonly columns: number
}

/** A reply whose text has not begun. */
export const emptyReply: GrowingReply = { source: '', whole: undefined, settled: 0, begun: [], columns: 0 }

export interface ReplyStep {
  readonly reply: GrowingReply
  /** Lines that are final. */
  readonly lines: readonly string[]
}

/**
 * Adds a piece of any size, and returns the lines that are now final. Only complete lines make text final, since the meaning of half a line may
 * change. The result on the screen does not depend on the pieces. Pure.
 */
export function addToReply(reply: GrowingReply, piece: string, look: ReplyLook, columns: number): ReplyStep {
  const source = reply.source + piece
  const end = source.lastIndexOf('\n') + 1
  if (end <= reply.source.length) return { reply: { ...reply, source }, lines: [] }
  const whole = growMarkdown(source.slice(0, end), reply.whole)
  const begun = begunIn(reply, look, columns)
  const all = linesFrom(whole.blocks, reply.settled, look, columns)
  const settled = all.ends[whole.settled - reply.settled - 1] ?? 0
  const final = all.lines.slice(0, Math.max(settled, all.stable))
  const lines = below(final, begun)
  const written = lines.length === 0 && begun.length > final.length ? begun : final
  return { reply: { source, whole, settled: whole.settled, begun: written.slice(settled), columns }, lines }
}

/** Returns the visible lines of a reply below the written ones. `most`: maximum characters of a very long text, taken from its end. Pure. */
export function restOfReply(
  reply: GrowingReply,
  look: ReplyLook,
  columns: number,
  most: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const blocks = growMarkdown(reply.source, reply.whole).blocks.map((block) => cutTo(block, most))
  return below(linesFrom(blocks, reply.settled, look, columns).lines, begunIn(reply, look, columns))
}

/** Cuts a block to the end of its text. Only an unreadably long text has a span of such a length. */
function cutTo(block: MarkdownBlock, most: number): MarkdownBlock {
  const [span] = block.type === 'paragraph' ? block.spans : []
  if (span?.type !== 'text' || span.text.length <= most) return block
  return { type: 'paragraph', spans: [{ type: 'text', text: span.text.slice(-most).toWellFormed() }] }
}

/** Returns the written lines of the blocks that are not final, laid out in a number of columns. */
function begunIn(reply: GrowingReply, look: ReplyLook, columns: number): readonly string[] {
  if (columns === reply.columns || reply.begun.length === 0 || reply.whole === undefined) return reply.begun
  const { lines, stable } = linesFrom(reply.whole.blocks, reply.settled, look, columns)
  return lines.slice(0, stable)
}

/** Lays out the blocks from an index on below each other. Of the last block only the beginning is stable; the blocks above it are closed. */
function linesFrom(
  blocks: readonly MarkdownBlock[],
  from: number,
  look: ReplyLook,
  columns: number,
): GrowingLines & { readonly ends: readonly number[] } {
  const lines: string[] = []
  /** Number of lines up to the end of each block. */
  const ends: number[] = []
  let stable = 0
  for (let index = from; index < blocks.length; index += 1) {
    stable = lines.length
    if (index > 0 && areApart(blocks[index - 1], blocks[index]!)) lines.push('')
    const own = blockLines(blocks[index]!, look, columns)
    if (own.stable > 0) stable = lines.length + own.stable
    for (const line of own.lines) lines.push(line)
    ends.push(lines.length)
  }
  return { lines, stable, ends }
}

/** Returns the lines below the written ones. If the two differ, lines are shown twice rather than lost. */
function below(lines: readonly string[], begun: readonly string[]): readonly string[] {
  let same = 0
  while (same < begun.length && begun[same] === lines[same]) same += 1
  return lines.slice(same)
}
