import type { HistoryMessage } from '../../protocol/history.ts'
import type { Metadata } from '../../protocol/metadata.ts'

export interface SpawnOptions {
  /** Default: the definition's name and a random part. */
  readonly id?: string
  /**
   * Stores and lists nothing of the agent, or of the agents below it: its log is in memory until it ends. Its events and spans are marked so,
   * spans carry no content, and a server shows it to no client. It is never unloaded, cannot be resumed, opened, forked or exported, and is
   * gone when the process ends or `close` is called. Default `false`.
   */
  readonly incognito?: boolean
}

/** First state of an agent without a parent. */
export interface BirthOptions {
  /**
   * Facts that the application notes on the agent, such as its owner: at most 32 keys with a string, a number or a boolean each. They are in
   * the log, stay the same for the agent's life, are inherited by its sub-agents and forks, and lists can be searched by them. No model sees
   * them. `runtime.open` refuses an agent that lacks one of these values.
   */
  readonly metadata?: Metadata
  /**
   * The conversation so far, from another system: at most 10,000 messages, the first by the user, with a result right after each tool
   * call. They are recorded with the provenance `imported`, and cost nothing.
   */
  readonly history?: readonly HistoryMessage[]
}

/** An actor of the application's own, of any copy of XState from 5.20 on: described by its shape, as the types of two copies do not fit. */
export interface UnderActor {
  readonly id: string
  readonly sessionId: string
  readonly system: object
}

export interface UnderOptions {
  /**
   * An XState actor of yours whose child the agent's actor becomes: it is then in that actor's system, where its `inspect` sees it. They are
   * not tied in any other way: for an agent that starts and ends with an actor, take `agentLogic` of `escapement/xstate`. Default: none.
   */
  readonly under?: UnderActor
}

/** Dependencies that the application gives to an agent. */
export interface GivenDeps<out Deps> {
  /**
   * Dependencies of every run of the agent that is given none of its own: the same object, never a copy, and in no log, event or request. After
   * a restart they must be given again. Its sub-agents have the same, or the result of `deps` of their entry.
   */
  readonly deps?: Deps
}

/** Options of `runtime.resume`. */
export interface ResumeOptions extends UnderOptions {
  /** `false`: an interrupted run, and queued prompts, wait for `agent.resume()`. Default `true`. */
  readonly continue?: boolean
  /**
   * Takes the agent and its sub-agents from the process that has them. Their leases are lost there, and they end there without another effect. This
   * is for programs that decide where agents run, with a store whose leases can be taken over. Default `false`: `AGENT_ELSEWHERE`.
   */
  readonly takeOver?: boolean
  /**
   * Time to wait for an agent that another process has, in milliseconds, until that process releases it or is known to be gone. Default 0:
   * `AGENT_ELSEWHERE` at once.
   */
  readonly wait?: number
  /** Ends the waiting; the call then rejects with its reason. */
  readonly signal?: AbortSignal
}

/** Options of `runtime.open`. Initial values apply only to a new agent. */
export interface OpenOptions extends BirthOptions, ResumeOptions {}

/** Options of `runtime.spawn`. */
export interface RootSpawnOptions extends SpawnOptions, BirthOptions, UnderOptions {}
