import type { AgentEvent } from '../protocol/events.ts'
import type { ServerFrame } from '../protocol/frames.ts'

export type DeltaFrame = Extract<ServerFrame, { type: 'delta' }>
type Piece = Pick<DeltaFrame, 'offset' | 'text'>

/** Knows how much of a reply one listener has heard, and cuts what comes again. */
export class DeltaCutter {
  #reply = ''
  #heard = { text: 0, thinking: 0 }

  /** The part of a delta that is new; `undefined` when none is. */
  cut({ runId, turnIndex, kind, offset, text }: DeltaFrame): Piece | undefined {
    const reply = `${runId}/${turnIndex}`
    if (reply !== this.#reply) this.#begin(reply)
    const heard = this.#heard[kind]
    const end = offset + text.length
    if (end <= heard) return undefined
    this.#heard[kind] = end
    return offset >= heard ? { offset, text } : { offset: heard, text: text.slice(heard - offset) }
  }

  /** A reply that begins again, begins at 0. */
  saw({ type }: AgentEvent): void {
    if (type === 'reply.start' || type === 'reply.reset' || type === 'reply.end') this.#begin('')
  }

  #begin(reply: string): void {
    this.#reply = reply
    this.#heard = { text: 0, thinking: 0 }
  }
}
