import type { AgentSummary } from '../../../wire/src/frames.ts'
import type { Client } from '../../../bridge/src/client/client.ts'
import { age, money } from '../../../charts/src/amounts.ts'
import { oneLine } from '../../../charts/src/plainText.ts'
import { factsOf, standingOf, standings, standingWords, type Standing } from '../../../charts/src/standing.ts'
import type { PickerItem } from '../terminal/input/picker.ts'

/** An agent in a list: its name and its status. */
export interface ListEntry {
  readonly agentId: string
  /** Its title, else its definition. */
  readonly name: string
  readonly hasTitle: boolean
  readonly standing: Standing
  /** Status of the agent, in words. */
  readonly words: string
  readonly activeAt: number | undefined
  readonly costUsd: number
}

/** Returns agents with their status, those that need a person first. Entries that wait below an agent can be decided at it. Pure. */
export function listedAgents(agents: readonly AgentSummary[]): readonly ListEntry[] {
  const listed = agents.map((agent): ListEntry => {
    const { agentId, definition, title = '', activeAt, spent, treeSpent = spent } = agent
    const facts = { ...factsOf(agent), waits: (agent.pending ?? agent.pendingApprovals).length > 0 }
    return {
      agentId,
      name: oneLine(title.trim() === '' ? definition : title),
      hasTitle: title.trim() !== '',
      standing: standingOf(facts),
      words: standingWords(facts),
      activeAt,
      costUsd: treeSpent.costUsd,
    }
  })
  return listed.toSorted((a, b) => standings.indexOf(a.standing) - standings.indexOf(b.standing))
}

const signs: Readonly<Record<Standing, Pick<PickerItem, 'sign' | 'tone'>>> = {
  waiting: { sign: '■', tone: 'yellow' },
  failed: { sign: '●', tone: 'red' },
  paused: { sign: '■', tone: 'yellow' },
  working: { sign: '●', tone: 'plain' },
  idle: { sign: '○' },
  ended: { sign: '–' },
}

/** Returns agents as items of a picker. Pure. */
export const agentItems = (agents: readonly ListEntry[], now: number): PickerItem[] =>
  agents.map(({ agentId, name, hasTitle, standing, words, activeAt, costUsd }) => ({
    ...signs[standing],
    label: hasTitle ? name : `${name} ${agentId}`,
    details: [oneLine(words), activeAt === undefined ? '' : age(Math.max(0, now - activeAt)), money(costUsd)],
  }))

/** Number of agents that are requested at once. */
const pageSize = 100

/** Returns at most `most` agents without a parent, and their total number. Rejects as `client.agents` does. */
export async function firstAgents(
  client: Pick<Client, 'agents'>,
  most: number,
): Promise<{ readonly agents: readonly AgentSummary[]; readonly total: number }> {
  const agents: AgentSummary[] = []
  for (;;) {
    const after = agents.at(-1)?.agentId
    const limit = Math.min(pageSize, most - agents.length)
    const page = await client.agents({ limit, ...(after === undefined ? {} : { after }) })
    agents.push(...page.agents)
    if (page.agents.length === 0 || agents.length >= Math.min(most, page.total)) return { agents, total: page.total }
  }
}
