import { RuntimeError } from '../../protocol/errors.ts'
import { isAgentDefinition, type AgentDefinition } from './agentDefinition.ts'
import { parts } from '../parts/parts.ts'
import { definedAgent } from './definedAgent.ts'
import type { AnyTool } from '../tools/defineTool.ts'
import { transferName } from '../tools/transferTool.ts'
import { returned } from './agentEntries.ts'

/** An agent that a conversation may be handed to, or a function that returns it. */
export type HandoffEntry = AgentDefinition | (() => AgentDefinition)

/** Parts that belong to the conversation. A handoff keeps those of the agent's original definition, with their tools. */
const staying = parts.flatMap(({ staysAtHandoff: field, toolNames = [] }) =>
  field === undefined ? [] : [{ field: field as keyof AgentDefinition, toolNames }],
)

/**
 * Returns an agent's definition while another definition answers: the other's fields, except those that belong to the agent and the
 * conversation, such as the brakes and the limits.
 */
function merged(own: AgentDefinition, other: AgentDefinition): AgentDefinition {
  const isOf = (definition: AgentDefinition, name: string): boolean =>
    staying.some(({ field, toolNames }) => definition[field] !== null && toolNames.includes(name))
  const isKept = ([name]: readonly [string, AnyTool]): boolean => !isOf(other, name)
  const kept = [...own.tools].filter(([name]) => isOf(own, name))
  const tools = new Map<string, AnyTool>([...[...other.tools].filter(isKept), ...kept])
  const { policy } = own
  const { beforeTool: _, turns: __, inputGuards: ___, outputGuards: ____, ...flags } = policy.flags
  const { beforeTool, turns, inputGuards, outputGuards, permissions } = other.policy.flags
  const merge = {
    ...other,
    ...Object.fromEntries(staying.map(({ field }) => [field, own[field]])),
    tools,
    name: own.name,
    description: own.description,
    input: own.input,
    deps: own.deps ?? other.deps,
    maxDepth: own.maxDepth,
    counter: own.counter,
    maxQueue: own.maxQueue,
    checkRequests: own.checkRequests,
    captureTurnRequests: own.captureTurnRequests,
    permissions: [...new Set([...own.permissions, ...other.permissions])],
    policy: {
      ...other.policy,
      flags: {
        ...flags,
        ...(beforeTool === undefined ? {} : { beforeTool }),
        ...(permissions === undefined ? {} : { permissions }),
        ...(turns === undefined ? {} : { turns }),
        ...(inputGuards === undefined ? {} : { inputGuards }),
        ...(outputGuards === undefined ? {} : { outputGuards }),
      },
      limits: policy.limits,
      queueMode: policy.queueMode,
      maxChildren: policy.maxChildren,
      compaction: policy.compaction,
      policies: policy.policies,
    },
  }
  return definedAgent(
    merge,
    () => other.agents,
    () => other.handoffs,
  )
}

const merges = new WeakMap<AgentDefinition, Map<string, AgentDefinition>>()

/** Returns the definition of that name that the conversation of `own` can be handed to, by one handoff or several, the nearest first. */
function reachable(own: AgentDefinition, name: string): AgentDefinition | undefined {
  const seen = new Set([own])
  for (const one of seen) {
    if (one.name === name) return one
    for (const next of one.handoffs.values()) seen.add(next)
  }
  return undefined
}

/**
 * Returns the definition of an agent while the definition of that name answers.
 *
 * @throws RuntimeError `INVALID_DEFINITION`: `own` cannot be handed to it.
 */
export function handedTo(own: AgentDefinition, name: string): AgentDefinition {
  if (name === own.name) return own
  const made = merges.get(own) ?? new Map<string, AgentDefinition>()
  merges.set(own, made)
  const known = made.get(name)
  if (known !== undefined) return known
  const other = reachable(own, name)
  if (other === undefined) {
    const what = `The conversation was handed over to "${name}", which agent "${own.name}" and its handoffs do not lead to.`
    throw new RuntimeError('INVALID_DEFINITION', what)
  }
  const definition = merged(own, other)
  made.set(name, definition)
  return definition
}

/** Checks that the name that a model handed over to means the same definition in a log. Throws if it does not. */
export function checkHandoff(own: AgentDefinition, active: AgentDefinition, name: string): void {
  if (reachable(own, name) === active.handoffs.get(name)) return
  throw new Error(`Two agents that this conversation can be handed to are named "${name}": give them different names.`)
}

/** Returns the agents of `handoffs` by name. @throws RuntimeError `INVALID_DEFINITION`: among others, a tool or agent with the name of a transfer tool */
export function handoffMap(
  entries: readonly HandoffEntry[],
  {
    tools,
    called,
  }: { readonly tools: ReadonlyMap<string, AnyTool>; readonly called: () => ReadonlyMap<string, unknown> },
  label: string,
): ReadonlyMap<string, AgentDefinition> {
  const map = new Map<string, AgentDefinition>()
  for (const entry of entries) {
    const definition = typeof entry === 'function' ? returned(entry, `${label}: handoffs`) : entry
    const refuse = (what: string): never => {
      throw new RuntimeError('INVALID_DEFINITION', `${label}: handoffs: ${what}.`)
    }
    if (!isAgentDefinition(definition)) return refuse('give what defineAgent returns, or functions that do')
    const { name } = definition
    if (map.has(name)) return refuse(`two agents are named "${name}"`)
    if (name.length > 52) return refuse(`the name "${name}" is too long: 52 characters at most`)
    const transfer = transferName(name)
    const other = tools.has(transfer) ? 'a tool' : called().has(transfer) ? 'an agent' : undefined
    if (other !== undefined) return refuse(`${other} is named "${transfer}", as the tool that hands over to "${name}"`)
    map.set(name, definition)
  }
  return map
}
