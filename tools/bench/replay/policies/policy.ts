import type { Agent, AgentOptions, Block, Model, ModelRequest } from '../../../../src/index.ts'
import type { RecordedSession } from '../recordedSession.ts'
import type { SentRequest } from '../replay.ts'

/** Options of the agent that a policy decides on. */
export type AgentShape = Pick<AgentOptions, 'braking' | 'compaction'>

/** The same for a policy that asks a model: it is given the one that stands in for it, whose requests are billed too. */
export type ShapeWithModel = (standIn: Model) => AgentShape

/** Actions of the model and of people that a policy adds to the recorded ones. */
export interface Script {
  /** Content of a reply of its own, before the recorded reply of this turn: the same request comes again, as the reply left it. */
  readonly beforeReply?: (turn: number, request: ModelRequest, agent: Agent) => readonly Block[] | undefined
  /** Called while the agent is idle, before the user turn. */
  readonly atRest?: (turn: number, agent: Agent) => void
  /** A person lets a run go on that is paused for a loop. */
  readonly resumes?: boolean
}

/** One row of the table: a way to keep the model's view of the conversation small. */
export interface Policy {
  readonly name: string
  readonly about: string
  readonly shape: AgentShape | ShapeWithModel
  readonly script?: (session: RecordedSession) => Script
  /** Changes the session before it is replayed: a frame on demand, say. */
  readonly reshape?: (session: RecordedSession) => RecordedSession
  /** For what the product does not do: changes the requests of a replay without it. */
  readonly simulate?: (requests: readonly SentRequest[]) => SentRequest[]
}

/** Both; the second has its say in a reply only where the first has none. */
export const bothScripts = (first: Script, second: Script): Script => ({
  beforeReply: (...at) => first.beforeReply?.(...at) ?? second.beforeReply?.(...at),
  atRest(...at) {
    first.atRest?.(...at)
    second.atRest?.(...at)
  },
  resumes: first.resumes === true || second.resumes === true,
})
