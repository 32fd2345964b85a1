/** Result of a tool whose answer needs the ports of the agent, which a tool does not see. */
export class BoundCall<in Ports> {
  /** Returns the tool's result, or rejects with what the model reads in place of it; also when `signal` aborts. */
  readonly answer: (ports: Ports, signal: AbortSignal) => unknown

  constructor(answer: (ports: Ports, signal: AbortSignal) => unknown) {
    this.answer = answer
  }
}
