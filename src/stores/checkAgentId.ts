import { RuntimeError } from '../protocol/errors.ts'
import { agentIdSchema } from '../protocol/ids.ts'

/**
 * Refuses what is not an agent id, before it becomes part of a path.
 *
 * @throws RuntimeError `INVALID_ID`, naming the value.
 */
export function checkAgentId(agentId: string): void {
  if (agentIdSchema.safeParse(agentId).success) return
  throw new RuntimeError('INVALID_ID', `${JSON.stringify(agentId)} is not an agent id.`)
}
