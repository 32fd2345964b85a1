import { z } from 'zod'
import { lazily } from './lazily.ts'
import { RuntimeError, quoted } from './errors.ts'
import { agentIdPattern, isAgentId } from './text/nodeIds.ts'

export { formatNodeId, isAgentId, parseNodeId } from './text/nodeIds.ts'

/** Id of a node in the conversation tree: a positive integer, increasing for as long as the agent exists, and never reused. */
export const nodeIdSchema = lazily(() => z.int().positive())
export type NodeId = z.infer<ReturnType<typeof nodeIdSchema>>

/** Schema of an agent id. It is also a file name: 1 to 128 letters, digits, `.`, `_` and `-`, starting with a letter or digit. */
export const agentIdSchema = lazily(() =>
  z.string().regex(agentIdPattern, 'use 1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit'),
)

/**
 * Checks that a value is an agent id, before it becomes part of a path.
 * @throws RuntimeError `INVALID_ID`, naming the value.
 */
export function checkAgentId(agentId: string): void {
  if (isAgentId(agentId)) return
  throw new RuntimeError('INVALID_ID', `${quoted(agentId)} is not an agent id.`)
}
