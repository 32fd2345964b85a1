import { growMarkdown, type GrowingMarkdown } from '../../../text/growingMarkdown.ts'
import type { MarkdownBlock } from '../../../text/markdownTree.ts'
import { areApart, blockLines, type GrowingLines } from './markdownLines.ts'
import type { ReplyLook } from './spanRuns.ts'

/** A reply under way, and how far it was written to a terminal. */
export interface GrowingReply {
  /** As the model wrote it, its control characters too. */
  readonly source: string
  /** The Markdown of its complete lines. */
  readonly whole: GrowingMarkdown | undefined
  /** Blocks of it that are settled and written. */
  readonly settled: number
  /** The lines that were written below those, as they are in so many columns. */
  readonly begun: readonly string[]
  readonly columns: number
}

/** A reply of which nothing has come. */
export const emptyReply: GrowingReply = { source: '', whole: undefined, settled: 0, begun: [], columns: 0 }

export interface ReplyStep {
  readonly reply: GrowingReply
  /** To be written for good. */
  readonly lines: readonly string[]
}

/**
 * Adds a piece of any size: what of the reply is final then, whatever follows. Only complete lines make something final, as half a line may
 * turn out to belong to anything. What a reply becomes on the screen does not depend on its pieces. Pure.
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

/** What is to be seen of a reply below the lines that were written; `most`: of a very long text only so many characters at its end. Pure. */
export function restOfReply(
  reply: GrowingReply,
  look: ReplyLook,
  columns: number,
  most: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const blocks = growMarkdown(reply.source, reply.whole).blocks.map((block) => cutTo(block, most))
  return below(linesFrom(blocks, reply.settled, look, columns).lines, begunIn(reply, look, columns))
}

/** Only text that is too long to be looked at is in one span of any length. */
function cutTo(block: MarkdownBlock, most: number): MarkdownBlock {
  const [span] = block.type === 'paragraph' ? block.spans : []
  if (span?.type !== 'text' || span.text.length <= most) return block
  return { type: 'paragraph', spans: [{ type: 'text', text: span.text.slice(-most).toWellFormed() }] }
}

/** The lines that were written of what is not settled, as they would be in so many columns. */
function begunIn(reply: GrowingReply, look: ReplyLook, columns: number): readonly string[] {
  if (columns === reply.columns || reply.begun.length === 0 || reply.whole === undefined) return reply.begun
  const { lines, stable } = linesFrom(reply.whole.blocks, reply.settled, look, columns)
  return lines.slice(0, stable)
}

/** Blocks below each other, from one on. Of the last one only its beginning is stable; what is above it is closed. */
function linesFrom(
  blocks: readonly MarkdownBlock[],
  from: number,
  look: ReplyLook,
  columns: number,
): GrowingLines & { readonly ends: readonly number[] } {
  const lines: string[] = []
  /** Where each block ends. */
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

/** The lines below those that were written. Were they to differ, lines are shown twice rather than lost. */
function below(lines: readonly string[], begun: readonly string[]): readonly string[] {
  let same = 0
  while (same < begun.length && begun[same] === lines[same]) same += 1
  return lines.slice(same)
}
