import { z } from 'zod'
import type { AgentEvent } from './events.ts'
import { questionSchema } from './questions.ts'
import type { LogRecord } from './records.ts'

const waiting = {
  agentId: z.string(),
  callId: z.string(),
  /** Unique across all agents; any ancestor can decide by it. */
  key: z.string(),
  name: z.string(),
  input: z.unknown(),
}

/** What waits for people: a call to be approved, a question of a tool, or a call that a client is to carry out. */
export const pendingSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('approval'), ...waiting }),
  z.object({ kind: z.literal('question'), ...waiting, ...questionSchema.shape }),
  z.object({ kind: z.literal('call'), ...waiting }),
])
export type Pending = Readonly<z.infer<typeof pendingSchema>>
export type PendingOf<K extends Pending['kind']> = Extract<Pending, { kind: K }>

/** What waits from this record or event on; `undefined` if it says nothing of the kind. */
export function pendingIn(agentId: string, record: LogRecord | AgentEvent): Pending | undefined {
  switch (record.type) {
    case 'approval.requested':
    case 'call.requested': {
      const { callId, key, name, input } = record
      const kind = record.type === 'call.requested' ? 'call' : 'approval'
      return { kind, agentId, callId, key, name, input }
    }
    case 'question.asked': {
      const { callId, key, name, input, question, schema, problem } = record
      const asked = { kind: 'question', agentId, callId, key, name, input, question, schema } as const
      return problem === undefined ? asked : { ...asked, problem }
    }
    default:
      return undefined
  }
}
