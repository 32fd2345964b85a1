import { agentIdSchema } from '../../protocol/ids.ts'
import type { Store } from '../../protocol/store.ts'
import type { Agent } from '../agent.ts'

/** Answers kept, so that a command sent again after a reconnect is answered as before. */
const mostKept = 10_000

/** Who decides a call, and which calls wait below it. */
interface Decider {
  readonly id: string
  readonly approvals: readonly { readonly key: string }[]
}

/** Remembers which commands were carried out: here since the server was started, and before that in the agents' logs. */
export class Answers {
  readonly #store: Store
  readonly #known = new Map<string, Promise<unknown>>()
  /** Requests an agent's log knows of, read once an agent. */
  readonly #asked = new WeakMap<Agent, Promise<Set<string>>>()

  constructor(store: Store) {
    this.#store = store
  }

  /** Carries a command out once: the same key gets the same answer. One that was refused may be tried again. */
  once(key: string, run: () => unknown): Promise<unknown> {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const answer = Promise.resolve().then(run)
    this.#known.set(key, answer)
    answer.catch(() => this.#known.delete(key))
    if (this.#known.size > mostKept) this.#known.delete(this.#known.keys().next().value!)
    return answer
  }

  /** Whether an agent's log has this request already: from before the server was started again. */
  async wasAsked(agent: Agent, requestId: string): Promise<boolean> {
    const asked = this.#asked.get(agent) ?? this.#readRequests(agent.id)
    this.#asked.set(agent, asked)
    asked.catch(() => this.#asked.delete(agent))
    return (await asked).has(requestId)
  }

  /** Whether an ancestor's decision of this request, about a call named by its key, is in the log of the agent that made the call. */
  async wasDecided({ id, approvals }: Decider, key: string, requestId: string): Promise<boolean> {
    const owner = agentIdSchema.safeParse(key.split('/', 1)[0]).data
    if (owner === undefined || owner === key || owner === id || approvals.some((call) => call.key === key)) return false
    return (await this.#readRequests(owner)).has(requestId)
  }

  async #readRequests(agentId: string): Promise<Set<string>> {
    const asked = new Set<string>()
    let beginning: { readonly requestId: string; unsaid: number } | undefined
    for await (const record of this.#store.read(agentId)) {
      // A run counts once all that it says first is there.
      if (record.type === 'run.start') {
        const { requestId, cause, messages = 1 } = record
        beginning = { requestId, unsaid: cause === 'resume' ? 0 : messages }
      } else if (record.type === 'message.added' && beginning !== undefined) beginning.unsaid -= 1
      else if (record.type === 'queue.changed' && record.added !== undefined) asked.add(record.added.id)
      else if (record.type === 'revert.requested') asked.add(record.request.id)
      else if (record.type === 'approval.decided' || record.type === 'run.end') {
        if (record.requestId !== undefined) asked.add(record.requestId)
      }
      if (beginning?.unsaid === 0) asked.add(beginning.requestId)
    }
    return asked
  }
}
