import { savingsOf, type Savings } from './savings/savings.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'

/** Savings of an agent in a tree. */
export interface AgentSavings extends Savings {
  readonly agentId: string
  readonly definition: string
  /** Number of times that a loop was detected. */
  readonly stalls: number
}

/** Maximum number of agents whose logs are read. Agents beyond it count as their callers report. */
const mostAgents = 500

/**
 * Returns the savings of an agent and of all agents below it, its own first. `read` returns an agent's records. Agents for which it rejects or finds
 * no records, such as incognito agents, are left out. Never rejects.
 */
export async function savingsOfTree(
  rootId: string,
  read: (agentId: string) => Promise<readonly LogRecord[]>,
): Promise<readonly AgentSavings[]> {
  const found: AgentSavings[] = []
  const waiting = new Set([rootId])
  for (const agentId of waiting) {
    const records = await read(agentId).catch(() => [])
    const first = records[0]
    if (first === undefined) continue
    const definition = first.type === 'agent.created' ? first.definition : ''
    const savings = savingsOf(records)
    const stalls = records.filter(({ type }) => type === 'stall.detected').length
    found.push({ ...savings, agentId, definition, stalls })
    for (const child of Object.keys(savings.children)) if (waiting.size < mostAgents) waiting.add(child)
  }
  return found
}
