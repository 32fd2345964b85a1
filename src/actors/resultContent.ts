import { cutMiddle } from '../conversation/cutMiddle.ts'
import { imageOf, wrongInImage, type SaidImage } from '../protocol/content.ts'
import type { PlainBlock } from '../protocol/messages.ts'
import type { AgentPorts } from './agentPorts.ts'
import { isBlocks } from './tools/defineTool.ts'

export const textBlock = (text: string): PlainBlock => ({ type: 'text', text })

/** Applied before a cut, because a secret that was cut in half is no longer recognised. */
export const clean = <T>({ redactor }: Pick<AgentPorts, 'redactor'>, value: T): T => redactor?.value(value) ?? value

/**
 * What a model reads of what a tool returned: without secrets, and cut to size.
 *
 * @throws TypeError when it is not JSON, or has an image that is none.
 */
export function contentOf(value: unknown, maxChars: number, ports: Pick<AgentPorts, 'redactor'>): PlainBlock[] {
  const blocks = isBlocks(value)
    ? value.map((block) => (block.type === 'image' ? soundImage(block) : block))
    : [textBlock(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))]
  return cutBlocks(clean(ports, blocks), maxChars)
}

function soundImage(image: SaidImage): PlainBlock {
  const wrong = wrongInImage(image)
  if (wrong !== undefined) throw new TypeError(`of an image: ${wrong}`)
  return imageOf(image)
}

/** A copy of the blocks with their total text limited to `maxChars`; images do not count. */
function cutBlocks(blocks: readonly PlainBlock[], maxChars: number): PlainBlock[] {
  let left = maxChars
  let dropped = 0
  const kept = blocks.flatMap((block): PlainBlock[] => {
    if (block.type === 'image') return [block]
    if (block.text.length > left && left < 100) {
      dropped += 1
      return []
    }
    const text = cutMiddle(block.text, left)
    left -= text.length
    return [textBlock(text)]
  })
  // Copied because the log keeps it: an array that grew keeps spare capacity.
  return dropped === 0 ? kept.slice() : [...kept, textBlock(`[… ${dropped} more blocks left out …]`)]
}
