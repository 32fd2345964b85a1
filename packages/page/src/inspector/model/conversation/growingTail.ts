import type { GrowingMarkdown } from '../../../../../charts/src/text/growingMarkdown.ts'
import { textOfBlocks, type MarkdownBlock } from '../../../../../charts/src/text/markdownTree.ts'

/** The end of a text that grows, as it may be shown. */
export interface GrowingTail {
  readonly blocks: readonly MarkdownBlock[]
  /** Index of the first of them among all blocks. */
  readonly first: number
  /** True if earlier text is left out. */
  readonly isCut: boolean
}

/** The last blocks, as many as it takes for `most` characters; of a single longer one, its end. Looks at no more than these. Pure. */
export function growingTail({ blocks }: Pick<GrowingMarkdown, 'blocks'>, most: number): GrowingTail {
  let first = blocks.length
  let chars = 0
  while (first > 0 && chars < most) chars += lengthOf(blocks[--first]!)
  const shown = blocks.slice(first)
  if (shown.length === 1 && chars > most) return { blocks: [endOf(shown[0]!, most)], first, isCut: true }
  return { blocks: shown, first, isCut: first > 0 }
}

/** Returns the length of a block. Code and text without marks, which alone can be very long, are measured without reading them. */
const lengthOf = (block: MarkdownBlock): number =>
  block.type === 'code' ? block.text.length : textOfBlocks([block]).length

function endOf(block: MarkdownBlock, most: number): MarkdownBlock {
  if (block.type === 'code') return { ...block, text: block.text.slice(-most) }
  if (block.type !== 'paragraph') return block
  return { type: 'paragraph', spans: [{ type: 'text', text: textOfBlocks([block]).slice(-most) }] }
}
