import type { SessionUpdate } from '@agentclientprotocol/sdk'
import type { EventOf } from '../../protocol/events.ts'

/** A compaction's beginning or end. An agent has one at a time, so its turn names it. */
export function compactionUpdate(event: EventOf<'compaction.start' | 'compaction.end'>): SessionUpdate {
  const { runId, turnIndex } = event
  const named = { sessionUpdate: 'compaction_update', compactionId: `${runId}/t${turnIndex}` } as const
  if (event.type === 'compaction.start') return { ...named, status: 'in_progress' }
  const { applied, reason, overlay } = event
  if (!applied) return { ...named, status: 'failed', error: reason ?? 'The conversation was left as it is.' }
  const summary = overlay === undefined ? {} : { summary: [{ type: 'text', text: overlay.summary } as const] }
  return { ...named, status: 'completed', ...summary }
}
