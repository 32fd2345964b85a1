import { lazily } from '../lazily.ts'
import { agentIdSchema } from '../ids.ts'

/** Fields of every command to an agent. */
export const toAgent = lazily(() => ({ agentId: agentIdSchema() }))
