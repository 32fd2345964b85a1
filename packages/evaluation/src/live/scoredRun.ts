import { textOf } from '../../../../src/protocol/messages.ts'
import type { Metadata } from '../../../../src/protocol/metadata.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { LogRecord, RecordOf } from '../../../../src/protocol/records.ts'
import type { ScoredRun } from './liveTypes.ts'

/** Returns true for the end of a run with an answer: not for a run that was paused or that a person stopped. */
const isScorable = ({ stopReason }: RecordOf<'run.end'>): boolean => stopReason !== 'paused' && stopReason !== 'aborted'

/** Returns true if a record is the end of a run that is scored. */
export const isEnd = (record: { readonly type: string }): boolean =>
  record.type === 'run.end' && isScorable(record as RecordOf<'run.end'>)

/** Reads a run from the log of its agent; `undefined` if it is missing, or has no end that is scored. Rejects as the store does. */
export async function readRun(
  store: Store,
  { agentId, runId }: { readonly agentId: string; readonly runId: string },
): Promise<Omit<ScoredRun, 'signal'> | undefined> {
  let created: { readonly definition: string; readonly metadata?: Metadata } | undefined
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) {
    if (record.type === 'agent.created') created = record
    if ('runId' in record && record.runId === runId) records.push(record)
  }
  const end = records.find((record): record is RecordOf<'run.end'> => record.type === 'run.end')
  if (created === undefined || end === undefined || !isScorable(end)) return undefined
  const reply = records.findLast((record) => record.type === 'reply.end')
  return {
    agentId,
    runId,
    definition: created.definition,
    metadata: created.metadata ?? {},
    prompts: records.flatMap((record) =>
      record.type === 'message.added' && record.message.provenance === undefined
        ? [textOf(record.message.content)]
        : [],
    ),
    answer: reply?.type === 'reply.end' ? textOf(reply.message.content) : '',
    stopReason: end.stopReason,
    costUsd: end.costUsd,
    turns: end.turns,
    records,
  }
}
