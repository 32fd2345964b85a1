import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { checkEvent, whyNotRecorded } from './checkEvent.ts'
import { effectError, type ActorHost, type Effect, type HostedLife } from './durable.ts'
import type { Effects } from './effects.ts'
import type { HostRules } from './hostTypes.ts'
import type { Inbox } from './inbox.ts'
import type { Scheduled, Surroundings } from './liveMachine.ts'
import { asJson } from './plainJson.ts'
import type { Taking } from './steps.ts'
import type { HostTimers } from './timers.ts'

type Event = { readonly type: string }

/** The host of a machine, as `ActorsSide` uses it. */
interface Inside {
  readonly id: string
  readonly rules: HostRules
  readonly takesOver: boolean
  readonly clock: Clock
  readonly effects: Effects
  readonly inbox: Inbox
  readonly timers: HostTimers
  /** `seq` of the last record. */
  seq(): number
  /** Throws if the machine takes no events from outside. */
  checkOpen(): void
  hasEnded(): boolean
  /** Ends the machine with an error, because it cannot be kept. */
  refuse(why: string): void
}

/** The part of a host that the machine's actors call. */
export class ActorsSide implements ActorHost, Surroundings {
  readonly #host: Inside
  /** Agents of the machine, including those that have ended. */
  readonly lives = new Set<HostedLife>()
  /** The step that is being taken. */
  taking: Taking | undefined

  constructor(host: Inside) {
    this.#host = host
  }

  get takesOver(): boolean {
    return this.#host.takesOver
  }

  run(effect: Effect): void {
    this.#host.effects.begin(effect)
  }

  follow(life: HostedLife): void {
    this.lives.add(life)
  }

  owe(taken: Promise<boolean>): void {
    this.taking?.owes.push(taken)
  }

  /** Takes an event that came to the machine from one of its actors, or from a holder of its own actor. */
  arrived(given: Event, source: { readonly id: string } | undefined): void {
    const { id, inbox, rules } = this.#host
    if (source === undefined) {
      const event = checkEvent(given, rules.refuse)
      this.#host.checkOpen()
      inbox.accept({ type: 'host.event', event })
      return
    }
    if (this.#host.hasEnded()) return
    const event = 'error' in given && given.error !== undefined ? { ...given, error: effectError(given.error) } : given
    const why = whyNotRecorded(event, source.id)
    if (why !== undefined) return this.#host.refuse(why)
    const from = source.id === id ? {} : { from: source.id }
    inbox.accept({ type: 'host.event', event: asJson(event), ...from })
  }

  scheduled({ id, event, to, delay }: Scheduled): void {
    const { clock, timers } = this.#host
    const why = whyNotRecorded(event, this.#host.id)
    if (why !== undefined) return this.#host.refuse(why)
    const { seq, time, set } = this.taking ?? { seq: this.#host.seq(), time: clock.now(), set: [] }
    const due = Math.round(time + (Number.isFinite(delay) ? Math.max(0, delay) : 0))
    const name = id ?? `${seq}.${set.length + 1}`
    const timer = { id: name, event: asJson(event), ...(to === undefined ? {} : { to }), due }
    timers.set(timer)
    this.taking?.set.push(timer)
  }

  cancelled(id: string): void {
    if (this.#host.timers.clear(id)) this.taking?.cleared.push(id)
  }
}
