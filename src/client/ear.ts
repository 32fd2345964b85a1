import type { RuntimeError } from '../protocol/errors.ts'
import { isDelta, type AgentEvent } from '../protocol/events.ts'
import { DeltaCutter, type DeltaFrame } from './deltaCutter.ts'

const deltaTypes = { text: 'reply.delta', thinking: 'thinking.delta' } as const

/** What an ear wants to hear. */
export interface EarOptions {
  /** `seq` of the last record it has heard; `undefined`: it wants to hear from now on, whenever that is. */
  readonly cursor: number | undefined
  readonly deltas: boolean
  readonly descendants: boolean
  /** Where it goes on when the server's log turns out to have lost what it had said: at its beginning, or else now. */
  readonly rereads: boolean
  tell(event: AgentEvent): void
  /** No more comes; with the error when that was not the agent's own end. */
  ended(error?: RuntimeError): void
}

/** One listener of a remote agent: it has a place of its own in the log, and hears nothing twice. */
export class Ear {
  readonly wants: EarOptions
  cursor: number | undefined
  readonly #cutter = new DeltaCutter()

  constructor(wants: EarOptions) {
    this.wants = wants
    this.cursor = wants.cursor
  }

  /** A record's event. */
  hearLogged(event: AgentEvent, seq: number): void {
    if (this.cursor === undefined || seq <= this.cursor) return
    this.cursor = seq
    this.#tell(event)
  }

  /** Something beside the log, which happened after record `seq` of the agent listened to. */
  hearLive(event: AgentEvent, seq: number, isOwn: boolean): void {
    if (!this.#isThere(seq)) return
    const isWanted = isOwn || this.wants.descendants || event.type.startsWith('approval.')
    if (!isWanted || (!this.wants.deltas && isDelta(event))) return
    this.#tell(event)
  }

  /** A piece of the reply under way; `at` is where the agent's log stands. */
  hearDelta(frame: DeltaFrame, at: Pick<AgentEvent, 'path' | 'seq' | 'time'>): void {
    if (!this.wants.deltas || !this.#isThere(at.seq)) return
    const piece = this.#cutter.cut(frame)
    if (piece === undefined) return
    const { agentId, runId, turnIndex, kind } = frame
    this.#tell({ type: deltaTypes[kind], agentId, ...at, runId, turnIndex, ...piece })
  }

  /** Whether it has heard everything up to a record. */
  #isThere(seq: number): boolean {
    return this.cursor !== undefined && this.cursor >= seq
  }

  #tell(event: AgentEvent): void {
    this.#cutter.saw(event)
    this.wants.tell(event)
  }
}
