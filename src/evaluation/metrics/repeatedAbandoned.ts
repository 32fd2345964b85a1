import { rebuildConversation } from '../../conversation/rebuildConversation.ts'
import { callPrint, callsGivenUp } from '../../conversation/lessons.ts'
import type { LogRecord } from '../../protocol/records.ts'

/**
 * How many calls an agent made that it had made before on a branch which it had given up, as a failure or a tangent; the same call is the same
 * tool with the same arguments, as for lessons. `past`: what a fork shares with its source. Pure.
 */
export function repeatedAbandoned(records: readonly LogRecord[], past: readonly LogRecord[] = []): number {
  const conversation = rebuildConversation(records.slice(0, 1), { past })
  const givenUp = new Set<string>()
  let repeated = 0
  for (const record of records) {
    conversation.apply(record)
    if (record.type === 'tool.start' && givenUp.has(callPrint(record))) repeated += 1
    if (record.type === 'revert.applied' && record.tag !== undefined)
      for (const { print } of callsGivenUp(record.tag, conversation)) givenUp.add(print)
  }
  return repeated
}
