import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import { sameJson } from '../../protocol/checks/sameJson.ts'
import type { AgentDefinition } from '../define/agentDefinition.ts'
import { taskOf } from '../define/subAgents.ts'

interface Call {
  readonly name: string
  readonly input: unknown
}

/**
 * The arguments of a call as its tool or sub-agent gets them: with the defaults and conversions of its schema, without what that leaves
 * out, in the tool's canonical form. They are what hooks, approvals, people and the records of the call see. Arguments stay as they are if
 * they do not fit, if the schema would read them differently a second time, or if it turns them into values that JSON cannot hold. Never
 * throws.
 */
export function settledInput(definition: Pick<AgentDefinition, 'tools' | 'agents'>, { name, input }: Call): unknown {
  const agent = definition.agents.get(name)
  const tool = definition.tools.get(name)
  if ((agent ?? tool) === undefined || typeof input === 'string') return input
  const parse = (given: unknown) => (agent === undefined ? tool!.parse(given) : taskOf(agent, given))
  const read = (given: unknown): unknown => {
    const parsed = parse(cloneJson(given))
    return parsed.ok ? cloneJson(parsed.value) : unread
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
