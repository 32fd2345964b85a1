import type { RuntimeError } from '../../../../src/protocol/errors.ts'
import { concernsPeople, isDelta, type AgentEvent } from '../../../../src/protocol/events.ts'
import type { ServerFrame } from '../../../wire/src/frames.ts'

const deltaTypes = { text: 'reply.delta', thinking: 'thinking.delta' } as const

export type DeltaFrame = Extract<ServerFrame, { type: 'delta' }>
type Piece = Pick<DeltaFrame, 'offset' | 'text'>

/** Tracks how much of a reply a listener has received, and removes repeated text. */
export class DeltaCutter {
  #reply = ''
  #received = { text: 0, thinking: 0 }

  /** Returns the new part of a delta; `undefined` if there is none. */
  cut({ runId, turnIndex, kind, offset, text }: DeltaFrame): Piece | undefined {
    const reply = `${runId}/${turnIndex}`
    if (reply !== this.#reply) this.#begin(reply)
    const received = this.#received[kind]
    const end = offset + text.length
    if (end <= received) return undefined
    this.#received[kind] = end
    return offset >= received ? { offset, text } : { offset: received, text: text.slice(received - offset) }
  }

  /** Resets the count when a reply starts, restarts or ends. */
  observe({ type }: AgentEvent): void {
    if (type === 'reply.start' || type === 'reply.reset' || type === 'reply.end') this.#begin('')
  }

  #begin(reply: string): void {
    this.#reply = reply
    this.#received = { text: 0, thinking: 0 }
  }
}

/** Options of a listener's subscription. */
export interface ListenerOptions {
  /** `seq` of the last record that the listener received; `undefined` to start at the log's end, once that is known. */
  readonly cursor: number | undefined
  readonly deltas: boolean
  readonly descendants: boolean
  readonly requests: boolean
  /** True to receive captured requests in full. */
  readonly captured: boolean
  /** True to read the log from its start if the server's log has lost records; false to read from its current end. */
  readonly rereads: boolean
  onEvent(event: AgentEvent): void
  /** Called when everything up to now has been delivered: initially, and after every reconnect. */
  onCaughtUp?(): void
  /** Called when no more events will follow, with an error unless the agent simply ended. */
  onEnd(error?: RuntimeError): void
}

/** Options of the subscription that is used while runs are awaited. */
export const forRuns = {
  cursor: undefined,
  deltas: true,
  descendants: false,
  requests: false,
  captured: true,
  rereads: true,
} as const

/** One listener of a remote agent, with its own position in the log; it receives nothing twice. */
export class FeedListener {
  readonly wants: ListenerOptions
  cursor: number | undefined
  readonly #cutter = new DeltaCutter()

  constructor(wants: ListenerOptions) {
    this.wants = wants
    this.cursor = wants.cursor
  }

  /** Delivers the event of a record. */
  takeLogged(event: AgentEvent, seq: number): void {
    if (this.cursor === undefined || seq <= this.cursor) return
    this.cursor = seq
    this.#deliver(event)
  }

  /** Delivers an event that is not in the log and happened after record `seq`. */
  takeLive(event: AgentEvent, seq: number, isOwn: boolean): void {
    if (!this.#hasReached(seq)) return
    const isWanted = isOwn || this.wants.descendants || concernsPeople(event)
    if (!isWanted || (!this.wants.deltas && isDelta(event))) return
    if (!this.wants.requests && event.type === 'turn.request') return
    this.#deliver(event)
  }

  /** Delivers a delta of the current reply. `at` has the `seq` of the agent's last record. */
  takeDelta(frame: DeltaFrame, at: Pick<AgentEvent, 'path' | 'incognito' | 'seq' | 'time'>): void {
    if (!this.wants.deltas || !this.#hasReached(at.seq)) return
    const piece = this.#cutter.cut(frame)
    if (piece === undefined) return
    const { agentId, runId, turnIndex, kind } = frame
    this.#deliver({ type: deltaTypes[kind], agentId, ...at, runId, turnIndex, ...piece })
  }

  /** Returns true if the listener has received everything up to record `seq`. */
  #hasReached(seq: number): boolean {
    return this.cursor !== undefined && this.cursor >= seq
  }

  #deliver(event: AgentEvent): void {
    this.#cutter.observe(event)
    this.wants.onEvent(event)
  }
}
