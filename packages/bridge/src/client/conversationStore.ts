import { AgentStore, type Followed } from './agentStore.ts'
import type { Chat } from './fold/chat.ts'

/** A chat that follows its agent, in the shape of React's `useSyncExternalStore`. */
export interface ConversationStore {
  /** Returns the current chat: a new object with every change. */
  getSnapshot(): Chat
  /** Calls `listener` after changes, once for changes that arrived together. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void
  /** Stops following the agent. Idempotent. */
  close(): void
}

/**
 * Follows an agent from its first record on, across reconnects too, and keeps its conversation in the form of a chat.
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
export function conversationStore(agent: Followed): ConversationStore {
  const store = new AgentStore(agent, { reports: true })
  store.open()
  return {
    getSnapshot: () => store.chat,
    subscribe(listener) {
      let { chat } = store.view
      return store.listen(() => {
        if (chat === store.view.chat) return
        ;({ chat } = store.view)
        listener()
      })
    },
    close: () => store.close(),
  }
}
