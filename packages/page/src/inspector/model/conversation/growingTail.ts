import type { GrowingMarkdown } from '../../../../../charts/src/text/growingMarkdown.ts'
import { textOfBlocks, type MarkdownBlock } from '../../../../../charts/src/text/markdownTree.ts'

/** Start of the shown end of a text. */
export interface TailPlace {
  /** Index of the first shown block among all blocks; 0 if the text has none. */
  readonly first: number
  /** Characters of that block, or of the text, that are left out. */
  readonly skipped: number
}

/** The shown end of a text that grows. */
export interface GrowingTail extends TailPlace {
  readonly blocks: readonly MarkdownBlock[]
  /** True if earlier text is left out. */
  readonly isCut: boolean
}

/**
 * Returns the last blocks, as many as it takes for `most` characters, or the end of a single longer block. Reads no more than these. `kept`: the
 * place where the tail begins instead, however long it has become, as somebody reads it. Pure.
 */
export function growingTail({ blocks }: Pick<GrowingMarkdown, 'blocks'>, most: number, kept?: TailPlace): GrowingTail {
  const { first, skipped } = kept !== undefined && kept.first < blocks.length ? kept : placeOf(blocks, most)
  const shown = blocks.slice(first)
  if (skipped > 0) shown[0] = endOf(shown[0]!, skipped)
  return { blocks: shown, first, skipped, isCut: first + skipped > 0 }
}

/** As `growingTail`, for a text without blocks. Pure. */
export function textTail(text: string, most: number, kept?: TailPlace): TailPlace & { readonly isCut: boolean } {
  const skipped = kept !== undefined && kept.skipped <= text.length ? kept.skipped : Math.max(0, text.length - most)
  return { first: 0, skipped, isCut: skipped > 0 }
}

function placeOf(blocks: readonly MarkdownBlock[], most: number): TailPlace {
  let first = blocks.length
  let chars = 0
  while (first > 0 && chars < most) chars += lengthOf(blocks[--first]!)
  const last = blocks[first]
  const isEnd = first === blocks.length - 1 && (last?.type === 'code' || last?.type === 'paragraph')
  return { first, skipped: isEnd ? Math.max(0, chars - most) : 0 }
}

/** Returns the length of a block. Code and text without marks, which alone can be very long, are measured without reading them. */
const lengthOf = (block: MarkdownBlock): number =>
  block.type === 'code' ? block.text.length : textOfBlocks([block]).length

function endOf(block: MarkdownBlock, skipped: number): MarkdownBlock {
  if (block.type === 'code') return { ...block, text: block.text.slice(skipped) }
  return { type: 'paragraph', spans: [{ type: 'text', text: textOfBlocks([block]).slice(skipped) }] }
}
