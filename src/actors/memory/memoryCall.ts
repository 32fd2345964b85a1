import type { AgentPorts } from '../agentPorts.ts'

/** What a tool of the memory returns: what is to be done with the agent's memory, which a tool does not see. */
export class MemoryCall {
  readonly #answer: (ports: AgentPorts) => Promise<string>

  constructor(answer: (ports: AgentPorts) => Promise<string>) {
    this.#answer = answer
  }

  /** What the model is told. Rejects with what went wrong. */
  answer(ports: AgentPorts): Promise<string> {
    return this.#answer(ports)
  }
}
