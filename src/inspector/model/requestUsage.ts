import type { Usage } from '../../protocol/messages.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { RequestView } from './agentView.ts'

/** What the provider reported for the reply to a request; `undefined` while there is none. Pure; looks no further than the next reply. */
export function requestUsage(records: readonly LogRecord[], { seq, turnIndex }: RequestView): Usage | undefined {
  for (let at = seq; at < records.length; at++) {
    const record = records[at]!
    if (record.type === 'reply.end') return record.turnIndex === turnIndex ? record.message.usage : undefined
  }
  return undefined
}
