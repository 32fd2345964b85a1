import type { CallInput } from '../../machines/effectTypes.ts'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import { sameJson } from '../../protocol/checks/sameJson.ts'
import type { AgentPorts } from '../agentPorts.ts'
import type { AgentDefinition } from '../define/agentDefinition.ts'
import { taskOf } from '../define/subAgents.ts'

type Called = Pick<AgentDefinition, 'tools' | 'agents'>
type Call = Pick<CallInput, 'name' | 'input'>
type Checked = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }

/** Checks arguments against the schema of the called tool or sub-agent; `undefined` if there is none of that name. */
export function checkArguments(
  { definition }: { readonly definition: Called },
  name: string,
  input: unknown,
): Checked | undefined {
  const agent = definition.agents.get(name)
  return agent === undefined ? definition.tools.get(name)?.parse(input) : taskOf(agent, input)
}

/** Returns true if the arguments of a call that may go to the background do not fit. Such a call is answered at once. */
export const misfits = (ports: Pick<AgentPorts, 'definition'>, { name, input }: Call): boolean =>
  ports.definition.tools.get(name)?.background !== undefined && checkArguments(ports, name, input)?.ok === false

/**
 * Returns the arguments of a call as its tool or sub-agent gets them: with the defaults and conversions of its schema,
 * without the fields that the schema drops, in the tool's canonical form. Hooks, approvals, people and the records of
 * the call see these. Arguments stay as they are if they do not fit, if the schema would read them differently a second
 * time, or if it turns them into values that JSON cannot hold. Never throws.
 */
export function settledInput(definition: Called, { name, input }: Call): unknown {
  if (typeof input === 'string') return input
  const read = (given: unknown): unknown => {
    const parsed = checkArguments({ definition }, name, cloneJson(given))
    return parsed?.ok === true ? cloneJson(parsed.value) : unread
  }
  try {
    const settled = read(input)
    if (settled === unread || sameJson(settled, input)) return input
    return sameJson(read(settled), settled) ? settled : input
  } catch {
    return input
  }
}

/** Value that equals no arguments. */
const unread = Symbol('unread')
