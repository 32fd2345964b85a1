import { z } from 'zod'
import { RuntimeError } from './errors.ts'

/** A node of the conversation tree: a positive integer, monotonic over the agent's life and never reused. */
export const nodeIdSchema = z.int().positive()
export type NodeId = z.infer<typeof nodeIdSchema>

const agentIdPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** An agent id is also a file name, so it holds only letters, digits, `.`, `_` and `-`, at most 128, and starts with a letter or digit. */
export const agentIdSchema = z
  .string()
  .regex(agentIdPattern, 'use 1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit')
export type AgentId = z.infer<typeof agentIdSchema>

/** Whether the schema takes it, without the schema's cost: every agent that is made is asked more than once. */
export const isAgentId = (value: unknown): value is AgentId => typeof value === 'string' && agentIdPattern.test(value)

/** Renders a node id the way the model and people see it: `n12`. */
export const formatNodeId = (id: NodeId): string => `n${id}`

/** Reads `n12` or `12`; anything else, zero included, is `undefined`. */
export function parseNodeId(text: string): NodeId | undefined {
  const match = /^n?([1-9]\d{0,14})$/.exec(text.trim())
  return match?.[1] === undefined ? undefined : Number(match[1])
}

/**
 * Refuses what is not an agent id, before it becomes part of a path.
 *
 * @throws RuntimeError `INVALID_ID`, naming the value.
 */
export function checkAgentId(agentId: string): void {
  if (isAgentId(agentId)) return
  throw new RuntimeError('INVALID_ID', `${JSON.stringify(agentId)} is not an agent id.`)
}
