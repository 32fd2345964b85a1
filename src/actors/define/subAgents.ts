import { isRemoteAgent } from '../parts/remote/remoteEntry.ts'
import { zodJson } from '../../protocol/checks/zodJson.ts'
import { z } from 'zod'
import { onlyFields } from '../../protocol/checks/onlyFields.ts'
import { lazily } from '../../protocol/lazily.ts'
import { checkedBy, describeIssues, messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { JsonSchema, ToolSpec } from '../../protocol/ports/model.ts'
import type { RestartPolicy } from '../../protocol/runs/restarts.ts'
import { elsewhere, isAgentDefinition, noDefinition, type AgentDefinition, type Callee } from './agentDefinition.ts'
import type { AnyTool, Tool } from '../tools/defineTool.ts'
import { invalid } from '../tools/toolSchema.ts'
import { backgroundTools } from '../parts/background/backgroundTools.ts'
import { waitForName } from '../tools/waitForTool.ts'
import type { AgentPolicy } from '../../machines/agentPolicy.ts'
import { irreversibleNames } from './toolNames.ts'

/** An agent that may be called, with its options; a bare definition takes the defaults. */
export type SubAgentEntry = AgentDefinition | SubAgentOptions

export interface SubAgentOptions {
  readonly definition: AgentDefinition
  /**
   * Derives the sub-agent's deps from those of the calling run; by default they are the same. Called whenever the sub-agent begins,
   * also after a crash. If it throws, the call is answered with the error. Give its argument a type: `deps: (shop: Shop) => shop.mail`.
   */
  readonly deps?: (callerDeps: never) => unknown
  /** Conversation that it starts with: only its task, or the caller's trunk before it. Default `'own'`. */
  readonly context?: 'own' | 'fork'
  /**
   * Lets it work on its own: the call returns at once, and the sub-agent outlives its caller. With `'report'` its answer comes
   * later, as a message of its own that starts a run if the caller is idle, and the model gets a tool `wait_for`. Default `false`.
   */
  readonly detach?: boolean | 'report'
  /**
   * Lets the model continue a sub-agent that it called before: a call takes its id as `continue`, and results name it.
   * Not for detached sub-agents. Default `false`.
   */
  readonly continuable?: boolean
  /** Cases in which the sub-agent is restarted from its log after a crash. Default `'transient'`: at most 3 times in 60 s, after 200 ms, doubling. */
  readonly restart?: RestartPolicy['restart']
  /** Maximum number of restarts; at most 1,000. */
  readonly maxRestarts?: number
  readonly windowMs?: number
  readonly backoffMs?: number
  /** Milliseconds without an event before the sub-agent is treated as crashed. Default: none. */
  readonly stallMs?: number
  /**
   * Gives the sub-agent's tools and hooks the state of its caller as `context.state`: to read, some of its fields to
   * read, or to change; changes are records of the caller's log. Not for sub-agents that are detached or have their own
   * state. With `'copy'`, a sub-agent's own state begins as a copy of the caller's. Default: no access.
   */
  readonly state?: 'read' | 'write' | 'copy' | { readonly read: readonly string[] }
}

/** Returns true for an entry of an agent's `agents`. */
export const isSubAgentEntry = (entry: unknown): entry is SubAgentEntry =>
  isAgentDefinition(entry) || isAgentDefinition((entry as Partial<SubAgentOptions> | null | undefined)?.definition)

type NeedOf<Entry> = Entry extends {
  readonly definition: AgentDefinition
  readonly deps: (callerDeps: infer From) => unknown
}
  ? From
  : Entry extends AgentDefinition<infer _, infer Deps> | { readonly definition: AgentDefinition<infer _, infer Deps> }
    ? [Deps] extends [never]
      ? unknown
      : Deps
    : unknown

/** Deps that the sub-agents of an agent need, all of them together. */
export type EntryDeps<Entry> = (Entry extends unknown ? (deps: NeedOf<Entry>) => void : never) extends (
  deps: infer All,
) => void
  ? All
  : never

const count = lazily(() => z.int().nonnegative())

const optionsSchema = lazily(() =>
  onlyFields({
    definition: z.custom<AgentDefinition>(isAgentDefinition, { error: noDefinition() }),
    context: z.enum(['own', 'fork']).default('own'),
    detach: z.union([z.boolean(), z.literal('report')]).default(false),
    continuable: z.boolean().default(false),
    restart: z.enum(['never', 'transient', 'permanent']).default('transient'),
    maxRestarts: count().max(1_000).default(3),
    windowMs: count().default(60_000),
    backoffMs: count().default(200),
    stallMs: z.number().positive().default(Infinity),
    deps: z.custom<Callee['deps']>((value) => typeof value === 'function', 'give a function').default(null),
    state: z
      .union([z.enum(['read', 'write', 'copy']), onlyFields({ read: z.array(z.string()).readonly() })])
      .nullable()
      .default(null),
  }),
)

/**
 * Fills in the defaults of a sub-agent.
 *
 * @throws RuntimeError `INVALID_DEFINITION`
 */
export function subAgentOf(entry: SubAgentEntry, label: string): Callee {
  if (isRemoteAgent(entry)) throw new RuntimeError('INVALID_DEFINITION', `${label}: agents: ${elsewhere(entry)}.`)
  const { definition, context, detach, continuable, stallMs, deps, state, ...restarts } = checkedBy(
    optionsSchema(),
    isAgentDefinition(entry) ? { definition: entry } : entry,
    `${label}: agents`,
    'INVALID_DEFINITION',
  )
  const wrong = continuable ? wrongInContinuable(definition, detach) : undefined
  if (wrong !== undefined)
    throw new RuntimeError('INVALID_DEFINITION', `${label}: agents: "${definition.name}" is continuable, but ${wrong}.`)
  const wrongState = state === null ? undefined : wrongInState({ definition, detach, continuable, state })
  if (wrongState !== undefined)
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: agents: "${definition.name}" gets state of its caller, but ${wrongState}.`,
    )
  return { definition, context, detach, continuable, stallMs, deps, state, restarts }
}

function wrongInState({
  definition,
  detach,
  continuable,
  state,
}: Pick<Callee, 'definition' | 'detach' | 'continuable' | 'state'>): string | undefined {
  if (state !== 'copy') {
    if (detach !== false) return "is detached: with 'copy' one that has state of its own begins with a copy"
    return definition.state === null ? undefined : "has state of its own: 'copy' lets it begin with a copy"
  }
  if (continuable) return 'a copy is for one that begins, and it is continuable'
  return definition.state === null ? 'has no state to keep a copy in' : undefined
}

function wrongInContinuable({ input }: AgentDefinition, detach: Callee['detach']): string | undefined {
  if (detach !== false) return 'it is detached: nobody waits for what it would answer'
  return input !== null && continueField in input.shape ? `its input has a field "${continueField}"` : undefined
}

/** An entry, with a mark if no request lists it. */
export interface MarkedEntry {
  readonly entry: SubAgentEntry
  readonly isDeferred?: true
}

/** Returns the agents of a definition by name. @throws RuntimeError `INVALID_DEFINITION`: a duplicate name, or a tool's name. */
export function subAgentMap(
  entries: readonly MarkedEntry[],
  tools: ReadonlyMap<string, AnyTool>,
  label: string,
): ReadonlyMap<string, Callee> {
  const map = new Map<string, Callee>()
  for (const { entry, isDeferred } of entries) {
    const agent = isDeferred ? { ...subAgentOf(entry, label), isDeferred } : subAgentOf(entry, label)
    const { name } = agent.definition
    if (map.has(name)) throw new RuntimeError('INVALID_DEFINITION', `${label}: two agents are named "${name}".`)
    if (tools.has(name))
      throw new RuntimeError('INVALID_DEFINITION', `${label}: an agent and a tool are both named "${name}".`)
    if (
      agent.detach === 'report' &&
      tools.has(waitForName) &&
      !backgroundTools().includes(tools.get(waitForName) as Tool)
    )
      throw new RuntimeError(
        'INVALID_DEFINITION',
        `${label}: a tool is named "${waitForName}", as the one that waits for "${name}".`,
      )
    map.set(name, agent)
  }
  const [reporter] = reporting(map)
  if (reporter !== undefined && map.has(waitForName))
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: an agent is named "${waitForName}", as the tool that waits for "${reporter}".`,
    )
  return map
}

/** Returns the names of the sub-agents that report. */
export const reporting = (agents: ReadonlyMap<string, Callee>): string[] =>
  [...agents.values()].filter(({ detach }) => detach === 'report').map(({ definition }) => definition.name)

/** Created once, because zod compiles every schema that it parses with. */
const nothing = lazily(() => onlyFields({}))

const taskSchema = lazily(() => z.string().refine((task) => task.trim() !== '', 'say what is to be done'))

/** Name of the argument that holds the id of the agent to continue. */
export const continueField = 'continue'

/** Returns the names of the sub-agents that a call may continue. */
export const continuing = (agents: ReadonlyMap<string, Callee>): string[] =>
  [...agents.values()].filter(({ continuable }) => continuable).map(({ definition }) => definition.name)

const continueSchema = {
  [continueField]: {
    type: 'string',
    description:
      'The id of one of these agents that you called before, to go on with it; it remembers. Leave it out for a new one.',
  },
} as const

/** Returns the tool spec for a sub-agent: it takes a task and the agent's other input. */
export function subAgentSpec({ definition, detach, continuable }: Callee): ToolSpec {
  const { properties = {}, required = [] } = inputSchemaOf(definition)
  const what = definition.description || `Gives a task to the agent "${definition.name}" and returns its answer.`
  return {
    name: definition.name,
    description:
      detach === false
        ? what
        : `${what} It works on its own: this returns at once${detach === 'report' ? ', and its answer comes later, as a message' : ''}.`,
    inputSchema: {
      type: 'object',
      properties: {
        task: {
          type: 'string',
          description: 'What is to be done, with everything the agent must know: it does not see this conversation.',
        },
        ...(properties as object),
        ...(continuable ? continueSchema : {}),
      },
      required: ['task', ...(required as string[])],
      additionalProperties: false,
    },
  }
}

function inputSchemaOf({ name, input }: AgentDefinition): JsonSchema {
  if (input === null) return {}
  if ('task' in input.shape)
    throw new RuntimeError('INVALID_DEFINITION', `Agent "${name}": input has a field "task", which every agent has.`)
  try {
    return zodJson(input)
  } catch (thrown) {
    throw new RuntimeError('INVALID_DEFINITION', `Agent "${name}": input: ${messageOf(thrown)}.`, { cause: thrown })
  }
}

/** Returns a sub-agent's prompt from the arguments of its call, or a message for the model that says what is wrong with them. */
export function taskOf(
  { definition: { input: schema }, continuable }: Callee,
  input: unknown,
):
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  | { readonly ok: false; readonly message: string } {
  const { task, ...given } = (typeof input === 'object' && input !== null ? input : {}) as {
    readonly task?: unknown
    readonly [field: string]: unknown
  }
  const rest: { [field: string]: unknown } = { ...given }
  if (continuable) delete rest[continueField]
  const said = taskSchema().safeParse(task)
  const other = (schema ?? nothing()).safeParse(rest)
  const wrong = [
    ...(said.success ? [] : [`task: ${describeIssues(said.error)}`]),
    ...(other.success ? [] : [describeIssues(other.error)]),
  ]
  if (!said.success || !other.success) return { ok: false, message: invalid(wrong.join('; ')) }
  const data = Object.keys(other.data).length === 0 ? '' : `\n\n${JSON.stringify(other.data, null, 2)}`
  const on = continuable && given[continueField] !== undefined ? { [continueField]: given[continueField] } : {}
  return { ok: true, text: said.data + data, value: { task: said.data, ...other.data, ...on } }
}

/** Returns the policy of an agent whose sub-agents may not all be defined yet. Fields that depend on them are made on first use. */
export function lazyAgents(
  called: () => ReadonlyMap<string, Callee>,
  tools: ReadonlyMap<string, AnyTool>,
  policy: Omit<AgentPolicy, 'agents' | 'reports' | 'continuable' | 'irreversible'>,
): AgentPolicy {
  const names = lazily(() => [...called().keys()])
  const reports = lazily(() => reporting(called()))
  const continuable = lazily(() => continuing(called()))
  const irreversible = lazily(() => irreversibleNames(tools, called()))
  return {
    ...policy,
    get agents() {
      return names()
    },
    get reports() {
      return reports()
    },
    get continuable() {
      return continuable()
    },
    get irreversible() {
      return irreversible()
    },
  }
}
