/** A frame for subscribers: serialised once for everyone. */
export interface FedEvent {
  readonly seq: number
  readonly isLogged: boolean
  readonly isDelta: boolean
  /** Of the agent itself; an approval of a sub-agent; anything else of one. */
  readonly scope: 'own' | 'approval' | 'family'
  readonly frame: string
}

export type FeedListener = (fed: FedEvent) => void

/** Where subscriptions to one agent read. */
export interface Source {
  readonly agentId: string
  /** Ids of its ancestors, root first. */
  readonly path: readonly string[]
  /** It was given up, and is not to be listened to. */
  readonly isClosed: boolean
  /** `seq` of the last record that was told. */
  readonly lastSeq: number
  /** Resolves once the store has every record so far; `undefined`: it has. Rejects when the store fails. */
  durable(): Promise<void> | undefined
  listen(listener: FeedListener, options: { readonly descendants: boolean }): () => void
  /** Logged events after `seq`, when they are all still in memory. */
  after(seq: number): readonly FedEvent[] | undefined
  /** One delta a kind that holds everything of the reply under way so far. */
  growing(): string[]
}
