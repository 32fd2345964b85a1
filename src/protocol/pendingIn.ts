import type { AgentEvent } from './events.ts'
import type { Pending } from './pending.ts'
import type { LogRecord } from './records.ts'

/** What waits from this record or event on; `undefined` if it says nothing of the kind. */
export function pendingIn(agentId: string, record: LogRecord | AgentEvent): Pending | undefined {
  switch (record.type) {
    case 'approval.requested':
    case 'call.requested': {
      const { callId, key, name, input, time: askedAt } = record
      const kind = record.type === 'call.requested' ? 'call' : 'approval'
      return { kind, agentId, callId, key, name, input, askedAt }
    }
    case 'question.asked': {
      const { callId, key, name, input, question, schema, problem, time: askedAt } = record
      const asked = { kind: 'question', agentId, callId, key, name, input, question, schema, askedAt } as const
      return problem === undefined ? asked : { ...asked, problem }
    }
    default:
      return undefined
  }
}
