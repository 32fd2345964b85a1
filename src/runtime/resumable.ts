import type { AgentDefinition } from '../actors/agentDefinition.ts'
import type { AgentInput } from '../machines/agentTypes.ts'
import { RuntimeError } from '../protocol/errors.ts'
import { missingHistory } from './beginWithHistory.ts'
import type { History } from '../sessions/readHistory.ts'

/** Whether a log ends in the middle of a run, or with an interrupted one. */
export const wasCutOff = ({ restored }: AgentInput): boolean =>
  restored?.context.run != null || restored?.context.pause?.type === 'interrupted'

/**
 * Refuses logs that cannot be continued.
 *
 * @throws RuntimeError `AGENT_NOT_FOUND` when its history was not written to the end; `AGENT_STOPPED`; `INVALID_DEFINITION` if the definition has another name.
 */
export function checkResumable(agentId: string, definition: AgentDefinition, { created, records }: History): void {
  const missing = missingHistory(records)
  if (missing > 0) {
    const what = `Agent "${agentId}" never began: the process died before the last ${missing} messages of its history were written. Spawn it again with the same history.`
    throw new RuntimeError('AGENT_NOT_FOUND', what)
  }
  if (records.at(-1)?.type === 'agent.stopped')
    throw new RuntimeError('AGENT_STOPPED', `Agent "${agentId}" was stopped for good.`)
  checkSame(agentId, created.definition, definition)
}

/**
 * Refuses a definition whose name is not the agent's.
 *
 * @throws RuntimeError `INVALID_DEFINITION`
 */
export function checkSame(agentId: string, name: string, definition: AgentDefinition): void {
  if (name === definition.name) return
  const what = `Agent "${agentId}" is of definition "${name}", not "${definition.name}".`
  throw new RuntimeError('INVALID_DEFINITION', what)
}
