import type { Block } from '../../protocol/messages.ts'
import type { ContextMessage, QueuedMessage, QueueName } from '../../protocol/runs/queue.ts'
import type { RecordOf } from '../../protocol/records.ts'

/** A message that has left its queue but is not yet completely on the trunk. */
interface Taken {
  readonly queue: QueueName
  readonly message: QueuedMessage
  /** Number of its parts (its context messages, then itself) that are on the trunk. */
  readonly said: number
}

/** Stored form of waiting messages. */
export interface KeptWaiting {
  readonly queues: { readonly [Q in QueueName]: readonly QueuedMessage[] }
  readonly taken: readonly Taken[]
}

const nobody: readonly never[] = Object.freeze([])
export const noQueues = Object.freeze({ steering: nobody, followUps: nobody, prompts: nobody })

const partsOf = ({ context = [], ...message }: QueuedMessage): readonly ContextMessage[] => [...context, message]

const isSame = (a: readonly Block[], b: readonly Block[]): boolean => JSON.stringify(a) === JSON.stringify(b)

/**
 * The queues according to the log. A message counts as waiting until the record that puts it on the trunk, so no message is lost if the process
 * crashes after removing it from its queue.
 */
export class WaitingMessages {
  readonly #queues: Record<QueueName, QueuedMessage[]>
  #taken: readonly Taken[]

  constructor({ queues, taken }: KeptWaiting = { queues: { steering: [], followUps: [], prompts: [] }, taken: [] }) {
    this.#queues = { steering: [...queues.steering], followUps: [...queues.followUps], prompts: [...queues.prompts] }
    this.#taken = taken
  }

  keep(): KeptWaiting {
    return { queues: this.#queues, taken: this.#taken }
  }

  /** The waiting messages, oldest first. */
  get queues(): { readonly [Q in QueueName]: readonly QueuedMessage[] } {
    if (this.#taken.length === 0) return this.#queues
    const { steering, followUps, prompts } = this.#queues
    return {
      steering: [...this.#unsaid('steering'), ...steering],
      followUps: [...this.#unsaid('followUps'), ...followUps],
      prompts: [...this.#unsaid('prompts'), ...prompts],
    }
  }

  apply({ queue: name, added, first, removed = [], why }: RecordOf<'queue.changed'>): void {
    for (const id of removed) {
      const queue = this.#queues[name]
      const index = queue.findIndex((message) => message.id === id)
      const before = this.#taken.find((taken) => taken.message.id === id)
      this.#taken = this.#taken.filter((taken) => taken !== before)
      const [message] = index < 0 ? [] : queue.splice(index, 1)
      const taken = message === undefined ? before : { queue: name, message, said: 0 }
      if (why === 'taken' && taken !== undefined) this.#taken = [...this.#taken, taken]
    }
    if (added === undefined) return
    if (first) this.#queues[name].unshift(added)
    else this.#queues[name].push(added)
  }

  /** Removes the messages that a result contains. */
  delivered(ids: readonly string[]): void {
    for (const queue of Object.values(this.#queues))
      for (const id of ids) {
        const index = queue.findIndex((message) => message.id === id)
        if (index >= 0) queue.splice(index, 1)
      }
  }

  /** Notes that a message was added to the trunk. */
  said(content: readonly Block[]): void {
    const taken = this.#taken.find(({ message, said }) => isSame(partsOf(message)[said]!.content, content))
    if (taken === undefined) return
    const next = { ...taken, said: taken.said + 1 }
    const isAll = next.said === partsOf(taken.message).length
    this.#taken = isAll
      ? this.#taken.filter((other) => other !== taken)
      : this.#taken.map((other) => (other === taken ? next : other))
  }

  #unsaid(queue: QueueName): QueuedMessage[] {
    return this.#taken
      .filter((taken) => taken.queue === queue)
      .map(({ message: { context, ...message }, said }) => {
        const left = context?.slice(said) ?? []
        return left.length === 0 ? message : { ...message, context: left }
      })
  }
}
