import type { Memory } from '../../../protocol/ports/memory.ts'
import type { Metadata } from '../../../protocol/metadata.ts'
import type { ModelOption, PricedModel } from '../../turn/turnOptions.ts'

/** The agent and the run for which a function names a user or a workspace. */
export interface MemoryOwner<out Deps = unknown> {
  readonly agent: { readonly id: string; readonly path: readonly string[] }
  /** Metadata that the application gave the agent with `metadata` of `runtime.spawn`. */
  readonly metadata: Metadata
  /** Value that the application gave to the run. */
  readonly deps: Deps
}

/** Returns the name of a user or a workspace; `undefined` if this agent works for none. */
export type NameOwner<in Deps = unknown> = (owner: MemoryOwner<Deps>) => string | undefined

export interface MemoryOptions<in Deps = unknown> {
  /** The memory: `markdownMemory(dir)`, `sqliteMemory(file)` or one of yours. It is not closed with the runtime. */
  readonly store: Memory
  /** Shares the memory among all agents of this definition, for all users. Default: only if neither `user` nor `workspace` is given. */
  readonly agent?: boolean
  /**
   * User for whom the agent works, or a function that returns the user, such as `({ metadata }) =>
   * metadata['user']?.toString()`. Nothing is remembered or recalled if it returns `undefined`.
   */
  readonly user?: string | NameOwner<Deps>
  /** The workspace of the agent, such as the name of a project: shared by all who work there. */
  readonly workspace?: string | NameOwner<Deps>
  /** Amount of memories that the model sees when a run begins; `false`: none. Default `{ records: 8, tokens: 1_000 }`. */
  readonly recall?: false | { readonly records?: number; readonly tokens?: number }
  /** Searches folded and compacted content for facts, with the agent's own model or another, and keeps lessons of reverts. Default `false`. */
  readonly extract?: boolean | { readonly model?: ModelOption; readonly timeoutMs?: number }
  /**
   * Cases in which a person is asked before something is kept, as with `context.ask`: always, or only for content that may come from the output of a
   * tool. Content that the person approves counts as known. Default `'never'`.
   */
  readonly ask?: 'never' | 'tainted' | 'always'
  /** Time limit for one answer of the memory, in milliseconds; default 5,000. */
  readonly timeoutMs?: number
}

export interface MemoryOption<in Deps = unknown> {
  /**
   * The agent's memory beyond one conversation, with the tools `remember` and `recall_memory`: a memory such as `markdownMemory(dir)`,
   * which all agents of this definition share, or `{ store, user, … }`. Off by default.
   */
  readonly memory?: Memory | MemoryOptions<Deps>
}

export interface MemorySetting<in Deps = never> {
  /** The agent's memory beyond one conversation. */
  readonly memory: MemorySettings<Deps> | null
}

/** The memory settings of a definition. */
export interface MemorySettings<in Deps = never> {
  readonly store: Memory
  readonly agent: boolean
  readonly user: NameOwner<Deps> | null
  readonly workspace: NameOwner<Deps> | null
  readonly recall: { readonly records: number; readonly tokens: number } | null
  readonly extract: { readonly model: PricedModel | null; readonly timeoutMs: number } | null
  readonly ask: 'never' | 'tainted' | 'always'
  readonly timeoutMs: number
}
