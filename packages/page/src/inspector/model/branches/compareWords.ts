import { cutEnd } from '../../../../../../src/protocol/text/cutMiddle.ts'
import type { Block, Message } from '../../../../../../src/protocol/messages.ts'
import { mediaText, providedText } from '../../../../../../src/protocol/text/messageText.ts'
import type { WordPart } from '../../../../../charts/src/text/wordDiff.ts'
import { jsonOf } from '../words/shortText.ts'

/** Number of characters up to which messages are compared. */
export const mostCompared = 50_000

/** Returns a message as text that can be compared: its words, and its calls with their inputs. Pure. */
export const messageWords = ({ content }: Message): string =>
  cutEnd((content as readonly Block[]).map(wordsOf).filter(Boolean).join('\n\n'), mostCompared)

function wordsOf(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'thinking':
      return ''
    case 'toolCall':
      return `${block.name} ${jsonOf(block.input, 2)}`
    case 'provider':
      return providedText(block)
    default:
      return mediaText(block)
  }
}

/** A part of a text that is shown, or a gap: the number of equal characters that are left out. */
export type ShownPart = WordPart | { readonly type: 'gap'; readonly chars: number }

/** Characters that are shown at each end of a long equal part. */
const context = 120
const leastGap = 200

/** Returns one side of a difference: the parts that it has, without the middle of long equal parts. Pure. */
export function shownParts(parts: readonly WordPart[], side: 'added' | 'removed'): readonly ShownPart[] {
  const own = parts.filter(({ type }) => type === 'same' || type === side)
  if (own.every(({ type }) => type === 'same') && parts.every(({ type }) => type === 'same')) return own
  return own.flatMap((part, at): readonly ShownPart[] => {
    if (part.type !== 'same') return [part]
    const head = at === 0 ? 0 : context
    const tail = at === own.length - 1 ? 0 : context
    const chars = part.text.length - head - tail
    if (chars < leastGap) return [part]
    const shown: ShownPart[] = [{ type: 'gap', chars }]
    if (head > 0) shown.unshift({ type: 'same', text: part.text.slice(0, head) })
    if (tail > 0) shown.push({ type: 'same', text: part.text.slice(-tail) })
    return shown
  })
}
