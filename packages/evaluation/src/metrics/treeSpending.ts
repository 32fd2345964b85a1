import { addUsage, noUsage, type Usage } from '../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'

/** Requests, tokens and cost of the models of a tree of agents. */
export interface TreeSpending {
  /** Requests that were answered, at least in part, or failed. */
  readonly requests: number
  readonly usage: Usage
  readonly costUsd: number
}

interface Spending {
  readonly usage?: Usage | undefined
  readonly costUsd?: number | undefined
}

/** Returns the usage and cost that a record adds for requests of the agent itself; `undefined` if it adds none. */
function askedBy(record: LogRecord): Spending | undefined {
  switch (record.type) {
    case 'reply.end':
      return { usage: record.message.usage, costUsd: record.costUsd }
    case 'reply.reset':
      return record
    case 'compaction.end':
    case 'revert.applied':
    case 'policy.end':
    case 'memory.extracted':
      return record.usage === undefined ? undefined : record
    default:
      return undefined
  }
}

/**
 * Sums the use of models by all these agents, brakes included, each request counted where it was made. An agent's figures for its sub-agents count
 * only for those without a log here, such as incognito ones; the number of their requests is unknown. Pure.
 */
export function treeSpending(logs: readonly (readonly LogRecord[])[]): TreeSpending {
  const logged = new Set(logs.flatMap(([first]) => (first?.type === 'agent.created' ? [first.agentId] : [])))
  const sum = { requests: 0, usage: noUsage, costUsd: 0 }
  const add = ({ usage = noUsage, costUsd = 0 }: Spending): void => {
    sum.usage = addUsage(sum.usage, usage)
    sum.costUsd += costUsd
  }
  for (const records of logs) {
    const childOf = new Map<string, string>()
    for (const record of records) {
      const asked = askedBy(record)
      if (asked !== undefined) {
        sum.requests += 1
        add(asked)
      }
      if (record.type === 'tool.start' && record.childId !== undefined) childOf.set(record.callId, record.childId)
      const child =
        record.type === 'tool.end'
          ? childOf.get(record.callId)
          : record.type === 'child.ended'
            ? record.childId
            : undefined
      if (child === undefined || logged.has(child)) continue
      if ((record.type === 'tool.end' || record.type === 'child.ended') && record.spent !== undefined) add(record.spent)
    }
  }
  return sum
}
