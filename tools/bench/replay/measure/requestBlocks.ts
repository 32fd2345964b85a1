import { BlockTable as Blocks, type BlockRole } from '../../../../packages/evaluation/src/metrics/blockTable.ts'
import { frameWords, wordsOf } from './names.ts'
import { textTokens, tokensOf } from './tokens.ts'

/** A block of a request as a provider caches it. Blocks with the same bytes are the same object. */
export interface MeasuredBlock {
  readonly tokens: number
  /** In which names are looked for. */
  readonly words: string
  /** Role of the block; the frame has none. */
  readonly role: BlockRole
  /** True if it is a fold's index, in which a name only says where to look. */
  readonly isIndex: boolean
}

/** Tells whether a text is the index that a fold leaves. */
export const isIndexText = (text: string): boolean => text.startsWith('<brake-note kind="index"')

/** Turns requests into measured blocks, of which there is one for the same bytes. */
export class BlockTable extends Blocks<MeasuredBlock> {
  constructor() {
    super({
      frame: (request, bytes) => ({
        tokens: textTokens(bytes),
        words: frameWords(request),
        role: 'frame',
        isIndex: false,
      }),
      block: (block, role) => ({
        tokens: tokensOf(block),
        words: wordsOf(block),
        role,
        isIndex: block.type === 'text' && isIndexText(block.text),
      }),
    })
  }
}
