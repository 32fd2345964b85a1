import { cutMiddle } from '../../protocol/text/cutMiddle.ts'
import { mediaOf, wrongInMedia, type SaidMedia } from '../../protocol/text/saidContent.ts'
import { isMedia, type PlainBlock } from '../../protocol/messages.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { isBlocks } from '../tools/isBlocks.ts'
import { jsonOf } from '../tools/jsonOf.ts'
import type { Redactor } from '../../protocol/ports/redactor.ts'

export const textBlock = (text: string): PlainBlock => ({ type: 'text', text })

/** Removes secrets from a value. Applied before text is cut, because half a secret would not be recognised. */
export const clean = <T>({ redactor }: Pick<AgentPorts, 'redactor'>, value: T): T => redactor?.value(value) ?? value

/**
 * Converts the return value of a tool into the blocks that a model reads: without secrets, and cut to size.
 *
 * @throws TypeError when it is not JSON, or has an invalid image or file.
 */
export function contentOf(value: unknown, maxChars: number, ports: Pick<AgentPorts, 'redactor'>): PlainBlock[] {
  const blocks = plainBlocks(value) ?? [textBlock(typeof value === 'string' ? value : jsonOf(value))]
  return cutBlocks(clean(ports, blocks), maxChars)
}

/** Returns the blocks from a tool in their stored form; `undefined` if it returned something else. @throws TypeError for invalid media */
export const plainBlocks = (value: unknown): PlainBlock[] | undefined =>
  isBlocks(value) ? value.map((block) => (block.type === 'text' ? block : soundMedia(block))) : undefined

function soundMedia(said: SaidMedia): PlainBlock {
  const wrong = wrongInMedia(said)
  if (wrong !== undefined) throw new TypeError(`of ${said.type === 'file' ? 'a file' : 'an image'}: ${wrong}`)
  return mediaOf(said)
}

/** Returns a copy of the blocks with their total text limited to `maxChars`. Images and files do not count. */
function cutBlocks(blocks: readonly PlainBlock[], maxChars: number): PlainBlock[] {
  let left = maxChars
  let dropped = 0
  const kept = blocks.flatMap((block): PlainBlock[] => {
    if (isMedia(block)) return [block]
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

/** Maximum length of the output shown for a call without a result, in UTF-16 units. */
const mostPrinted = 4_000

/** Returns the output of a call without a result, without secrets, as text that follows the explanation. Pure. */
export function printedSoFar(text: string, redactor: Redactor | undefined): string {
  // Before it is cut: half of a secret would not be recognised.
  const shown = redactor?.text(text) ?? text
  return shown.trim() === '' ? '' : `\n\nIt had printed:\n${cutMiddle(shown.trimEnd(), mostPrinted)}`
}
