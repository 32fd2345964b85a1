import type { HistoryMessage } from '../../protocol/history.ts'
import type { Metadata } from '../../protocol/metadata.ts'

export interface SpawnOptions {
  /** Id of the agent. Default: the definition's name and a random part. */
  readonly id?: string
  /**
   * Stores and lists nothing of the agent, or of the agents below it: its log is in memory until it ends. Its events and
   * spans are marked as incognito, spans carry no content, and no server shows it to clients. It is never unloaded, cannot
   * be resumed, opened, forked or exported, and is gone when the process ends or `close` is called. Default `false`.
   */
  readonly incognito?: boolean
}

/** First state of an agent without a parent. */
export interface BirthOptions {
  /**
   * Facts that the application attaches to the agent, such as its owner: at most 32 keys with a string, a number or a
   * boolean each. They are in the log, never change, are inherited by sub-agents and forks, and lists can be filtered
   * by them. No model sees them. `runtime.open` refuses an agent that lacks one of these values.
   */
  readonly metadata?: Metadata
  /**
   * The conversation so far, from another system: at most 10,000 messages, the first from the user, with a result
   * right after each tool call. They are recorded with the provenance `imported`, and cost nothing.
   */
  readonly history?: readonly HistoryMessage[]
}

/** An actor of the application's own, of any copy of XState from 5.20 on. Described by its shape, as the types of two copies differ. */
export interface UnderActor {
  readonly id: string
  readonly sessionId: string
  readonly system: object
}

export interface UnderOptions {
  /**
   * An XState actor of yours that becomes the parent of the agent's actor, which is then in its system and visible to its `inspect`. They are
   * not tied in any other way: for an agent that starts and ends with an actor, use `agentLogic` of `escapement/xstate`. Default: none.
   */
  readonly under?: UnderActor
}

/** Dependencies that the application gives to an agent. */
export interface GivenDeps<out Deps> {
  /**
   * Dependencies for every run that is given none of its own: the same object, never a copy, and in no log, event or
   * request. After a restart they must be given again. Sub-agents have the same, or the result of `deps` in their entry.
   */
  readonly deps?: Deps
}

/** Options of `runtime.resume`. */
export interface ResumeOptions extends UnderOptions {
  /** `false` makes an interrupted run, and queued prompts, wait for `agent.resume()`. Default `true`. */
  readonly continue?: boolean
  /**
   * Takes the agent and its sub-agents from the process that has them, which loses their leases and ends them without another effect.
   * For programs that decide where agents run, with a store whose leases can be taken over. Default `false`: `AGENT_ELSEWHERE`.
   */
  readonly takeOver?: boolean
  /**
   * Time to wait for an agent that another process has, in milliseconds, until that process releases it or is known to be gone. Default 0:
   * `AGENT_ELSEWHERE` at once.
   */
  readonly wait?: number
  /** Signal that ends the wait. The call then rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Options of `runtime.open`. Initial values apply only to a new agent. */
export interface OpenOptions extends BirthOptions, ResumeOptions {}

/** Options of `runtime.spawn`. */
export interface RootSpawnOptions extends SpawnOptions, BirthOptions, UnderOptions {}
