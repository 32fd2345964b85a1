import { isRemoteAgent } from '../actors/parts/remote/remoteEntry.ts'
import { elsewhere, isAgentDefinition, type AgentDefinition } from '../actors/define/agentDefinition.ts'
import { rebuildConversation } from '../conversation/tree/rebuildConversation.ts'
import { rebuildContext } from '../machines/rebuildContext.ts'
import type { AgentInput } from '../machines/agentTypes.ts'
import { checkDeps } from './children/runDeps.ts'
import { RuntimeError, quoted } from '../protocol/errors.ts'
import { isAgentId } from '../protocol/ids.ts'
import { hasMetadata, type Metadata } from '../protocol/metadata.ts'
import { missingHistory } from './beginWithHistory.ts'
import type { StoreLease } from '../protocol/ports/store.ts'
import type { OpenedLog } from './agents/keptAgent.ts'

/** Returns true if a log ends in the middle of a run, or with an interrupted one. */
export const wasCutOff = ({ restored }: AgentInput): boolean =>
  restored !== undefined &&
  restored.isForeign !== true &&
  (restored.context.run != null || restored.context.pause?.type === 'interrupted')

export const hasLog = ({ agentId, lastSeq }: StoreLease): RuntimeError =>
  new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" has a log of ${lastSeq} records in this store.`)

/** Checks that an agent is stored. @throws RuntimeError `AGENT_INCOGNITO` */
export function checkStored(
  agent: { readonly agentId: string; readonly incognito?: true | undefined } | undefined,
  verb: string,
): void {
  if (agent?.incognito !== true) return
  const what = `${verb}: Agent "${agent.agentId}" is incognito: nothing of it is stored.`
  throw new RuntimeError('AGENT_INCOGNITO', what)
}

/**
 * Checks a definition and an id.
 * @throws RuntimeError `INVALID_DEFINITION`, `INVALID_ID`
 */
export function checkGiven(agentId: string, definition: AgentDefinition, verb: string): void {
  if (isRemoteAgent(definition)) throw new RuntimeError('INVALID_DEFINITION', `${verb}: ${elsewhere(definition)}.`)
  if (!isAgentDefinition(definition))
    throw new RuntimeError('INVALID_DEFINITION', `${verb} takes what defineAgent returns.`)
  if (!isAgentId(agentId)) throw new RuntimeError('INVALID_ID', `${quoted(agentId)} is not an agent id.`)
}

/**
 * Checks that a log can be continued.
 * @throws RuntimeError `AGENT_NOT_FOUND` when its history was not written to the end; `AGENT_STOPPED`; `INVALID_DEFINITION` if the definition has
 * another name; `AGENT_EXISTS` as `checkOwner`.
 */
export function checkResumable(
  agentId: string,
  definition: AgentDefinition,
  { created, records, base }: OpenedLog,
  asked?: Metadata,
): void {
  checkOwner(agentId, created.metadata, asked)
  const missing = base === undefined ? missingHistory(records) : 0
  if (missing > 0) {
    const what = `Agent "${agentId}" never began: the process died before the last ${missing} messages of its history were written. Spawn it again with the same history.`
    throw new RuntimeError('AGENT_NOT_FOUND', what)
  }
  if (records.at(-1)?.type === 'agent.stopped')
    throw new RuntimeError('AGENT_STOPPED', `Agent "${agentId}" was stopped for good.`)
  checkSame(agentId, created.definition, definition)
}

/**
 * Checks that the agent's dependencies were given if its log has work to continue. Otherwise the log stays unchanged.
 * @throws RuntimeError `DEPS_MISSING`
 */
export function checkOwedDeps(definition: AgentDefinition, deps: unknown, { past, records, base }: OpenedLog): void {
  if (definition.deps === null || deps !== undefined) return
  const { run, pause, foreign } = base?.context.context ?? rebuildContext(records, past)
  const { queues } = base?.conversation ?? rebuildConversation(records, { past })
  const owes = !foreign && (run !== null || pause?.type === 'interrupted' || queues.prompts.length > 0)
  if (owes) checkDeps(definition, deps, 'resume')
}

/**
 * Checks that a definition has the name of the agent's definition.
 * @throws RuntimeError `INVALID_DEFINITION`
 */
export function checkSame(agentId: string, name: string, definition: AgentDefinition): void {
  if (name === definition.name) return
  const what = `Agent "${agentId}" is of definition "${name}", not "${definition.name}": open it with that one, or choose another id.`
  throw new RuntimeError('INVALID_DEFINITION', what)
}

/**
 * Checks that an agent has the requested metadata. If not, it belongs to another owner.
 * @throws RuntimeError `AGENT_EXISTS`
 */
export function checkOwner(agentId: string, metadata: Metadata | undefined, asked: Metadata | undefined): void {
  if (asked === undefined || hasMetadata(metadata, asked)) return
  throw new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" exists, with other metadata than these.`)
}
