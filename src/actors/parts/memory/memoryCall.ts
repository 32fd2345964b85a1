import type { AgentPorts } from '../../agentPorts.ts'

/** Result of a tool of the memory: the work to do with the agent's memory, which a tool does not see. */
export class MemoryCall {
  readonly #answer: (ports: AgentPorts) => Promise<string>

  constructor(answer: (ports: AgentPorts) => Promise<string>) {
    this.#answer = answer
  }

  /** Resolves with the text for the model. Rejects with what went wrong. */
  answer(ports: AgentPorts): Promise<string> {
    return this.#answer(ports)
  }
}
