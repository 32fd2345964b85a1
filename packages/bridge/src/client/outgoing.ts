import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { ClientFrame } from '../../../wire/src/frames.ts'
import { AwayAgents } from './awayAgents.ts'
import type { WelcomeFrame } from './reconnectingLink.ts'

type Distribute<T> = T extends { readonly id: string } ? Omit<T, 'id'> : never
/** A command without its id. */
export type Asked = Distribute<Exclude<ClientFrame, { type: 'hello' | 'ping' }>>

/** Time between two attempts to reach an agent, in milliseconds. A gateway searches for it much longer each time. */
const againMs = 500
/** Time for which a restarted server may not know an agent yet, in milliseconds, until the application resumes the agent. */
const resumingMs = 10_000
/** Share of the server's frame rate to use, because its one-second windows are not aligned with the client's. */
const share = 0.4

/**
 * Returns the maximum number of unanswered commands in flight. After a stall the connection delivers them at
 * once, in addition to the frames of two of the client's seconds.
 */
const windowOf = (framesPerSecond: number): number => Math.min(32, Math.max(8, Math.floor(framesPerSecond * 0.2)))

/** A command and its callbacks. */
export interface Asking {
  readonly number: number
  readonly frame: Asked
  /** True if the command is valid for this connection only. The next connection sends its own. */
  readonly isOfConnection?: boolean
  answered(result: unknown): void
  refused(error: RuntimeError): void
}

interface Entry extends Asking {
  /** State of the command. `putOff`: its agent cannot be reached at present. */
  state: 'queued' | 'putOff' | 'sent' | 'answered'
  /** True if the command is kept after its answer, and sent again on every connection, until it is released. */
  isKept: boolean
  /** True if the command was answered over an earlier connection. */
  wasTaken?: boolean
}

/**
 * Commands in flight: sent in order, no faster than the server allows, and again under the same id after a reconnect until they are
 * answered. Commands with an awaited run are sent again even after that, so that the next server resumes an agent that was cut off. A
 * command that a gateway refuses because it cannot reach the agent is sent again too, before later commands to the agent.
 */
export class Outgoing {
  readonly #clock: Clock
  readonly #sendText: (text: string) => void
  readonly #away: AwayAgents
  readonly #entries = new Map<string, Entry>()
  #unsent: Entry[] = []
  #limits: WelcomeFrame['limits'] | undefined
  #openedAt = 0
  #waiting = 0
  #sent = 0
  #cancelRefill: (() => void) | undefined
  /** Agents whose commands wait to be retried. */
  readonly #putOff = new Map<string, () => void>()

  constructor(clock: Clock, sendText: (text: string) => void, away = new AwayAgents(() => {})) {
    this.#clock = clock
    this.#sendText = sendText
    this.#away = away
  }

  /** Sends a command as soon as possible. With `isKept` it is kept until `release`. */
  ask(asking: Asking, isKept = false): void {
    const isPutOff = this.#putOff.has(agentOf(asking))
    const entry: Entry = { ...asking, isKept, state: isPutOff ? 'putOff' : 'queued' }
    this.#entries.set(idOf(asking), entry)
    if (isPutOff) return
    this.#unsent.push(entry)
    this.#pump()
  }

  /** Releases a kept command. */
  release(number: number): void {
    const id = idOf({ number })
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    entry.isKept = false
    if (entry.state === 'answered') this.#entries.delete(id)
  }

  /** Starts sending after the server's welcome. The frames that `first` sends go before the repeated ones. */
  opened(limits: WelcomeFrame['limits'], first: () => void): void {
    const again = this.#unsent
    this.#unsent = []
    first()
    this.#unsent.push(...again)
    this.#limits = limits
    this.#openedAt = this.#clock.now()
    this.#pump()
  }

  /** Stops sending after the connection broke. Unanswered commands are sent again over the next one. */
  lost(): void {
    this.#limits = undefined
    this.#waiting = 0
    this.#sent = 0
    this.#cancelRefill?.()
    this.#cancelRefill = undefined
    for (const cancel of this.#putOff.values()) cancel()
    this.#putOff.clear()
    for (const [id, entry] of this.#entries) {
      if (entry.isOfConnection === true) this.#entries.delete(id)
      else {
        entry.wasTaken ||= entry.state === 'answered'
        entry.state = 'queued'
      }
    }
    this.#unsent = [...this.#entries.values()].toSorted((a, b) => a.number - b.number)
  }

  answered(id: string, result: unknown): void {
    const entry = this.#settle(id)
    if (entry !== undefined) this.#away.back(agentOf(entry))
    entry?.answered(result)
    this.#pump()
  }

  refused(id: string, error: RuntimeError): void {
    const sent = this.#entries.get(id)
    if (sent?.state === 'sent' && this.#mayPass(sent, error)) return this.#tryLater(sent, error)
    const entry = this.#settle(id)
    if (entry !== undefined) this.#away.back(agentOf(entry))
    this.#entries.delete(id)
    entry?.refused(error)
    this.#pump()
  }

  /** Stops sending, and refuses all unanswered commands with the error. */
  close(error: RuntimeError): void {
    this.lost()
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    this.#unsent = []
    for (const entry of entries) entry.refused(error)
  }

  #mayPass({ wasTaken }: Entry, { code }: RuntimeError): boolean {
    if (code === 'AGENT_UNREACHABLE') return true
    return wasTaken === true && code === 'AGENT_NOT_FOUND' && this.#clock.now() - this.#openedAt < resumingMs
  }

  /** Postpones a command, together with later commands to the agent. */
  #tryLater(entry: Entry, { code, message }: RuntimeError): void {
    const agentId = agentOf(entry)
    this.#waiting -= 1
    entry.state = 'putOff'
    this.#unsent = this.#unsent.filter((other) => {
      const isOfAgent = agentOf(other) === agentId
      if (isOfAgent) other.state = 'putOff'
      return !isOfAgent
    })
    if (!this.#putOff.has(agentId))
      this.#putOff.set(
        agentId,
        this.#clock.after(againMs, () => this.#tryAgain(agentId)),
      )
    this.#away.left(agentId, { code, message })
    this.#pump()
  }

  #tryAgain(agentId: string): void {
    this.#putOff.delete(agentId)
    for (const entry of [...this.#entries.values()].toSorted((a, b) => a.number - b.number)) {
      if (entry.state !== 'putOff' || agentOf(entry) !== agentId) continue
      entry.state = 'queued'
      this.#unsent.push(entry)
    }
    this.#pump()
  }

  #settle(id: string): Entry | undefined {
    const entry = this.#entries.get(id)
    if (entry === undefined) return undefined
    if (!entry.isKept) this.#entries.delete(id)
    if (entry.state === 'sent') this.#waiting -= 1
    entry.state = 'answered'
    return entry
  }

  #pump(): void {
    while (this.#limits !== undefined && this.#unsent.length > 0) {
      const { framesPerSecond, maxFrameBytes } = this.#limits
      if (this.#waiting >= windowOf(framesPerSecond)) return
      if (this.#sent >= Math.max(1, Math.floor(framesPerSecond * share))) return
      const entry = this.#unsent.shift()!
      const id = idOf(entry)
      const text = textOf({ ...entry.frame, id }, maxFrameBytes)
      if (text instanceof RuntimeError) {
        this.#entries.delete(id)
        entry.refused(text)
        continue
      }
      entry.state = 'sent'
      this.#waiting += 1
      this.#sent += 1
      this.#cancelRefill ??= this.#clock.after(1_000, () => this.#refill())
      this.#sendText(text)
    }
  }

  #refill(): void {
    this.#cancelRefill = undefined
    this.#sent = 0
    this.#pump()
  }
}

/** Returns the id of the command's agent; `''` if it has none. */
const agentOf = ({ frame }: Pick<Asking, 'frame'>): string => ('agentId' in frame ? (frame.agentId ?? '') : '')

const idOf = ({ number }: Pick<Asking, 'number'>): string => `c${number}`

/** Returns a frame in its sent form, or the error if it cannot be sent. */
function textOf(frame: Asked & { readonly id: string }, maxFrameBytes: number): string | RuntimeError {
  try {
    const text = JSON.stringify(frame)
    if (!isLonger(text, maxFrameBytes)) return text
    const what = `"${frame.type}" takes more than ${maxFrameBytes} bytes, the most the server allows.`
    return new RuntimeError('BRIDGE_LIMIT', what)
  } catch (thrown) {
    // A circle, a BigInt, or more levels than can be walked.
    return new RuntimeError('INVALID_OPTION', `"${frame.type}" holds what JSON cannot: ${messageOf(thrown)}.`)
  }
}

const isLonger = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes)
