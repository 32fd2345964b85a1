import { emptyChat, type Chat } from './chat.ts'
import { foldMessages } from './foldMessages.ts'
import type { RemoteAgent } from './remoteAgent.ts'

/** A chat that follows its agent, in the shape of React's `useSyncExternalStore`. */
export interface ConversationStore {
  /** The chat as it is: another object with every change. */
  getSnapshot(): Chat
  /** Calls after changes, once for those that came together; returns a function that ends it. */
  subscribe(listener: () => void): () => void
  /** Hears no more of the agent. Idempotent. */
  close(): void
}

/**
 * Follows an agent from its first record on, over reconnects too, and keeps its conversation as a chat shows it.
 *
 * @example
 * ```ts no-run
 * import { connect, conversationStore } from 'escapement/client'
 *
 * const store = conversationStore(connect('http://127.0.0.1:8080').agent('support-1'))
 * // In a component of React: const chat = useSyncExternalStore(store.subscribe, store.getSnapshot)
 * store.subscribe(() => console.log(store.getSnapshot().messages.at(-1)?.text))
 * ```
 */
export function conversationStore(agent: Pick<RemoteAgent, 'id' | 'subscribe'>): ConversationStore {
  let chat = emptyChat(agent.id)
  let telling: Promise<void> | undefined
  const listeners = new Set<() => void>()
  const tell = (): void => {
    telling = undefined
    const failures: unknown[] = []
    for (const listener of listeners) {
      try {
        listener()
      } catch (thrown) {
        failures.push(thrown)
      }
    }
    // The client reports it, as of any listener.
    if (failures.length > 0) throw failures[0]
  }
  const close = agent.subscribe(
    (event) => {
      const next = foldMessages(chat, event)
      if (next === chat) return undefined
      chat = next
      return (telling ??= Promise.resolve().then(tell))
    },
    { fromSeq: 1 },
  )
  return {
    getSnapshot: () => chat,
    subscribe(listener) {
      const own = (): void => listener()
      listeners.add(own)
      return () => void listeners.delete(own)
    },
    close,
  }
}
