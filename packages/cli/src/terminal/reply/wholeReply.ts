import { addToReply, emptyReply, restOfReply } from './growingReply.ts'
import type { ReplyLook } from './spanRuns.ts'

/** A reply that has come to its end as lines of a terminal; those of code may be wider. Pure. */
export function replyLines(source: string, look: ReplyLook, columns: number): string[] {
  const { reply, lines } = addToReply(emptyReply, source, look, columns)
  return [...lines, ...restOfReply(reply, look, columns)]
}
