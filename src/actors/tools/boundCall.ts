import type { InnerCalls } from './innerCalls.ts'

/** Result of a tool whose answer needs the ports of the agent, which a tool does not see. */
export class BoundCall<in Ports> {
  /**
   * Returns the tool's result. Rejects with a message for the model, or when `signal` aborts. `calls`: returns the object that calls tools.
   */
  readonly answer: (ports: Ports, signal: AbortSignal, calls: () => InnerCalls) => unknown

  constructor(answer: (ports: Ports, signal: AbortSignal, calls: () => InnerCalls) => unknown) {
    this.answer = answer
  }
}
