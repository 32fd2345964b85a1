import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { toolCallsOf } from '../../../../../../src/protocol/text/messageText.ts'
import type { LogRecord } from '../../../../../../src/protocol/records.ts'

/** Returns the node that an event itself is about; `null` if there is none. */
export const nodeOf = (event: AgentEvent): NodeId | null => {
  if ('nodeId' in event && event.nodeId !== undefined) return event.nodeId
  return event.type === 'revert.applied' ? (event.target ?? null) : null
}

/**
 * Returns the node to show for an event: its own, the one of its call, or the newest at that time. `records`: all of
 * its agent's records. `null` if there was no node yet. Pure.
 */
export function nodeAt(event: AgentEvent, records: readonly LogRecord[]): NodeId | null {
  const own = nodeOf(event)
  if (own !== null) return own
  const callId = 'callId' in event ? event.callId : undefined
  let newest: NodeId | null = null
  // A log counts from 1 without gaps.
  for (let index = Math.min(event.seq, records.length) - 1; index >= 0; index--) {
    const record = records[index]!
    if ('nodeId' in record && record.nodeId !== undefined) newest ??= record.nodeId
    if (newest !== null && callId === undefined) return newest
    if (record.type !== 'reply.end') continue
    const place = toolCallsOf(record.message.content).findIndex((call) => call.callId === callId)
    if (place >= 0) return record.nodeId + 1 + place
  }
  return newest
}

/** Returns the record that a node came with. Pure. */
export const recordOf = (node: NodeId, records: readonly LogRecord[]): LogRecord | undefined =>
  records.find((record) => 'nodeId' in record && record.nodeId === node)
