import { textOf } from '../../protocol/messages.ts'
import type { RequestMessage } from '../../protocol/model.ts'

/** A text without the id of its step, which is its last line where an agent is braked. */
export const withoutId = (text: string): string => text.replace(/\n\[n\d+\]$/, '')

/** What was said in a message, without what brakes have put there; `undefined`: nothing else stands in it. */
export function withoutMarks({ content }: Pick<RequestMessage, 'content'>): string | undefined {
  const own = content.filter((block) => block.type !== 'text' || !block.text.startsWith('<brake-note '))
  return own.length === 0 && content.length > 0 ? undefined : withoutId(textOf(own))
}
