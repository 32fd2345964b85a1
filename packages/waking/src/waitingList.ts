import type { Outline } from '../../../src/log/outline.ts'
import type { LogEntry, LogQuery } from '../../../src/protocol/ports/logPages.ts'
import type { Metadata } from '../../../src/protocol/metadata.ts'
import type { Pending, WaitingAgent } from '../../../src/protocol/runs/pending.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { allLogs, pagesOf, type Pages } from '../../stores/src/logPages.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { hostOf } from '../../../src/runtime/agents/agentFacts.ts'
import { standingOf, type LogStanding, type PlacedPending } from './logStanding.ts'

export type { WaitingAgent }

/** Filter of the agents for `runtime.waiting`. */
export interface WaitingOptions {
  /** Selects agents whose metadata has all of these values. */
  readonly metadata?: Metadata
}

/** An agent with waiting calls or questions, and the fields that decide which of them a client may see. */
export interface PlacedWaiting extends Pick<WaitingAgent, 'agentId' | 'definition' | 'isRunning'> {
  readonly title: string | undefined
  readonly metadata: Metadata | undefined
  readonly path: readonly string[]
  readonly waiting: readonly PlacedPending[]
}

/** Number of logs that are remembered without being read again. */
const mostKept = 5_000
/** Number of logs that are requested at a time. */
const pageSize = 1_000

interface Kept {
  readonly size: number
  readonly writtenAt: number
  readonly standing: LogStanding | undefined
}

const since = ({ pending: [first] }: WaitingAgent): number => first?.askedAt ?? 0

const oldest = (one: Pending, other: Pending): number => (one.askedAt ?? 0) - (other.askedAt ?? 0)

/** Sorts agents by their longest wait, the longest first. Pure. */
export const inOrder = (agents: readonly WaitingAgent[]): WaitingAgent[] =>
  agents.toSorted((one, other) => since(one) - since(other) || (one.agentId < other.agentId ? -1 : 1))

/** Returns an agent's entry with the given waiting calls and questions. Pure. */
export function waitingAgent(
  { agentId, definition, title, metadata, isRunning }: Omit<PlacedWaiting, 'waiting' | 'path'>,
  pending: readonly Pending[],
): WaitingAgent {
  return {
    agentId,
    definition,
    ...(title === undefined ? {} : { title }),
    ...(metadata === undefined ? {} : { metadata }),
    isRunning,
    pending: pending.toSorted(oldest),
  }
}

/** List of everything that waits for people in a store. Logs of agents that are not running are read, and read again once they have changed. */
export class WaitingList {
  readonly #store: Store
  readonly #pages: Pages
  readonly #running: (agentId: string) => Agent | undefined
  readonly #kept = new Map<string, Kept>()

  constructor(store: Store, running: (agentId: string) => Agent | undefined) {
    this.#store = store
    this.#pages = pagesOf(store)
    this.#running = running
  }

  /** Yields the agents of a query for which something waits. Logs that cannot be read are left out. Wakes nothing. */
  async *find(query: LogQuery): AsyncGenerator<PlacedWaiting, void, undefined> {
    for await (const log of allLogs(this.#pages, { ...query, limit: pageSize })) {
      const { id: agentId, origin } = log
      const agent = this.#running(agentId)
      if (agent !== undefined) {
        const found = waitingAt(agent)
        if (found !== undefined) yield found
        continue
      }
      const standing = await this.#standingOf(log)
      if (standing === undefined || standing.waiting.length === 0) continue
      const { definition, title, metadata, waiting } = standing
      yield { agentId, path: origin?.path ?? [], definition, title, metadata, isRunning: false, waiting }
    }
  }

  async #standingOf({ id, size, writtenAt, origin }: LogEntry): Promise<LogStanding | undefined> {
    const known = this.#kept.get(id)
    if (known?.size === size && known.writtenAt === writtenAt) return known.standing
    const standing = await standingOf(this.#store, id, origin?.path).catch(() => undefined)
    this.#kept.delete(id)
    // What its sub-agents wait for is in other logs.
    if (standing?.hasChildren !== true) this.#kept.set(id, { size, writtenAt, standing })
    if (this.#kept.size > mostKept) this.#kept.delete(this.#kept.keys().next().value!)
    return standing
  }
}

/** Returns everything that waits for people at a running agent and those below it, each with its start and place. */
export function placedPending(agent: Agent): PlacedPending[] {
  const pending = agent.pending()
  if (pending.length === 0) return []
  const known = new Map<string, { readonly path: readonly string[]; readonly asked: Outline['asked'] }>()
  const see = (one: Agent): void => {
    known.set(one.id, { path: one.path, asked: hostOf(one).view.outline.asked })
    for (const child of one.children()) see(child)
  }
  see(agent)
  return pending.map((one) => {
    const { path = [], asked } = known.get(one.agentId) ?? {}
    const askedAt = asked?.get(one.key)
    return { path, pending: askedAt === undefined ? one : { ...one, askedAt } }
  })
}

/** Returns the entry of a running agent, if something waits at it or below it. */
function waitingAt(agent: Agent): PlacedWaiting | undefined {
  const waiting = placedPending(agent)
  if (waiting.length === 0) return undefined
  const { title } = hostOf(agent).view.outline
  const { id: agentId, path, definition, metadata } = agent
  return { agentId, path, definition, title, metadata, isRunning: true, waiting }
}
