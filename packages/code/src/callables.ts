import type { Callee } from '../../../src/actors/define/agentDefinition.ts'
import { subAgentOf, subAgentSpec, type SubAgentEntry } from '../../../src/actors/define/subAgents.ts'
import { zodJson } from '../../../src/protocol/checks/zodJson.ts'
import type { JsonSchema } from '../../../src/protocol/ports/model.ts'

/** A function that a script can call: a tool, or a sub-agent. */
export interface Callable {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
  /** Schema of the value that the function resolves with, if known. */
  readonly returns?: JsonSchema
}

/** Returns the sub-agents that a script can call: those whose answers are awaited. */
export const callableAgents = (agents: Iterable<Callee>): readonly Callable[] =>
  [...agents].filter(({ detach }) => detach === false).map(callableAgent)

/** Returns the callable sub-agents among the entries of a definition that is being made. @throws RuntimeError `INVALID_DEFINITION` */
export const agentsIn = (entries: readonly SubAgentEntry[]): readonly Callable[] =>
  callableAgents(entries.map((entry) => subAgentOf(entry, 'codeTool')))

function callableAgent(agent: Callee): Callable {
  const { output } = agent.definition
  return { ...subAgentSpec(agent), returns: output === null ? { type: 'string' } : jsonOf(output) }
}

function jsonOf(schema: NonNullable<Callee['definition']['output']>): JsonSchema {
  try {
    return zodJson(schema)
  } catch {
    return {}
  }
}
