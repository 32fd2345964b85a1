import type { Block, TokenCounter } from '../../../../src/index.ts'
import { textOfBlock } from '../../../../packages/evaluation/src/metrics/blockTable.ts'

/** Tokens of a text: a quarter of its characters, everywhere in these figures. */
export const textTokens = (text: string): number => Math.ceil(text.length / 4)

/** Tokens that a block adds to a request besides its text, and tokens of an image. */
const perBlock = 4
const perImage = 1_600

/** Tokens of a block in a request. */
export const tokensOf = (block: Block): number =>
  perBlock + (block.type === 'image' ? perImage : textTokens(textOfBlock(block)))

/** Tokens that writing these blocks costs. */
export const tokensWritten = (content: readonly Block[]): number =>
  textTokens(content.map((block) => (block.type === 'image' ? '' : textOfBlock(block))).join(''))

/** The agent's counter, so that what it decides by is what is measured. */
export const counter: TokenCounter = {
  text: (text) => perBlock + textTokens(text),
  message: ({ content }) => content.reduce((sum, block) => sum + tokensOf(block), 0),
}
