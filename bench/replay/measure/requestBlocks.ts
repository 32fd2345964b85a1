import type { Block, ModelRequest } from '../../../src/index.ts'
import { frameWords, wordsOf } from './names.ts'
import { textOfBlock, textTokens, tokensOf } from './tokens.ts'

/** A block of a request as a provider caches it. Blocks with the same bytes are the same object. */
export interface MeasuredBlock {
  readonly tokens: number
  /** In which names are looked for. */
  readonly words: string
  /** What was said, by role; the frame has none. */
  readonly role: 'frame' | 'user' | 'assistant' | 'toolResult'
  /** Whether it is a fold's index: a name there says only where to look. */
  readonly isIndex: boolean
}

/** Whether a text is the index that a fold leaves. */
export const isIndexText = (text: string): boolean => text.startsWith('<brake-note kind="index"')

/** Turns requests into blocks, of which it keeps one for the same bytes. */
export class BlockTable {
  readonly #byBytes = new Map<string, MeasuredBlock>()
  /** Requests share the blocks that did not change. */
  readonly #byBlock = new WeakMap<Block, MeasuredBlock>()

  /** The frame, then every content block, in the order in which they are sent. */
  blocksOf(request: ModelRequest): MeasuredBlock[] {
    const blocks = [this.#frame(request)]
    for (const { role, content } of request.messages)
      for (const block of content) {
        let measured = this.#byBlock.get(block)
        if (measured === undefined || measured.role !== role) {
          measured = this.#measured(block, role)
          this.#byBlock.set(block, measured)
        }
        blocks.push(measured)
      }
    return blocks
  }

  #frame(request: ModelRequest): MeasuredBlock {
    const tools = request.tools.length === 0 ? '' : JSON.stringify(request.tools)
    const make = (): MeasuredBlock => ({
      tokens: textTokens(request.system + tools),
      words: frameWords(request),
      role: 'frame',
      isIndex: false,
    })
    return this.#once(`frame ${request.system}${tools}`, make)
  }

  #measured(block: Block, role: MeasuredBlock['role']): MeasuredBlock {
    return this.#once(`${role} ${block.type} ${textOfBlock(block)}`, () => ({
      tokens: tokensOf(block),
      words: wordsOf(block),
      role,
      isIndex: block.type === 'text' && isIndexText(block.text),
    }))
  }

  #once(bytes: string, make: () => MeasuredBlock): MeasuredBlock {
    let block = this.#byBytes.get(bytes)
    if (block === undefined) this.#byBytes.set(bytes, (block = make()))
    return block
  }
}
