import { RuntimeError } from '../../protocol/errors.ts'
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

/** Returns the entries of a function, which is called after tools are made. @throws RuntimeError `INVALID_DEFINITION`: a group, a remote agent */
export function laterEntries(agents: readonly SubAgentEntry[], label: string): readonly MarkedEntry[] {
  if ([agents].flat().some((entry: unknown) => entry instanceof DeferredTools || isRemoteAgent(entry)))
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: agents: a function cannot return a group or an agent elsewhere: give it itself, or agents that requests list.`,
    )
  return agents.map((entry) => ({ entry }))
}
