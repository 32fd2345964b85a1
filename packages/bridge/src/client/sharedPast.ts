import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { readAnswer } from './answers.ts'
import type { Asked } from './outgoing.ts'
import { count, fields, list, maybe, partly, text, type Shape } from './shape.ts'

interface PastPlace {
  readonly part: number
  readonly seq: number
}

interface PastPage {
  readonly part: number
  readonly records: readonly LogRecord[]
  readonly next?: PastPlace
}

const pageShape = fields<PastPage>({
  part: count,
  records: list(partly<LogRecord>({ type: text as Shape<never>, seq: count })),
  next: maybe(fields<PastPlace>({ part: count, seq: count })),
})

const isLater = (next: PastPlace, { part, seq }: PastPlace): boolean =>
  next.part > part || (next.part === part && next.seq > seq)

/**
 * Reads the records that a fork shares with its sources: one list for each log, oldest first. Rejects as `snapshot` does, and with
 * `BRIDGE_FRAME` if the pages do not end.
 */
export async function readSharedPast(
  ask: (frame: Asked) => Promise<unknown>,
  agentId: string,
): Promise<readonly (readonly LogRecord[])[]> {
  const parts: LogRecord[][] = []
  for (let from: PastPlace | undefined = { part: 0, seq: 1 }; from !== undefined;) {
    const page: PastPage = readAnswer(pageShape, await ask({ type: 'agent.past', agentId, from }))
    const { records, next } = page
    if (records.length > 0) (parts[from.part] ??= []).push(...records)
    if (next !== undefined && !isLater(next, from))
      throw new RuntimeError('BRIDGE_FRAME', 'The pages of the server lead back to themselves.')
    from = next
  }
  return parts
}
