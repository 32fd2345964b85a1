import { RuntimeError } from '../../protocol/errors.ts'
import { DeferredTools } from '../parts/deferred/deferred.ts'
import type { MarkedEntry, SubAgentEntry } from './subAgents.ts'

/** The option `agents` of an agent: sub-agents and groups of them, or a group alone. */
export type AgentEntries = readonly (SubAgentEntry | DeferredTools<SubAgentEntry>)[] | DeferredTools<SubAgentEntry>

/** A sub-agent among entries, or in a group. */
export type AgentEntryOf<Agents extends AgentEntries> = Agents extends readonly (infer Entry)[]
  ? AgentIn<Entry>
  : AgentIn<Agents>

type AgentIn<Entry> = Entry extends DeferredTools<infer Inner> ? Inner : Entry

/** The sub-agents of the option, marked where they are in a group. */
export function agentEntries(agents: AgentEntries): readonly MarkedEntry[] {
  const entries = agents instanceof DeferredTools ? [agents] : agents
  return entries.flatMap((entry): MarkedEntry | readonly MarkedEntry[] =>
    entry instanceof DeferredTools ? entry.entries.map((inner) => ({ entry: inner, isDeferred: true })) : { entry },
  )
}

/** The entries that a function returns. Tools are made before it is called. @throws RuntimeError `INVALID_DEFINITION`: a group */
export function laterEntries(agents: readonly SubAgentEntry[], label: string): readonly MarkedEntry[] {
  if ([agents].flat().some((entry: unknown) => entry instanceof DeferredTools))
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: agents: a function cannot return a group: give the group itself, or agents that requests list.`,
    )
  return agents.map((entry) => ({ entry }))
}
