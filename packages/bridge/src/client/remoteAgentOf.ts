import type { z } from 'zod'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { EventsOf } from '../../../../src/actors/define/typedEvents.ts'
import type { RemoteAgent } from './remoteAgent.ts'

/** A remote agent whose definition's code is on the server: `RemoteAgentOf<typeof coder>`. */
export type RemoteAgentOf<D extends AgentDefinition> =
  D extends AgentDefinition<infer Output, never, infer Calls, infer State>
    ? RemoteAgent<Output, EventsOf<Calls>, State>
    : never

export interface OutputOptions<Output> {
  /**
   * Schema that checks and parses the answers of the agent's runs. An answer that does not match ends the run here with
   * `OUTPUT_INVALID`. Without it `output` is the JSON that the server checked, without the schema's conversions and defaults.
   */
  readonly output: z.ZodType<Output>
}

/** Type of the answers of this definition's agents. */
export type AnswerOf<D extends AgentDefinition> = D extends AgentDefinition<infer Output> ? Output : never
