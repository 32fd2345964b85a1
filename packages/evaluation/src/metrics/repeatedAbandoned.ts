import { rebuildConversation } from '../../../../src/conversation/tree/rebuildConversation.ts'
import { callPrint, callsGivenUp } from '../../../../src/conversation/brakes/lessons/lessons.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'

/**
 * Returns the number of an agent's calls that it had already made on a branch given up as a failure or a tangent. Calls are the same if tool and
 * arguments are, as for lessons. `past`: the records that a fork shares with its source. Pure.
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
