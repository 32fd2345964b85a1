import type { Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { AgentDefinition, Callee } from '../../../../src/actors/define/agentDefinition.ts'
import { subAgentOf, subAgentSpec, taskOf } from '../../../../src/actors/define/subAgents.ts'
import { describeIssues, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'

/** Request of a client to an agent. */
export type Wanted =
  /** Gives the agent a task, in a new session or an existing one. */
  | { readonly type: 'task'; readonly text: string; readonly session?: string }
  /** Asks for the outcome of a session's run. */
  | { readonly type: 'look'; readonly session: string }
  | { readonly type: 'wrong'; readonly message: string }

/** A definition as an MCP tool. */
export interface AgentTool {
  readonly definition: AgentDefinition
  readonly spec: Tool
  /** Reads the arguments of a call. Never throws. */
  read(input: unknown): Wanted
}

const sessionSchema = {
  type: 'string',
  description:
    'The session of an earlier answer, to go on with it: the agent remembers. Without a task it tells what has become of that session, and continues it if it is paused. Leave it out for a new one.',
}

/** Checks definitions, and makes a tool of each. @throws RuntimeError `INVALID_OPTION`, `INVALID_DEFINITION` */
export function agentTools(definitions: readonly AgentDefinition[]): ReadonlyMap<string, AgentTool> {
  const tools = new Map<string, AgentTool>()
  for (const definition of definitions) {
    const { name } = definition
    if (tools.has(name)) throw new RuntimeError('INVALID_OPTION', `mcpServer: two definitions are named "${name}".`)
    tools.set(name, agentTool(definition))
  }
  return tools
}

function agentTool(definition: AgentDefinition): AgentTool {
  const agent = { ...subAgentOf(definition, 'mcpServer'), continuable: false }
  if (definition.input !== null && 'session' in definition.input.shape) {
    const what = `Agent "${definition.name}": input has a field "session", which its MCP tool has for itself.`
    throw new RuntimeError('INVALID_DEFINITION', what)
  }
  return { definition, spec: specOf(agent), read: (input) => read(agent, input) }
}

function specOf(agent: Callee): Tool {
  const { definition } = agent
  const { name, description, inputSchema } = subAgentSpec(agent)
  const { task, ...fields } = inputSchema['properties'] as Readonly<Record<string, JsonSchema>>
  return {
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: { task, session: sessionSchema, ...fields } as NonNullable<Tool['inputSchema']['properties']>,
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        session: { type: 'string', description: 'Goes on with this agent.' },
        stopReason: {
          type: 'string',
          description:
            'stop: this is the answer. paused: a limit was reached, or the like; call again with the session alone to continue. length, refusal: there is no whole answer. waiting: people must decide something first. error, aborted, idle.',
        },
        text: { type: 'string', description: 'The answer; without one, why there is none.' },
        ...(definition.output === null ? {} : { output: outputSchemaOf(definition.output) }),
        reason: { description: 'Why it is paused.' },
        error: {
          type: 'object',
          properties: { code: { type: 'string' }, message: { type: 'string' } },
        },
        pending: { type: 'array', items: { type: 'object' }, description: 'What waits for a decision.' },
      },
      required: ['session', 'stopReason', 'text'],
    },
  }
}

/** Returns the JSON Schema of the output; a schema that JSON Schema cannot express is left open. */
function outputSchemaOf(output: z.ZodType): JsonSchema {
  try {
    const { $schema: _, ...schema } = z.toJSONSchema(output, { io: 'output' })
    return schema
  } catch {
    return {}
  }
}

const sessionOf = z.string().min(1).optional()

function read(agent: Callee, input: unknown): Wanted {
  const { session, ...rest } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
  const named = sessionOf.safeParse(session)
  if (!named.success) return { type: 'wrong', message: `Invalid arguments: session: ${describeIssues(named.error)}.` }
  if (named.data !== undefined && Object.keys(rest).length === 0) return { type: 'look', session: named.data }
  const task = taskOf(agent, rest)
  if (!task.ok) return { type: 'wrong', message: task.message }
  return { type: 'task', text: task.text, ...(named.data === undefined ? {} : { session: named.data }) }
}
