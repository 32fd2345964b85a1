import type { AgentDefinition } from '../actors/define/agentDefinition.ts'
import { hasCode, messageOf } from '../protocol/errors.ts'
import type { Logger } from '../protocol/ports/logger.ts'
import type { LogRecord } from '../protocol/records.ts'
import type { Store, StoreLease } from '../protocol/ports/store.ts'
import { checkVersion } from '../protocol/upgradeRecord.ts'
import { readHistory } from '../log/readHistory.ts'
import { goOnFrom, isKeepable, isReadable, type OpenedLog } from './agents/keptAgent.ts'

/** Returns an agent's log: its checkpoint and the records since or, without a matching checkpoint, the whole log. Rejects as `readHistory` does. */
export async function openHistory(
  store: Store,
  { agentId, lastSeq }: Pick<StoreLease, 'agentId' | 'lastSeq'>,
  definition: AgentDefinition,
  logger: Logger | undefined,
): Promise<OpenedLog> {
  try {
    const opened = await fromCheckpoint(store, agentId, lastSeq, definition)
    if (opened !== undefined) return opened
  } catch (thrown) {
    if (hasCode(thrown, 'LOG_VERSION')) throw thrown
    logger?.warn({ agentId }, `a checkpoint is of no use, and the whole log is read: ${messageOf(thrown)}`)
  }
  return await readHistory(store, agentId)
}

async function fromCheckpoint(
  store: Store,
  agentId: string,
  lastSeq: number,
  definition: AgentDefinition,
): Promise<OpenedLog | undefined> {
  if (store.checkpoints === undefined || !isKeepable(definition)) return undefined
  const checkpoint = await store.checkpoints.read(agentId)
  if (!isReadable(checkpoint)) return undefined
  const records: LogRecord[] = []
  // A store that knows how many there are need not look for more.
  for await (const record of store.read(agentId, checkpoint.seq, Math.max(1, lastSeq - checkpoint.seq + 1))) {
    checkVersion(agentId, record)
    records.push(record)
  }
  return goOnFrom(checkpoint, records, definition)
}
