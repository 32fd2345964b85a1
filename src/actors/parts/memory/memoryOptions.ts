import { z } from 'zod'
import { RuntimeError } from '../../../protocol/errors.ts'
import { onlyFields } from '../../../protocol/checks/onlyFields.ts'
import { lazily } from '../../../protocol/lazily.ts'
import { isMemory, type Memory } from '../../../protocol/ports/memory.ts'
import type { Metadata } from '../../../protocol/metadata.ts'
import { pricedModel, type ModelOption, type PricedModel } from '../../turn/turnOptions.ts'

/** The agent and the run for which a function names a user or a workspace. */
export interface MemoryOwner<out Deps = unknown> {
  readonly agent: { readonly id: string; readonly path: readonly string[] }
  /** Metadata that the application noted on the agent, by `metadata` of `runtime.spawn`. */
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
   * Function that returns the user for whom the agent works, such as `({ metadata }) => metadata['user']?.toString()`. Nothing is remembered or
   * recalled where it returns `undefined`.
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

/** The memory of a definition. */
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

const name = lazily(() =>
  z.union([z.string().min(1), z.custom((value) => typeof value === 'function')], {
    error: 'give a name, or a function that returns one',
  }),
)
const timeoutMs = lazily(() => z.number().positive())
const store = lazily(() => z.custom<Memory>(isMemory, 'give a memory, such as markdownMemory(dir)'))

/** Reads the option. A memory without scopes is shared by all agents of the definition. */
export const memorySchema = lazily(() =>
  z.union(
    [
      store(),
      onlyFields({
        store: store(),
        agent: z.boolean().optional(),
        user: name().optional(),
        workspace: name().optional(),
        recall: z
          .union([
            z.literal(false),
            onlyFields({ records: z.int().positive().max(100), tokens: z.int().positive() }).partial(),
          ])
          .optional(),
        extract: z
          .union([z.boolean(), onlyFields({ model: z.unknown(), timeoutMs: timeoutMs() }).partial()])
          .optional(),
        ask: z.enum(['never', 'tainted', 'always']).optional(),
        timeoutMs: timeoutMs().optional(),
      }),
    ],
    {
      // What is wrong in an object is said of its fields.
      error: ({ input }) =>
        typeof input === 'object' && input !== null
          ? undefined
          : 'give a memory, such as markdownMemory(dir), or { store, user, … }',
    },
  ),
)

const naming = <Deps>(given: string | NameOwner<Deps> | undefined): NameOwner<Deps> | null => {
  if (given === undefined) return null
  return typeof given === 'string' ? () => given : given
}

/** @throws RuntimeError `INVALID_DEFINITION` */
export function memoryOf<Deps>(
  given: Memory | MemoryOptions<Deps> | undefined,
  label: string,
): MemorySettings<Deps> | null {
  if (given === undefined) return null
  const options: MemoryOptions<Deps> = isMemory(given) ? { store: given } : given
  const { user, workspace, agent = user === undefined && workspace === undefined, recall = {} } = options
  if (!agent && user === undefined && workspace === undefined)
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: memory: it has no scope: give user or workspace, or agent: true.`,
    )
  return {
    store: options.store,
    agent,
    user: naming(user),
    workspace: naming(workspace),
    recall: recall === false ? null : { records: recall.records ?? 8, tokens: recall.tokens ?? 1_000 },
    extract: extractionOf(options.extract ?? false, label),
    ask: options.ask ?? 'never',
    timeoutMs: options.timeoutMs ?? 5_000,
  }
}

function extractionOf(given: NonNullable<MemoryOptions['extract']>, label: string): MemorySettings['extract'] {
  if (given === false) return null
  const { model, timeoutMs: time = 60_000 } = given === true ? {} : given
  return { model: model === undefined ? null : pricedModel(model, `${label}: memory.extract.model`), timeoutMs: time }
}
