import type { Client } from '../../../../../bridge/src/client/index.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import { isLogged } from '../agent/eventList.ts'

/** Reads the first `seq` records of a log that has at least as many. Rejects when `signal` is aborted. */
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
      { fromSeq: 1, deltas: false, captured: false },
    )
    if (signal.aborted) giveUp()
    else signal.addEventListener('abort', giveUp)
  })
}
