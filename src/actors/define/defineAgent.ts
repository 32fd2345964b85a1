import type { AnyModel } from '../models/anyModel.ts'
import { z } from 'zod'
import { compactionTrigger } from '../../conversation/brakes/compaction/planCompaction.ts'
import { endingTools, externalTools, irreversibleNames, pollingNames, reversibleNames } from './toolNames.ts'
import { agentEntries, laterEntries, remoteAgents, type AgentEntries, type AgentEntryOf } from './agentEntries.ts'
import { subAgentMap, type EntryDeps, type SubAgentEntry, lazyAgents } from './subAgents.ts'
import type { RetryPolicy } from '../../machines/agentPolicy.ts'
import { labelOf, RuntimeError } from '../../protocol/errors.ts'
import { lazily } from '../../protocol/lazily.ts'
import { optionsCheck } from '../../protocol/checks/optionsCheck.ts'
import type { ModelSettings, ModelSnapshot } from '../../protocol/ports/model.ts'
import { limitsSchema, type Limits } from '../../protocol/runs/runLimits.ts'
import { isAgentDefinition, noDefinition, type AgentDefinition } from './agentDefinition.ts'
import { agentPricingSchema, readPricing, type PricesByModel, type Pricing } from '../turn/pricing.ts'
import { brakeNames, checkFold } from './brakingOptions.ts'
import { checkRules } from '../parts/permissions/permissionOptions.ts'
import { windowOf } from './compactionOptions.ts'
import { definedAgent } from './definedAgent.ts'
import { plainSchemas, readPlain, type PlainOptions } from './plainOptions.ts'
import { handoffMap, type HandoffEntry } from './handoffs.ts'
import { backgroundPolicy } from '../parts/background/backgroundPart.ts'
import { equip, partSchemas, type PartOptions } from '../parts/parts.ts'
import { modelOf } from '../models/modelOf.ts'
import type { CallsOf } from './typedEvents.ts'
import { DeferredTools } from '../parts/deferred/deferred.ts'
import { settingsOf, systemOf } from '../turn/modelSettings.ts'
import { defaultRetry, retrySchema } from '../turn/retryPolicy.ts'
import type { Tool } from '../tools/defineTool.ts'
import { toolEntries, toolEntriesSchema, toolMap, type EntryToolDeps, type ToolEntries } from './toolEntries.ts'
import type { AiSdkToolSet } from './outside.ts'
import type { ToolSource } from '../tools/toolSource.ts'
import { waitForName } from '../tools/waitForTool.ts'
import { foreignSchema } from '../tools/schemaKind.ts'
import { turnOptionSchemas, turnSettings, type TurnOptions, type TurnSettings } from '../turn/turnOptions.ts'
import { withoutUndefined } from './withoutUndefined.ts'

/** Options of `defineAgent`. `Output`: type of the answers as data. `Deps`: type of the value that its tools and functions need. */
export interface AgentOptions<
  Output = unknown,
  Deps = unknown,
  Tools extends ToolEntries = readonly (
    | Tool<Deps>
    | ToolSource
    | AiSdkToolSet
    | DeferredTools<Tool<Deps> | ToolSource | AiSdkToolSet>
  )[],
  Agents extends AgentEntries = AgentEntries,
  State = unknown,
>
  extends PlainOptions, TurnOptions<Deps>, PartOptions<Deps, State> {
  readonly name: string
  /** A `Model`, or any AI SDK language model object. */
  readonly model: AnyModel
  /** Schema of the input that a caller passes in addition to the task: a zod object. */
  readonly input?: z.ZodObject
  /**
   * Agents that the model may call as tools, or a function that returns them, for agents that call one another. Agents
   * in a `deferred` group are not listed in requests.
   */
  readonly agents?: Agents | (() => readonly SubAgentEntry[])
  /**
   * Agents that the model may hand the conversation over to, with the tools `transfer_to_<name>`. The chosen agent
   * answers from then on. A function returns an agent that is defined later, such as one that hands it back.
   */
  readonly handoffs?: readonly HandoffEntry[]
  /**
   * Tools, sets of tools of the AI SDK such as `{ weather: tool({ … }) }`, and sources of tools that are not known yet or that change. Sources
   * are asked for their tools before every turn. A set alone need not be in a list. Tools in a `deferred` group are not listed in requests.
   */
  readonly tools?: Tools
  /**
   * Schema of the final answer, which must be JSON. The model is shown the schema. If the answer does not match, the
   * model is told what was wrong and asked again at once. If it does, it becomes `result.output`.
   */
  readonly output?: z.ZodType<Output>
  /**
   * Schema that checks the value which the application must give to the agent's runs, such as `z.instanceof(Shop)`. It changes nothing: the
   * same object is passed on, so defaults and transforms have no effect. Without it nothing is checked when the agent runs.
   */
  readonly deps?: z.ZodType<Deps>
  /** Allowances of each run; reaching one pauses the agent. */
  readonly limits?: Limits
  /** Prices of the model or, if `model` is a `fallback` or `router`, of each model that may answer, by id. */
  readonly pricing?: Pricing | PricesByModel
  /** Retries of a failed request. Default 4 attempts, with waits from 1 s doubling to at most 60 s. */
  readonly retry?: Partial<RetryPolicy>
}

const isFunction = (value: unknown): boolean => typeof value === 'function'

const zodSchema = (otherwise: string) =>
  z.custom((value) => typeof value === 'object' && value !== null && '_zod' in value, {
    error: ({ input }) => foreignSchema(input) ?? otherwise,
  })

const checkOptions = optionsCheck(
  {
    name: () => z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1 to 64 letters, digits, "_" or "-"'),
    model: () =>
      z.custom<object>(
        (value) => value !== undefined && value !== null,
        'give a language model object of the AI SDK, a policyModel, or a Model of your own',
      ),
  },
  {
    ...plainSchemas,
    ...turnOptionSchemas,
    input: () =>
      z.custom((value) => value instanceof z.ZodObject, {
        error: ({ input }) => foreignSchema(input) ?? 'give a zod object',
      }),
    agents: () =>
      z.union([
        z.array(z.unknown()),
        z.custom(
          (value) => isFunction(value) || value instanceof DeferredTools,
          'give a list of agents, or a function that does',
        ),
      ]),
    handoffs: () =>
      z.array(
        z.custom((value) => isFunction(value) || isAgentDefinition(value), {
          error: noDefinition('give agents, or functions that return one'),
        }),
      ),
    tools: toolEntriesSchema,
    output: () => zodSchema('give a zod schema'),
    deps: () => zodSchema('give a zod schema, such as z.instanceof(Shop)'),
    limits: limitsSchema,
    pricing: agentPricingSchema,
    retry: retrySchema,
    ...partSchemas,
  },
)

/** Defines an agent with the core's features; `packages/define` has the main entry's version. @throws RuntimeError `INVALID_DEFINITION` */
export function defineAgent<
  Output = undefined,
  Deps = unknown,
  const Tools extends ToolEntries = readonly [],
  const Agents extends AgentEntries = readonly [],
  State = undefined,
>(
  options: AgentOptions<Output, Deps & EntryToolDeps<Tools> & EntryDeps<AgentEntryOf<Agents>>, Tools, Agents, State>,
): AgentDefinition<
  Output,
  Deps & EntryToolDeps<Tools> & EntryDeps<AgentEntryOf<Agents>>,
  CallsOf<Tools, Agents>,
  State
> {
  const label = labelOf('Agent', options)
  const wrong = checkOptions(options)
  if (wrong !== undefined) throw new RuntimeError('INVALID_DEFINITION', `${label}: ${wrong}.`)
  const { name, input, output } = options
  const { description, tokenCounter: counter, ...plain } = readPlain(options)
  const instructions = typeof options.instructions === 'string' ? options.instructions : ''
  const { settings: equipped, tools: extra, flags } = equip(options, label)
  const { braking, compaction } = equipped
  const { contextWindow, threshold } = windowOf(options.compaction)
  const given = toolEntries(options.tools, extra, label)
  const { agents = [] } = options
  const remote = isFunction(agents) ? nobody : remoteAgents(agents as AgentEntries).map(({ tool }) => tool)
  const tools = toolMap(remote.length === 0 ? given.tools : [...given.tools, ...remote], label)
  const called = isFunction(agents)
    ? lazily(() => subAgentMap(laterEntries(agents as () => unknown, label), tools, label))
    : constant(subAgentMap(agentEntries(agents as AgentEntries), tools, label))
  const hasAgents = isFunction(agents) || agents instanceof DeferredTools || agents.length > 0
  const settings = settingsOf(withCache(options), output, label)
  const { toolSources } = given
  const turns = turnSettings(options, brakeNames(options), label)
  const model = modelOf(options.model, label)
  const policy = {
    flags: isPrepared(turns, toolSources) ? { ...flags, turns: true } : flags,
    toolExecution: plain.toolExecution,
    queueMode: plain.queueMode,
    limits: options.limits === undefined ? noLimits : withoutUndefined(options.limits),
    retry: options.retry === undefined ? defaultRetry : { ...defaultRetry, ...withoutUndefined(options.retry) },
    outputAttempts: plain.outputAttempts,
    compaction: {
      trigger: compaction === null ? Number.MAX_SAFE_INTEGER : compactionTrigger(compaction.policy),
      regrowth: Math.ceil(contextWindow * threshold),
    },
    maxChildren: plain.maxChildren,
    maxCallsPerReply: plain.maxCallsPerReply,
    reversible: reversibleNames(tools),
    ...externalTools(tools),
    ...endingTools(tools),
    ...backgroundPolicy(tools, plain.maxBackground),
    polling: braking?.stall == null ? nobody : [...pollingNames(tools), ...(hasAgents ? [waitForName] : [])],
    policies: {
      names: braking?.policies?.list.map(({ name: each }) => each) ?? nobody,
      atRest: braking?.policies?.list.some(({ when }) => when.atRest === true) === true,
    },
  } as const
  const parts = {
    name,
    model,
    instructions,
    system: systemOf(instructions, settings),
    description,
    input: input ?? null,
    tools,
    toolSources,
    addendum: '',
    turns,
    maxDepth: plain.maxDepth,
    settings,
    snapshot: snapshotOf(model.id, settings),
    policy: hasAgents
      ? lazyAgents(called, tools, policy)
      : {
          ...policy,
          agents: nobody,
          reports: nobody,
          continuable: nobody,
          irreversible: irreversibleNames(tools, called()),
        },
    ...equipped,
    output: output ?? null,
    deps: options.deps ?? null,
    ...readPricing(options.pricing, model),
    counter,
    maxQueue: plain.maxQueue,
    checkRequests: plain.checkRequests,
    captureTurnRequests: plain.captureTurnRequests,
  }
  const { handoffs = nobody } = options
  const definition = definedAgent(
    parts,
    called,
    handoffs.length === 0 ? undefined : lazily(() => handoffMap(handoffs, { tools, called }, label)),
    options,
  )
  if (!isFunction(agents)) checkFold(definition)
  if (!isFunction(agents) && handoffs.length === 0) checkRules(definition, label)
  return definition as AgentDefinition<never, unknown> as AgentDefinition<never, unknown, CallsOf<Tools, Agents>, never>
}

const nobody: readonly never[] = Object.freeze([])
const noLimits: Limits = Object.freeze({})

/** Returns true if turns must be prepared: instructions are a function, or there is a `beforeTurn` or a source of tools. */
const isPrepared = ({ instructions, beforeTurn }: TurnSettings, sources: readonly ToolSource[]): boolean =>
  instructions !== null || beforeTurn !== null || sources.length > 0

const constant =
  <T>(value: T): (() => T) =>
  () =>
    value

/** Returns the settings with the option `cache`, which says how a request asks for a cache. */
const withCache = ({ cache, settings }: Pick<AgentOptions, 'cache' | 'settings'>): ModelSettings | undefined =>
  cache === undefined ? settings : { cache, ...settings }

/** Returns the settings for the log, without the provider's own options, which may contain keys, and the output schema, which may be long. */
function snapshotOf(id: string, { providerOptions: _, responseFormat: __, ...settings }: ModelSettings): ModelSnapshot {
  return Object.freeze(Object.keys(settings).length === 0 ? { id } : { id, settings: Object.freeze(settings) })
}
