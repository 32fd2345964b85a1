import type { Client } from '../../client.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import { isLogged } from './eventList.ts'

/**
 * What a fork shares with its source, and that with its own: a part for each log, oldest first. Rejects when a log cannot be read, or
 * when `signal` is aborted.
 */
export async function readPast(
  client: Client,
  { agentId, seq }: NonNullable<RecordOf<'agent.created'>['forkedFrom']>,
  signal: AbortSignal,
): Promise<LogRecord[][]> {
  // Says so when there is none, which a subscription does not.
  const { seq: last } = await client.agent(agentId).snapshot()
  if (last < seq)
    throw new RuntimeError(
      'LOG_CORRUPT',
      `This is a fork of record ${seq} of "${agentId}", whose log ends with ${last}.`,
    )
  const records = await readUpTo(client, agentId, seq, signal)
  const [first] = records
  const source = first?.type === 'agent.created' ? first.forkedFrom : undefined
  return source === undefined ? [records] : [...(await readPast(client, source, signal)), records]
}

/** The first so many records of a log that has as many. Rejects when `signal` is aborted. */
export function readUpTo(client: Client, agentId: string, seq: number, signal: AbortSignal): Promise<LogRecord[]> {
  return new Promise((resolve, reject) => {
    const records: LogRecord[] = []
    const end = (): void => {
      unsubscribe()
      signal.removeEventListener('abort', giveUp)
    }
    const giveUp = (): void => {
      end()
      reject(signal.reason as Error)
    }
    const unsubscribe = client.agent(agentId).subscribe(
      (event) => {
        if (!isLogged(event) || event.agentId !== agentId || records.length >= seq) return
        records.push(event as LogRecord)
        if (records.length < seq) return
        end()
        resolve(records)
      },
      { fromSeq: 1, deltas: false },
    )
    if (signal.aborted) giveUp()
    else signal.addEventListener('abort', giveUp)
  })
}
