import type { PlainBlock } from '../../../../src/index.ts'
import type { MeasuredBlock } from './requestBlocks.ts'

/** Brackets of a text that looks like the runtime's own are shown in another form. */
const comparable = (text: string): string => text.replace(/[[\]()<>‹›]/g, '').trim()

const seen = new WeakMap<MeasuredBlock, string>()

function shownText(block: MeasuredBlock): string {
  let text = seen.get(block)
  if (text === undefined) seen.set(block, (text = comparable(block.words)))
  return text
}

/** How many of these texts, all said by people in this order, a request does not show in it. Images are not looked at. */
export function lostTexts(said: readonly PlainBlock[], blocks: readonly MeasuredBlock[]): number {
  let at = 0
  let lost = 0
  for (const block of said) {
    if (block.type !== 'text') continue
    const text = comparable(block.text)
    let index = at
    while (index < blocks.length && !(blocks[index]!.role === 'user' && shownText(blocks[index]!).startsWith(text)))
      index += 1
    if (index === blocks.length) lost += 1
    else at = index + 1
  }
  return lost
}
