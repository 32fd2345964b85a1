import { addToReply, emptyReply, restOfReply } from './growingReply.ts'
import type { ReplyLook } from './spanRuns.ts'

/** Returns a complete reply as lines for a terminal. Lines of code may be wider. Pure. */
export function replyLines(source: string, look: ReplyLook, columns: number): string[] {
  const { reply, lines } = addToReply(emptyReply, source, look, columns)
  return [...lines, ...restOfReply(reply, look, columns)]
}
