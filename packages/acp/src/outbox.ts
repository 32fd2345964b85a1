import type { SessionUpdate } from '@agentclientprotocol/sdk'

interface OutboxOptions {
  /** Hands an update to the connection. Rejects once the connection is closed. */
  send(update: SessionUpdate): Promise<void>
  /** Maximum number of characters of live updates that may wait. */
  readonly maxChars: number
  /** Called once when more than `maxChars` characters wait because the client does not read. */
  onOverflow(): void
}

type Entry =
  | { readonly type: 'update'; readonly update: SessionUpdate; readonly chars: number }
  | { readonly type: 'past'; readonly updates: Iterable<SessionUpdate> }
  | { readonly type: 'mark'; reached(): void }

/**
 * Updates of one session waiting to be sent, in order and one at a time. Adjacent pieces of a message are joined while they wait; if
 * too many characters wait, the client is given up and nothing more is sent. Never rejects.
 */
export class Outbox {
  readonly #options: OutboxOptions
  #entries: Entry[] = []
  #chars = 0
  #state: 'idle' | 'sending' | 'closed' = 'idle'

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  push(update: SessionUpdate): void {
    if (this.#isClosed) return
    const last = this.#entries.at(-1)
    const joined = last?.type === 'update' ? join(last.update, update) : undefined
    if (joined !== undefined) this.#drop(this.#entries.pop())
    const entry = { type: 'update', update: joined ?? update, chars: sizeOf(joined ?? update) } as const
    if (this.#chars > 0 && this.#chars + entry.chars > this.#options.maxChars) {
      this.close()
      return this.#options.onOverflow()
    }
    this.#chars += entry.chars
    this.#add(entry)
  }

  /** Adds past updates, which are taken one by one as the client reads. */
  replay(updates: Iterable<SessionUpdate>): void {
    this.#add({ type: 'past', updates })
  }

  /** Resolves once all earlier updates were sent, or never will be. */
  flushed(): Promise<void> {
    return new Promise((resolve) => this.#add({ type: 'mark', reached: resolve }))
  }

  /** True once the connection is closed. A getter, since the value may change during each await. */
  get #isClosed(): boolean {
    return this.#state === 'closed'
  }

  close(): void {
    this.#state = 'closed'
    const entries = this.#entries
    this.#entries = []
    for (const entry of entries) if (entry.type === 'mark') entry.reached()
  }

  #add(entry: Entry): void {
    if (this.#isClosed) {
      if (entry.type === 'mark') entry.reached()
      return
    }
    this.#entries.push(entry)
    if (this.#state === 'idle') void this.#sendEntries()
  }

  #drop(entry: Entry | undefined): void {
    if (entry?.type === 'update') this.#chars -= entry.chars
  }

  async #sendEntries(): Promise<void> {
    this.#state = 'sending'
    try {
      for (let entry = this.#entries.shift(); entry !== undefined; entry = this.#entries.shift()) {
        this.#drop(entry)
        if (entry.type === 'mark') entry.reached()
        else if (entry.type === 'update') await this.#options.send(entry.update)
        else await this.#sendAll(entry.updates)
      }
    } catch {
      this.close()
    }
    if (!this.#isClosed) this.#state = 'idle'
  }

  async #sendAll(updates: Iterable<SessionUpdate>): Promise<void> {
    for (const update of updates) {
      if (this.#isClosed) return
      await this.#options.send(update)
    }
  }
}

const sizeOf = (update: SessionUpdate): number => {
  const text = pieceOf(update)
  return text === undefined ? JSON.stringify(update).length : text.length + 200
}

/** Returns the text of an update that may be joined with its neighbors. */
function pieceOf(update: SessionUpdate): string | undefined {
  if (update.sessionUpdate !== 'agent_message_chunk' && update.sessionUpdate !== 'agent_thought_chunk') return undefined
  return update.content.type === 'text' && !('_meta' in update) ? update.content.text : undefined
}

function join(last: SessionUpdate, next: SessionUpdate): SessionUpdate | undefined {
  const [before, after] = [pieceOf(last), pieceOf(next)]
  if (before === undefined || after === undefined || last.sessionUpdate !== next.sessionUpdate) return undefined
  if (!('messageId' in last && 'messageId' in next) || last.messageId !== next.messageId) return undefined
  return { ...next, content: { type: 'text', text: before + after } }
}
