import { oneLine } from '../../../../src/protocol/text/cutMiddle.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { titleOf } from '../../../bridge/src/server/callTitle.ts'
import { progressText } from '../../../bridge/src/server/progressText.ts'

/** Maximum length of a message, in UTF-16 units. */
const maxMessage = 200

/** Returns a message about an event for a person who waits; `undefined` if there is none. `rootId`: the session. */
export function progressOf(event: AgentEvent, rootId: string): string | undefined {
  const agentId = event.agentId === rootId ? undefined : event.agentId
  const by = agentId === undefined ? '' : `${agentId}: `
  switch (event.type) {
    case 'tool.start':
    case 'inner.start':
      return titleOf({ name: event.name, input: event.input, ...(agentId === undefined ? {} : { agentId }) })
    case 'tool.progress': {
      const text = progressText(event.progress)
      return text === undefined ? undefined : oneLine(`${by}${text}`, maxMessage)
    }
    case 'reply.end': {
      const text = oneLine(textOf(event.message.content), maxMessage)
      return text === '' ? undefined : oneLine(`${by}${text}`, maxMessage)
    }
    default:
      return undefined
  }
}

/**
 * Sends messages one at a time. While one is being sent, only the newest of the others is kept, so
 * that a slow client misses some. Never rejects.
 */
export class ProgressTeller {
  readonly #send: (progress: number, message: string) => Promise<void>
  #count = 0
  #next: string | undefined
  #isSending = false
  #isOver = false

  constructor(send: (progress: number, message: string) => Promise<void>) {
    this.#send = send
  }

  tell(message: string): void {
    if (this.#isOver) return
    this.#next = message
    if (!this.#isSending) void this.#sendAll()
  }

  /** Called when the request was answered. No more messages are sent for it. */
  end(): void {
    this.#isOver = true
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    try {
      for (let message = this.#next; message !== undefined && !this.#isOver; message = this.#next) {
        this.#next = undefined
        await this.#send((this.#count += 1), message)
      }
    } catch {
      // The client is gone.
      this.#isOver = true
    }
    this.#isSending = false
  }
}
