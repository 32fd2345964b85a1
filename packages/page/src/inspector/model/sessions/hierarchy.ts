import type { AgentSummary } from '../../../../../wire/src/frames.ts'

/** An agent in the list, with its depth. */
export interface AgentRow {
  readonly agent: AgentSummary
  /** Depth of the row, from 1. */
  readonly level: number
  readonly hasChildren: boolean
  readonly isOpen: boolean
  /** Place among the row's siblings, from 1, and the number of siblings. */
  readonly place: number
  readonly siblings: number
  /** True if an agent below it that is not shown waits for a person. */
  readonly isAsking: boolean
}

/** Returns the rows of the agents, parents before their children, without those below a closed one. An agent of unknown parent is a root. Pure. */
export function agentRows(agents: Iterable<AgentSummary>, closed: ReadonlySet<string>): AgentRow[] {
  const known = new Map([...agents].map((agent) => [agent.agentId, agent]))
  const below = new Map<string | undefined, AgentSummary[]>()
  for (const agent of known.values()) {
    const parent = agent.path.findLast((id) => known.has(id))
    const siblings = below.get(parent)
    if (siblings === undefined) below.set(parent, [agent])
    else siblings.push(agent)
  }
  const rows: AgentRow[] = []
  const visit = (parent: string | undefined, level: number): void => {
    const siblings = below.get(parent) ?? []
    for (const [index, agent] of siblings.entries()) {
      const hasChildren = below.has(agent.agentId)
      const isOpen = hasChildren && !closed.has(agent.agentId)
      const isAsking = (agent.pending ?? agent.pendingApprovals).length > 0
      rows.push({ agent, level, hasChildren, isOpen, place: index + 1, siblings: siblings.length, isAsking })
      if (isOpen) visit(agent.agentId, level + 1)
    }
  }
  visit(undefined, 1)
  return rows
}
