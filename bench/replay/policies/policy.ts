import type { Agent, AgentOptions, Block, ModelRequest } from '../../../src/index.ts'
import type { RecordedSession } from '../recordedSession.ts'
import type { SentRequest } from '../replay.ts'

/** Options of the agent that a policy decides on. */
export type AgentShape = Pick<AgentOptions, 'braking' | 'compaction'>

/** What a policy has the model and people do beside what was recorded. */
export interface Script {
  /** Content of a reply of its own, before the recorded reply of this turn: the same request comes again, as the reply left it. */
  readonly beforeReply?: (turn: number, request: ModelRequest, agent: Agent) => readonly Block[] | undefined
  /** Called while the agent is idle, before the user turn. */
  readonly atRest?: (turn: number, agent: Agent) => void
}

/** One row of the table: a way to keep the model's view of the conversation small. */
export interface Policy {
  readonly name: string
  readonly about: string
  readonly shape: AgentShape
  readonly script?: (session: RecordedSession) => Script
  /** For what the product does not do: changes the requests of a replay without it. */
  readonly simulate?: (requests: readonly SentRequest[]) => SentRequest[]
}
