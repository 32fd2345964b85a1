import { z } from 'zod'
import { estimateTokens, type TokenCounter } from '../../conversation/limits/tokenCounter.ts'
import type { QueueMode, ToolExecution } from '../../machines/agentPolicy.ts'
import { onlyFields } from '../../protocol/checks/onlyFields.ts'

/** An option of `defineAgent`: its default and its schema. */
interface PlainOption<T> {
  readonly usual: T
  readonly schema: () => z.ZodType
}

const option = <T>(usual: T, schema: () => z.ZodType): PlainOption<T> => ({ usual, schema })
const count = () => z.int().positive()
const isFunction = (value: unknown): boolean => typeof value === 'function'
const isCounter = (value: unknown): boolean =>
  isFunction((value as TokenCounter | undefined)?.message) && isFunction((value as TokenCounter | undefined)?.text)

/** Options with a value as default. Their types follow from this table, with the comments; the guide's rows are compared with it. */
export const plainOptions = {
  /** The agent's purpose; agents that may call it choose by this. */
  description: option('', () => z.string().min(1)),
  /** Maximum depth of the tree below, not counting this agent; the root's value applies. Default 5. */
  maxDepth: option(5, () => z.int().min(0).max(50)),
  /** Sub-agents alive at once, at most 100; further calls wait. Default 16. */
  maxChildren: option(16, () => count().max(100, 'at most 100: split the work into a deeper tree')),
  /** Maximum number of calls of one reply that are run; the model is told that the others were not. Default 128. */
  maxCallsPerReply: option(128, () => count().max(10_000)),
  /** Calls that work in the background at once; further ones are answered with an error. Default 16. */
  maxBackground: option(16, () => count().max(100)),
  /** Number of answers to ask for, in total, before the run ends with `OUTPUT_INVALID`. Default 3. */
  outputAttempts: option(3, count),
  /** Order in which the calls of a reply are run. Default `'parallel'`. */
  toolExecution: option<ToolExecution>('parallel', () =>
    z.union([z.enum(['parallel', 'sequential']), onlyFields({ batch: count() })]),
  ),
  /** Number of waiting messages that are delivered at a time; default `'one-at-a-time'`. */
  queueMode: option<QueueMode>('one-at-a-time', () => z.enum(['one-at-a-time', 'all'])),
  /** Maximum number of messages that wait in each queue; default 100. */
  maxQueue: option(100, count),
  tokenCounter: option<TokenCounter>(estimateTokens, () => z.custom(isCounter, 'give { message, text }')),
  /** Checks every request before it is sent; a violation ends the run with `INVALID_REQUEST`. Default `false`. */
  checkRequests: option<boolean>(false, () => z.boolean()),
  /** Keeps the exact request of every turn in the log, as its difference from the one before: see `capturedRequests`. Default `false`. */
  captureTurnRequests: option<boolean>(false, () => z.boolean()),
}

type Table = typeof plainOptions

export type PlainOptions = { readonly [O in keyof Table]?: Table[O]['usual'] }

const entries = Object.entries(plainOptions) as [keyof Table, PlainOption<unknown>][]

export const plainSchemas = Object.fromEntries(entries.map(([name, { schema }]) => [name, schema]))

/** Returns the given values, with the defaults of those that are missing. */
export const readPlain = (options: { readonly [O in keyof Table]?: unknown }): Required<PlainOptions> =>
  Object.fromEntries(entries.map(([name, { usual }]) => [name, options[name] ?? usual])) as Required<PlainOptions>
