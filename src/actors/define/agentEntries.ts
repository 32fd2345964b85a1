import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import { DeferredTools } from '../parts/deferred/deferred.ts'
import { isRemoteAgent, type RemoteAgentEntry } from '../parts/remote/remoteEntry.ts'
import type { MarkedEntry, SubAgentEntry } from './subAgents.ts'

/** The option `agents` of an agent: sub-agents, remote agents and groups of sub-agents, or a group alone. */
export type AgentEntries =
  | readonly (SubAgentEntry | RemoteAgentEntry | DeferredTools<SubAgentEntry>)[]
  | DeferredTools<SubAgentEntry>

/** A sub-agent among entries, or in a group. */
export type AgentEntryOf<Agents extends AgentEntries> = Agents extends readonly (infer Entry)[]
  ? AgentIn<Entry>
  : AgentIn<Agents>

type AgentIn<Entry> = Entry extends DeferredTools<infer Inner> ? Inner : Entry

/** Returns the sub-agents of the option, marked if they are in a group. */
export function agentEntries(agents: AgentEntries): readonly MarkedEntry[] {
  const entries = agents instanceof DeferredTools ? [agents] : agents
  return entries.flatMap((entry): MarkedEntry | readonly MarkedEntry[] => {
    // A model calls it by a tool.
    if (isRemoteAgent(entry)) return []
    return entry instanceof DeferredTools
      ? entry.entries.map((inner) => ({ entry: inner, isDeferred: true }))
      : { entry }
  })
}

/** Returns the remote agents of the option. */
export const remoteAgents = (agents: AgentEntries): readonly RemoteAgentEntry[] =>
  agents instanceof DeferredTools ? [] : agents.filter(isRemoteAgent)

/** Calls a function among the options of an agent. @throws RuntimeError `INVALID_DEFINITION` if it throws */
export function returned(given: () => unknown, label: string): unknown {
  try {
    return given()
  } catch (thrown) {
    if (thrown instanceof RuntimeError) throw thrown
    const why = `${label}: the function threw an error: ${messageOf(thrown).replace(/\.$/, '')}.`
    throw new RuntimeError('INVALID_DEFINITION', why, { cause: thrown })
  }
}

/**
 * Returns the entries that a function returns. Tools are made before it is called.
 *
 * @throws RuntimeError `INVALID_DEFINITION`: the function throws, or returns a group, an agent elsewhere or no list
 */
export function laterEntries(given: () => unknown, label: string): readonly MarkedEntry[] {
  const agents = returned(given, `${label}: agents`)
  if ([agents].flat().some((entry: unknown) => entry instanceof DeferredTools || isRemoteAgent(entry)))
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: agents: a function cannot return a group or an agent elsewhere: give it itself, or agents that requests list.`,
    )
  if (!Array.isArray(agents)) {
    const what =
      agents instanceof Promise ? 'a promise' : agents == null ? String(agents) : `a value of type ${typeof agents}`
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: agents: the function returned ${what}: return a list of agents.`,
    )
  }
  return agents.map((entry: SubAgentEntry) => ({ entry }))
}
