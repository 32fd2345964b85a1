import type { AgentSpec } from './script.ts'

/** How a prompt ended, as the contender itself tells it. */
export interface Ending {
  readonly how: 'done' | 'aborted'
  /** Replies of the model in this run. */
  readonly turns: number
}

/** A conversation that is held. */
export interface Session {
  /** Resolves once the run is over, aborted ones too; rejects when it failed. */
  prompt(text: string): Promise<Ending>
  /** Ends the run under way. */
  abort(): void
  /** Messages of the conversation so far; those of a run count once it is over. */
  messages(): number
}

export interface SessionOptions {
  /** A subscriber: called with every text delta, those of sub-agents too. */
  readonly onDelta?: () => void
  /** So many messages were said before, a user's and an assistant's in turn. An even number. */
  readonly history?: number
}

/** An agent that was defined once, to be created any number of times. */
export interface Definition {
  create(options?: SessionOptions): Session | Promise<Session>
}

/** A contender at work. */
export interface Host {
  define(spec: AgentSpec): Definition
  /** Lets go of every session so far. Not measured: most contenders have nothing to do. */
  release(): Promise<void>
  close(): Promise<void>
}

export interface HostOptions {
  /** Logs in files, with this promise. Only escapement has it; default: in memory. */
  readonly durability?: 'os' | 'batch' | 'each'
}

export interface Contender {
  open(options?: HostOptions): Promise<Host>
}

/** Text of a `history` message, for contenders that take them as an array. */
export const pastText = (index: number): string => (index % 2 === 0 ? `question ${index}` : `answer ${index}`)
