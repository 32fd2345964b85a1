import type { Block } from '../../../../src/protocol/messages.ts'
import type { ModelRequest } from '../../../../src/protocol/ports/model.ts'

/** Author of a block. `frame` stands for the system prompt and the tools. */
export type BlockRole = 'frame' | ModelRequest['messages'][number]['role']

/** Returns the text of a block as it is sent; for a call its name and arguments. Pure. */
export function textOfBlock(block: Block): string {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return block.text
    case 'toolCall':
      return block.name + JSON.stringify(block.input)
    case 'image':
    case 'file':
      return 'url' in block ? block.url : block.data
    case 'provider':
      return JSON.stringify(block.data) ?? ''
  }
}

/** Makes the object that represents a block. Called once for equal bytes. */
export interface BlockMaker<T extends object> {
  frame(request: ModelRequest, bytes: string): T
  block(block: Block, role: BlockRole): T
}

/** Turns requests into blocks, as a provider caches them: the same bytes become the same object. */
export class BlockTable<T extends object> {
  readonly #make: BlockMaker<T>
  readonly #byBytes = new Map<string, T>()
  /** Objects by block, since requests share the blocks that did not change. */
  readonly #byBlock = new WeakMap<Block, { readonly role: BlockRole; readonly made: T }>()

  #lastFrame: (Pick<ModelRequest, 'system' | 'tools'> & { readonly made: T }) | undefined

  constructor(make: BlockMaker<T>) {
    this.#make = make
  }

  /** Returns the frame, then every content block, in the order in which they are sent. */
  blocksOf(request: ModelRequest): T[] {
    const blocks = [this.#frameOf(request)]
    for (const { role, content } of request.messages)
      for (const block of content) {
        let known = this.#byBlock.get(block)
        if (known === undefined || known.role !== role) {
          const made = this.#once(`${role} ${block.type} ${textOfBlock(block)}`, () => this.#make.block(block, role))
          this.#byBlock.set(block, (known = { role, made }))
        }
        blocks.push(known.made)
      }
    return blocks
  }

  /** Returns the block of a request's frame, reused by most requests because it may be large. */
  #frameOf(request: ModelRequest): T {
    const { system, tools } = request
    const last = this.#lastFrame
    if (last !== undefined && last.tools === tools && last.system === system) return last.made
    const bytes = system + (tools.length === 0 ? '' : JSON.stringify(tools))
    const made = this.#once(`frame ${bytes}`, () => this.#make.frame(request, bytes))
    this.#lastFrame = { system, tools, made }
    return made
  }

  #once(bytes: string, make: () => T): T {
    let made = this.#byBytes.get(bytes)
    if (made === undefined) this.#byBytes.set(bytes, (made = make()))
    return made
  }
}

/** Returns the number of blocks that two requests of one table share at their beginning. Pure. */
export function sharedBlocks<T>(a: readonly T[], b: readonly T[]): number {
  let shared = 0
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared += 1
  return shared
}
