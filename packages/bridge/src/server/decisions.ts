import { agentIdSchema } from '../../../../src/protocol/ids.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { Folding } from '../../../../src/log/fold.ts'
import { requestsFold, type RequestIndex } from '../../../../src/log/requestIndex.ts'
import { createdRecord } from '../../../../src/log/readHistory.ts'

/** Maximum number of ended agents whose requests are kept in memory. Logs of others are read again. */
const maxEnded = 64

/** Finds decisions about calls of sub-agents. They are in the sub-agents' own logs, possibly from an earlier process. */
export class Decisions {
  readonly #store: Store
  readonly #agentOf: (agentId: string) => Agent | undefined
  readonly #ended = new Map<string, Promise<RequestIndex>>()

  constructor(store: Store, agentOf: (agentId: string) => Agent | undefined) {
    this.#store = store
    this.#agentOf = agentOf
  }

  /** Forgets an agent's requests when it starts, because its log will grow beyond the part that was read. */
  began(agentId: string): void {
    this.#ended.delete(agentId)
  }

  /** Resolves to true if this request of an ancestor has decided a descendant's call, given by its key. */
  async wasDecided(ancestor: Agent, key: string, requestId: string): Promise<boolean> {
    const owner = agentIdSchema().safeParse(key.split('/', 1)[0]).data
    if (owner === undefined || owner === key || owner === ancestor.id) return false
    if (ancestor.pending().some((call) => call.key === key)) return false
    const running = this.#agentOf(owner)
    if (running !== undefined) return running.path.includes(ancestor.id) && (await running.wasAsked(requestId))
    const created = await createdRecord(this.#store, owner)
    return created?.path.includes(ancestor.id) === true && (await this.#requestsOf(owner)).ids.has(requestId)
  }

  #requestsOf(owner: string): Promise<RequestIndex> {
    const known = this.#ended.get(owner)
    if (known !== undefined) return known
    const reading = this.#read(owner)
    this.#ended.set(owner, reading)
    reading.catch(() => this.#ended.delete(owner))
    if (this.#ended.size > maxEnded) this.#ended.delete(this.#ended.keys().next().value!)
    return reading
  }

  async #read(owner: string): Promise<RequestIndex> {
    const folding = new Folding([requestsFold])
    for await (const record of this.#store.read(owner)) folding.apply(record)
    return folding.at(requestsFold).state
  }
}
