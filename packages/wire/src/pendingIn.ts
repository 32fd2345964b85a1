import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { Pending } from '../../../src/protocol/runs/pending.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'

/** Returns the entry that begins to wait with this record or event; `undefined` if there is none. */
export function pendingIn(agentId: string, record: LogRecord | AgentEvent): Pending | undefined {
  switch (record.type) {
    case 'approval.requested': {
      const { callId, key, name, input, irreversible, suggest, time: askedAt } = record
      const asked = { kind: 'approval', agentId, callId, key, name, input, askedAt } as const
      return {
        ...asked,
        ...(irreversible === undefined ? {} : { irreversible }),
        ...(suggest === undefined ? {} : { suggest }),
      }
    }
    case 'call.requested': {
      const { callId, key, name, input, time: askedAt } = record
      return { kind: 'call', agentId, callId, key, name, input, askedAt }
    }
    case 'question.asked': {
      const { callId, key, name, input, question, schema, problem, background, time: askedAt } = record
      const asked = { kind: 'question', agentId, callId, key, name, input, question, schema, askedAt } as const
      return {
        ...asked,
        ...(background === undefined ? {} : { background }),
        ...(problem === undefined ? {} : { problem }),
      }
    }
    default:
      return undefined
  }
}
