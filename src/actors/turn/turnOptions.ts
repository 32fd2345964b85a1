import { isNestedDeeper, mostLevels } from '../../protocol/checks/nesting.ts'
import type { AnyModel } from '../models/anyModel.ts'
import { z } from 'zod'
import { onlyFields } from '../../protocol/checks/onlyFields.ts'
import type { ConversationView } from '../../conversation/tree/conversationView.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { lazily } from '../../protocol/lazily.ts'
import type { Model, ModelSettings, PromptCache } from '../../protocol/ports/model.ts'
import type { RunStopReason, Spent } from '../../protocol/records.ts'
import type { Limits } from '../../protocol/runs/runLimits.ts'
import { toolChoiceSchema, type LimitReason, type ToolChoice, type UseChange } from '../../protocol/bridge/turns.ts'
import { modelOf } from '../models/modelOf.ts'
import { pricingSchema, type Pricing } from './pricing.ts'
import type { RunContext } from '../calls/runContext.ts'

/** A model, alone or with its prices. */
export type ModelOption =
  | AnyModel
  | { readonly model: AnyModel; /** Default: none, so the model's cost counts as 0. */ readonly pricing?: Pricing }

export interface PricedModel {
  readonly model: Model
  readonly pricing: Pricing | null
}

/** A tool or sub-agent of the definition: its name, or itself. */
export type OfferedTool = string | { readonly name: string }

/** The turn that begins, as `beforeTurn` is given it. */
export interface TurnContext<out Deps = unknown> extends RunContext<Deps> {
  /** Number of the turn in the run, from 1. */
  readonly turn: number
  /** The turn's instructions, tools and model unless `beforeTurn` changes them. `model` is the id of a model. */
  readonly instructions: string
  readonly tools: readonly string[]
  readonly model: string
  /** Amounts that the run has used so far. `limits`: the amounts that it may use. */
  readonly spent: Spent
  readonly limits: Limits
  /** Stop reason of the previous reply; missing in the first turn of a run. */
  readonly lastStopReason?: RunStopReason
  /** Set in the run's last turn, which `onLimit: 'answer'` allows. That turn has no tools, whatever `beforeTurn` says. */
  readonly limit?: LimitReason
  /** The conversation so far. */
  readonly conversation: ConversationView
}

/** Changes that `beforeTurn` makes, for this turn alone. */
export interface TurnChanges {
  readonly instructions?: string | undefined
  /** The only tools and sub-agents of the definition that are offered. The tools of the brakes always are. */
  readonly tools?: readonly OfferedTool[] | undefined
  readonly toolChoice?: ToolChoice | undefined
  /** Name of one of the definition's `models`, or a model. */
  readonly model?: string | ModelOption | undefined
  /** Settings that differ from the definition's. */
  readonly settings?: Omit<ModelSettings, 'responseFormat' | 'toolChoice'> | undefined
}

/** Settings of an agent from its next turn on. `null` restores the definition's value; a missing field stays as it is. */
export interface UseOptions {
  /** Instructions that replace the definition's, even if those are a function. */
  readonly instructions?: string | null | undefined
  /** The only tools and sub-agents of the definition that are offered. The tools of the brakes always are. */
  readonly tools?: readonly OfferedTool[] | null | undefined
  /** Name of one of the definition's `models`, or a model. After a restart a given model is not there, and the definition's is used. */
  readonly model?: string | ModelOption | null | undefined
}

/** Returns the system prompt of each turn. */
export type DynamicInstructions<Deps = unknown> = (context: RunContext<Deps>) => string | Promise<string>

/** Decides the parameters of each turn before it begins. */
export type BeforeTurn<Deps = unknown> = (
  turn: TurnContext<Deps>,
) => TurnChanges | undefined | void | Promise<TurnChanges | undefined | void>

/** The options of `defineAgent` that determine the requests of a turn. */
export interface TurnOptions<Deps = unknown> {
  /** The system prompt, or a function that is asked for it before every turn. Its answer is recorded, and it may take `hookTimeoutMs`. */
  readonly instructions?: string | DynamicInstructions<Deps>
  /** Called before every turn to decide how the model is asked; the decision is recorded. It may take `hookTimeoutMs`. */
  readonly beforeTurn?: BeforeTurn<Deps>
  /** Models by name, for `beforeTurn` and `agent.use`. They are available again after a restart. */
  readonly models?: { readonly [name: string]: ModelOption }
  readonly settings?: Omit<ModelSettings, 'responseFormat'>
  /**
   * Asks the provider to cache the instructions and the conversation so far, if it has to be asked; `false` turns that
   * off. Default `{ ttl: 'auto' }`.
   */
  readonly cache?: PromptCache
}

/** The functions and options that determine the requests of a turn, beside the definition's own fields. */
export interface TurnSettings<in Deps = never> {
  readonly instructions: DynamicInstructions<Deps> | null
  readonly beforeTurn: BeforeTurn<Deps> | null
  /** Time limit for each function, in milliseconds. */
  readonly timeoutMs: number
  /** Models by name. */
  readonly models: ReadonlyMap<string, PricedModel>
  /** Names of the tools that the runtime added, which are offered whatever a list of tools says. */
  readonly always: readonly string[]
}

const isFunction = (value: unknown): boolean => typeof value === 'function'
const isObject = (value: unknown): boolean => (typeof value === 'object' && value !== null) || isFunction(value)

/** Schema of the option `cache` of an agent. */
export const promptCache = lazily(() =>
  z.union([z.literal(false), onlyFields({ ttl: z.enum(['5m', '1h', 'auto']).optional() })], {
    error: "give false, or { ttl: '5m' }, { ttl: '1h' } or { ttl: 'auto' }",
  }),
)

/** Schema of the settings of requests, except the tool choice. */
const plainSettings = lazily(() =>
  onlyFields({
    maxTokens: z.int().positive(),
    temperature: z.number(),
    topP: z.number(),
    stopSequences: z.array(z.string()),
    seed: z.int(),
    thinkingLevel: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']),
    cache: promptCache(),
    providerOptions: z
      .record(z.string(), z.record(z.string(), z.unknown()))
      .refine(
        (options) => !isNestedDeeper(options, mostLevels),
        `it is circular, or nested deeper than ${mostLevels} levels`,
      ),
  }).partial(),
)

const choice = lazily(() =>
  toolChoiceSchema().refine(() => true, { error: "give 'auto', 'none', 'required' or { tool: name }" }),
)

/** Schemas of the options of `defineAgent` that decide the parameters of a turn. */
export const turnOptionSchemas = {
  instructions: () =>
    z.union([z.string(), z.custom(isFunction)], { error: 'give a string, or a function that returns one' }),
  beforeTurn: () => z.custom(isFunction, 'give a function'),
  models: () => z.record(z.string().min(1), z.custom(isObject, 'give a model, or { model, pricing }')),
  cache: promptCache,
  settings: () => plainSettings().extend({ toolChoice: choice().optional() }),
} satisfies { [O in keyof TurnOptions]-?: () => z.ZodType }

/** Schema of the value that `beforeTurn` may return. */
export const turnChangesSchema = lazily(() =>
  onlyFields({
    instructions: z.string().optional(),
    tools: offeredSchema().optional(),
    toolChoice: choice().optional(),
    model: z.union([z.string(), z.custom(isObject)], { error: 'give a name of models, or a model' }).optional(),
    settings: plainSettings().optional(),
  }),
)

export const offeredSchema = lazily(() =>
  z.array(
    z.custom<OfferedTool>(
      (value) => typeof value === 'string' || typeof (value as { name?: unknown } | null)?.name === 'string',
      'give names of tools, or the tools',
    ),
  ),
)

/** Reads the option for a model. @throws RuntimeError `INVALID_DEFINITION` */
export function pricedModel(option: ModelOption, label: string): PricedModel {
  if (typeof option !== 'object' || option === null || !('model' in option) || 'stream' in option)
    return { model: modelOf(option as AnyModel, label), pricing: null }
  const { model, pricing, ...rest } = option
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined)
    throw new RuntimeError('INVALID_DEFINITION', `${label}: ${unknown} is unknown: give { model, pricing }.`)
  if (pricing !== undefined && !pricingSchema().safeParse(pricing).success)
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: pricing: give { input, output } in dollars per million tokens.`,
    )
  return { model: modelOf(model, label), pricing: pricing ?? null }
}

const noModels: ReadonlyMap<string, PricedModel> = new Map()
/** Default time limit for one answer of a function of the definition, in milliseconds. */
export const defaultHookMs = 30_000
const plain: TurnSettings<unknown> = Object.freeze({
  instructions: null,
  beforeTurn: null,
  timeoutMs: defaultHookMs,
  models: noModels,
  always: [],
})

/** Reads the options that decide the parameters of a turn. @throws RuntimeError `INVALID_DEFINITION` */
export function turnSettings<Deps>(
  options: TurnOptions<Deps> & { readonly hookTimeoutMs?: number },
  always: readonly string[],
  label: string,
): TurnSettings<Deps> {
  const { instructions, beforeTurn = null, models, hookTimeoutMs: timeoutMs = defaultHookMs } = options
  const dynamic = typeof instructions === 'function' ? instructions : null
  if (dynamic === null && beforeTurn === null && models === undefined && always.length === 0) return plain
  const priced = Object.entries(models ?? {}).map(
    ([name, model]) => [name, pricedModel(model, `${label}: models.${name}`)] as const,
  )
  return { instructions: dynamic, beforeTurn, timeoutMs, models: new Map(priced), always }
}

/**
 * Returns the data of a `use` command, and the model, which data cannot hold. Malformed options are left for the command's schema.
 * @throws RuntimeError `INVALID_DEFINITION` if the model is invalid
 */
export function useCommand(
  options: UseOptions | null,
  label: string,
): { readonly use: UseChange | null; readonly model: PricedModel | undefined } {
  if (typeof options !== 'object' || options === null) return { use: options, model: undefined }
  const { tools, model, ...rest } = options
  const lent = typeof model === 'object' && model !== null ? pricedModel(model, label) : undefined
  const names = Array.isArray(tools) ? tools.map((tool) => (typeof tool === 'object' ? tool?.name : tool)) : tools
  const change = { ...rest, tools: names, model: lent === undefined ? model : lent.model.id }
  const given = Object.entries(change).filter(([, value]) => value !== undefined)
  return { use: Object.fromEntries(given) as UseChange, model: lent }
}
