import { callListener } from '../../../../src/protocol/callbackBugs.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { HostTimer } from '../../../../src/protocol/parts/hosts/hostRecords.ts'
import type { StoreLease } from '../../../../src/protocol/ports/store.ts'
import type { LocalRuntime } from '../../../../src/runtime/runtime.ts'
import { bytesOf, checkEvent, mostWaiting } from './checkEvent.ts'
import { actorHosts, effectError, type ActorHost, type Effect, type HostedLife } from './durable.ts'
import { Effects } from './effects.ts'
import { HostIndex } from './hostIndex.ts'
import { noteRequest, type HostPast } from './hostPast.ts'
import type { HostRules, HostView } from './hostTypes.ts'
import { Journal, type HostDraft } from './journal.ts'
import { Keeping, snapshotAfter, versionOf } from './keeping.ts'
import { LiveMachine, type Scheduled, type Surroundings } from './liveMachine.ts'
import { agentsIn, printOf, refused, whyNotKept, type MachineState } from './machineState.ts'
import { inStep } from './naming.ts'
import { asJson, notJson } from './plainJson.ts'
import { Replica, type InputRecord, type KeptMachine } from './replica.ts'
import { replayed } from './replay.ts'
import { HostTimers } from './timers.ts'
import { viewOf } from './hostView.ts'

type Event = { readonly type: string }

/** Rest after which a snapshot is written, in milliseconds. */
const restMs = 1_000
/** Most bytes of an event that one of its actors sends, as JSON. */
const mostInnerBytes = 1_048_576

/** A step whose actions may still be on their way. */
interface OwedStep {
  readonly upto: number
  readonly print: string
  readonly set: readonly HostTimer[]
  readonly cleared: readonly string[]
  isReady: boolean
}

/** The step that is being taken. */
interface Taking {
  readonly seq: number
  readonly time: number
  readonly set: HostTimer[]
  readonly cleared: string[]
  /** Commands that agents have yet to take; `false`: one was not taken. */
  readonly owes: Promise<boolean>[]
}

interface Acknowledged {
  resolve(): void
  reject(error: unknown): void
}

/** A machine, its log and the runtime that keeps it. */
export interface HostParts {
  readonly runtime: LocalRuntime
  readonly kept: KeptMachine
  readonly rules: HostRules
  readonly lease: StoreLease
  /** Called once its log is released. */
  leave(): void
}

/** A machine that is kept in a log, while it is in this process. */
export class MachineHost implements ActorHost, Surroundings {
  readonly #parts: HostParts
  readonly #journal: Journal
  readonly #index: HostIndex
  readonly #timers: HostTimers
  readonly #effects: Effects
  readonly #requests: Set<string>
  #live!: LiveMachine
  #keeping!: Keeping
  /** `closing`: it takes no more events; those that come are recorded for whoever opens it next. */
  #phase: 'open' | 'closing' | 'ended' = 'open'
  /** Recorded events that have yet to be taken. */
  #waiting: InputRecord[] = []
  #pumping: Promise<void> | undefined
  readonly #acks = new Map<number, Acknowledged>()
  readonly #lives = new Set<HostedLife>()
  #taking: Taking | undefined
  #owed: OwedStep[] = []
  #taken = 0
  #cancelRest: (() => void) | undefined
  readonly #listeners = new Set<(view: HostView) => void>()
  #changed = Promise.withResolvers<void>()
  readonly #done = Promise.withResolvers<unknown>()
  #ending: Promise<void> | undefined
  #failure: RuntimeError | undefined

  constructor(parts: HostParts, past: HostPast | undefined) {
    const { runtime, lease, kept } = parts
    const { shared, logger } = runtime
    this.#parts = parts
    this.#journal = new Journal(shared, lease, (error) => void this.#end(error))
    this.#index = new HostIndex(kept.hostId, this.#journal, { timers: shared.store.timers, logger })
    this.#timers = new HostTimers(shared.clock, new Map(past?.timers), (timer) => this.#ring(timer))
    this.#effects = new Effects(this.#journal, new Map(past?.effects), (end) => this.#accept(end))
    this.#requests = new Set(past?.requests)
    this.#done.promise.catch(() => {})
  }

  get id(): string {
    return this.#parts.kept.hostId
  }

  get name(): string {
    return this.#parts.kept.name
  }

  get ref(): unknown {
    return this.#live.actor
  }

  get snapshot(): MachineState {
    return this.#live.state
  }

  get view(): HostView {
    const { kept, rules } = this.#parts
    const isHere = this.#phase !== 'ended' || this.snapshot.status !== 'active'
    return viewOf({
      ...kept,
      version: rules.version,
      state: this.snapshot,
      seq: this.#journal.seq,
      timers: this.#timers.list,
      isHere,
    })
  }

  get done(): Promise<unknown> {
    return this.#done.promise
  }

  /** Begins a machine. @throws RuntimeError `MACHINE_REFUSED`; then its log has nothing */
  async begin(given: unknown): Promise<void> {
    const { kept, rules } = this.#parts
    const wrong = notJson(given, 'input')
    if (wrong !== undefined) throw refused(kept.name, `Its input must be JSON, but ${wrong}`)
    const input = asJson(given)
    const { state } = Replica.begun(kept, this.#journal.seq + 1, input)
    if (state.status === 'error')
      throw refused(kept.name, `It does not begin with this input: ${effectError(state.error).message}`)
    const why = whyNotKept(kept.machine, state)
    if (why !== undefined) throw refused(kept.name, why)
    const created = this.#journal.append({
      type: 'host.created',
      hostId: kept.hostId,
      machine: kept.name,
      ...versionOf(rules.version),
      input,
    })
    await this.#journal.durable()
    this.#first(created)
    this.#timers.open()
    await this.#checkKept()
  }

  /** Goes on from a log. @throws RuntimeError `MACHINE_CHANGED`, `MACHINE_IMPURE`, `MACHINE_REFUSED` */
  async goOn(past: HostPast): Promise<void> {
    const { kept, rules } = this.#parts
    const { created, handled } = past
    const replica = replayed(kept, rules, past)
    if (handled < created.seq) this.#first(created)
    else this.#again(replica, handled)
    for (const input of past.inputs) if (input.seq > handled) this.#take(input)
    // It may have come to its end without a record of it.
    if (this.snapshot.status !== 'active' && this.#ending === undefined) this.#finish(this.snapshot)
    this.#timers.open()
    this.#rest()
    await this.#checkKept()
  }

  /** Throws why it cannot be kept, if that is known by now. */
  async #checkKept(): Promise<void> {
    await this.#ending
    if (this.#failure !== undefined && this.#failure.code !== 'MACHINE_FAILED') throw this.#failure
  }

  /** Gives it an event; resolves once that is in the store and was taken. */
  send(given: unknown, { requestId }: { readonly requestId?: string } = {}): Promise<void> {
    try {
      const event = checkEvent(given, this.#parts.rules.refuse)
      this.#checkOpen()
      if (requestId !== undefined && this.#requests.has(requestId)) return this.#journal.durable()
      if (requestId !== undefined) noteRequest(this.#requests, requestId)
      const { promise, ...ack } = Promise.withResolvers<void>()
      const seq = this.#accept({ type: 'host.event', event, ...(requestId === undefined ? {} : { requestId }) })
      this.#acks.set(seq, ack)
      return promise
    } catch (thrown) {
      return Promise.reject(thrown as Error)
    }
  }

  onStep(listener: (view: HostView) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** True while somebody listens to it. */
  get isAttended(): boolean {
    return this.#listeners.size > 0
  }

  async settled({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const aborted = Promise.withResolvers<never>()
    aborted.promise.catch(() => {})
    const abort = (): void => aborted.reject(signal?.reason)
    signal?.addEventListener('abort', abort)
    try {
      signal?.throwIfAborted()
      while (this.#phase === 'open' && this.#isBusy) {
        const changed = this.#changed.promise
        const lives = [...this.#lives].filter(({ isBusy }) => isBusy).map((life) => life.settled())
        await Promise.race([changed, aborted.promise, ...lives])
        // Whatever an agent does next follows in this turn of the loop of events.
        await new Promise((resolve) => setImmediate(resolve))
      }
      await Promise.race([this.#ending, aborted.promise])
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Releases it. Idempotent; never rejects. */
  close(): Promise<void> {
    if (this.#phase === 'open') this.#phase = 'closing'
    return this.#end(new RuntimeError('MACHINE_CLOSED', `Machine "${this.id}" was closed here.`))
  }

  // Its actors call these.

  run(effect: Effect): void {
    this.#effects.begin(effect)
  }

  follow(life: HostedLife): void {
    this.#lives.add(life)
  }

  owe(taken: Promise<boolean>): void {
    this.#taking?.owes.push(taken)
  }

  /** An event came to the machine from one of its actors, or from whoever has its actor. */
  arrived(given: Event, source: { readonly id: string } | undefined): void {
    if (source === undefined) {
      const event = checkEvent(given, this.#parts.rules.refuse)
      this.#checkOpen()
      return void this.#accept({ type: 'host.event', event })
    }
    if (this.#phase === 'ended') return
    const event = 'error' in given && given.error !== undefined ? { ...given, error: effectError(given.error) } : given
    const from = source.id === this.id ? {} : { from: source.id }
    const wrong =
      notJson(event, 'it') ?? (mostInnerBytes < bytesOf(event) ? `it has more than ${mostInnerBytes} bytes` : undefined)
    if (wrong === undefined) this.#accept({ type: 'host.event', event: asJson(event), ...from })
    else
      void this.#end(
        refused(
          this.#parts.kept.name,
          `Its actor "${source.id}" sent "${given.type}", which must be JSON, but ${wrong}`,
        ),
      )
  }

  scheduled({ id, event, to, delay }: Scheduled): void {
    const outside = { seq: this.#journal.seq, time: this.#parts.runtime.clock.now(), set: [] as HostTimer[] }
    const { seq, time, set } = this.#taking ?? outside
    const wrong = notJson(event, 'it')
    if (wrong !== undefined)
      return void this.#end(
        refused(this.#parts.kept.name, `The delayed event "${event.type}" must be JSON, but ${wrong}`),
      )
    const due = Math.round(time + (Number.isFinite(delay) ? Math.max(0, delay) : 0))
    const timer = {
      id: id ?? `${seq}.${set.length + 1}`,
      event: asJson(event),
      ...(to === undefined ? {} : { to }),
      due,
    }
    this.#timers.set(timer)
    set.push(timer)
  }

  cancelled(id: string): void {
    if (this.#timers.clear(id)) this.#taking?.cleared.push(id)
  }

  // The way of an event: accepted and recorded, then taken, then carried out.

  #ring({ id, event, to }: HostTimer): void {
    this.#accept({ type: 'host.event', event, timer: id, ...(to === undefined ? {} : { to }) })
  }

  /** Records an event, which the machine takes once the store has it. Returns its `seq`. */
  #accept(draft: Extract<HostDraft, { type: 'host.event' | 'host.effect.end' }>): number {
    const record: InputRecord = this.#journal.append(draft)
    this.#waiting.push(record)
    if (this.#phase === 'open') this.#pumping ??= this.#pump()
    return record.seq
  }

  /** Takes the events that wait, in the order of the log. Never rejects. */
  async #pump(): Promise<void> {
    try {
      while (this.#waiting.length > 0 && this.#phase === 'open') {
        const batch = this.#waiting
        this.#waiting = []
        await this.#journal.durable()
        for (const record of batch) {
          if (this.#phase === 'open') this.#take(record)
          this.#acknowledge(record.seq)
        }
      }
    } catch (thrown) {
      void this.#end(thrown as RuntimeError)
    } finally {
      this.#pumping = undefined
      this.#rest()
    }
  }

  #acknowledge(seq: number): void {
    this.#acks.get(seq)?.resolve()
    this.#acks.delete(seq)
  }

  /** Starts the machine for the first time, or once more if its first actions may not have been carried out. */
  #first(created: { readonly seq: number; readonly time: number; readonly input: unknown }): void {
    const { kept, rules } = this.#parts
    this.#keeping = new Keeping(kept, rules.version, this.#journal, () =>
      Replica.begun(kept, created.seq, created.input),
    )
    this.#step(created, 0, () => {
      this.#live = new LiveMachine(kept, { input: created.input }, this)
      actorHosts.set(this.#live.system, this)
      this.#live.start()
    })
    this.#carriedOut()
  }

  /** Starts the machine from a state that it had. */
  #again(replica: Replica, handled: number): void {
    const { kept, rules } = this.#parts
    const state = replica.keep()
    this.#taken = handled
    this.#keeping = new Keeping(kept, rules.version, this.#journal, () => Replica.from(kept, state))
    this.#live = new LiveMachine(kept, { snapshot: state }, this)
    actorHosts.set(this.#live.system, this)
    this.#live.start()
  }

  /** Gives the machine an event of its log. */
  #take(record: InputRecord): void {
    if (this.snapshot.status !== 'active') return
    const print = this.#step(record, agentsIn(this.snapshot), () => {
      if (record.type === 'host.event') {
        // After a crash it may have been set once more by the event before.
        if (record.timer !== undefined && this.#pumping === undefined) this.#timers.clear(record.timer)
        return this.#live.give(record.event, record)
      }
      const actor = this.#effects.take(record.key)
      const { output, error } = record
      if (actor !== undefined) this.#live.end(actor, error === undefined ? { output } : { error })
    })
    this.#keeping.note(record, print)
    this.#carriedOut()
  }

  /** Takes a step, and notes what it owes. Returns the fingerprint of the state after it. */
  #step({ seq, time }: { readonly seq: number; readonly time: number }, agents: number, work: () => void): string {
    const taking: Taking = { seq, time, set: [], cleared: [], owes: [] }
    this.#taking = taking
    inStep({ hostId: this.id, seq, agents }, work)
    this.#taking = undefined
    this.#taken = seq
    const print = printOf(this.#parts.kept.machine, this.snapshot)
    const { set, cleared, owes } = taking
    const owed: OwedStep = { upto: seq, print, set, cleared, isReady: owes.length === 0 }
    this.#owed.push(owed)
    if (owes.length > 0)
      void Promise.all(owes).then((taken) => {
        owed.isReady = taken.every(Boolean)
        this.#flush()
        this.#rest()
      })
    return print
  }

  /** The actions of an event were begun: its state can be judged, and told. */
  #carriedOut(): void {
    const { kept } = this.#parts
    this.#flush()
    const why = whyNotKept(kept.machine, this.snapshot)
    if (why !== undefined) return void this.#end(refused(kept.name, why))
    this.#tell()
    if (this.snapshot.status !== 'active') this.#finish(this.snapshot)
    else if (this.#keeping.length >= snapshotAfter) this.#keep()
    this.#rest()
  }

  /** Records the steps that were carried out, in order. */
  #flush(): void {
    if (this.#phase === 'ended') return
    while (this.#owed[0]?.isReady === true) {
      const { upto, print, set, cleared } = this.#owed.shift()!
      this.#journal.append({
        type: 'host.step',
        upto,
        print,
        ...(set.length === 0 ? {} : { set }),
        ...(cleared.length === 0 ? {} : { cleared }),
      })
    }
  }

  /** Writes a snapshot, if all that was taken was carried out. */
  #keep(): void {
    if (this.#owed.length > 0 || (this.#waiting.length > 0 && this.#keeping.length < snapshotAfter)) return
    try {
      this.#keeping.write(this.snapshot, this.#taken)
    } catch (thrown) {
      void this.#end(thrown as RuntimeError)
    }
  }

  /** Something was begun or has ended. */
  #rest(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
    if (this.#phase !== 'open') return
    const { clock } = this.#parts.runtime
    this.#index.set(this.#isBusy ? Math.min(this.#timers.due ?? Infinity, clock.now()) : this.#timers.due)
    if (this.#cancelRest !== undefined || this.#keeping.length === 0) return
    this.#cancelRest = clock.after(restMs, () => {
      this.#cancelRest = undefined
      this.#keep()
      this.#rest()
    })
  }

  get #isBusy(): boolean {
    const owes = this.#waiting.length > 0 || this.#owed.length > 0 || this.#pumping !== undefined
    return owes || this.#effects.working > 0 || [...this.#lives].some(({ isBusy }) => isBusy)
  }

  #tell(): void {
    if (this.#listeners.size === 0) return
    const { view } = this
    for (const listener of this.#listeners) callListener('A listener of a hosted machine', listener, view)
  }

  #finish(state: MachineState): void {
    const output = asJson(state.output)
    const wrong = state.status === 'done' ? notJson(state.output, 'output') : undefined
    const error =
      state.status === 'error'
        ? effectError(state.error)
        : wrong === undefined
          ? undefined
          : effectError(`Its output must be JSON, but ${wrong}`)
    this.#journal.append({
      type: 'host.done',
      output: error === undefined ? output : undefined,
      ...(error === undefined ? {} : { error }),
    })
    const failure = error === undefined ? undefined : failed(this.id, error.message)
    void this.#end(failure, { output })
  }

  /** Ends it here. Never rejects. `done`: the machine has come to its own end. */
  #end(reason: RuntimeError | undefined, done?: { readonly output: unknown }): Promise<void> {
    this.#ending ??= this.#close(reason, done)
    return this.#ending
  }

  async #close(reason: RuntimeError | undefined, done: { readonly output: unknown } | undefined): Promise<void> {
    const isClosed = this.#phase === 'closing'
    if (isClosed) {
      await this.#pumping
      await this.#effects.atRest()
      this.#keep()
    }
    const due = this.#isBusy
      ? Math.min(this.#timers.due ?? Infinity, this.#parts.runtime.clock.now())
      : this.#timers.due
    this.#phase = 'ended'
    this.#cancelRest?.()
    this.#timers.close()
    for (const { reject } of this.#acks.values()) reject(reason)
    this.#acks.clear()
    await Promise.all([...this.#lives].map((life) => life.suspend()))
    this.#live?.stop()
    this.#index.set(done === undefined ? due : null)
    await this.#index.settled()
    const failure = await this.#journal.release().then(
      () => reason,
      (thrown: RuntimeError) => reason ?? thrown,
    )
    this.#failure = failure
    this.#parts.leave()
    if (failure === undefined) this.#done.resolve(done?.output)
    else this.#done.reject(failure)
    this.#changed.resolve()
    this.#tell()
  }

  #checkOpen(): void {
    if (this.#phase !== 'open') throw new RuntimeError('MACHINE_CLOSED', `Machine "${this.id}" is not open here.`)
    if (this.#waiting.length >= mostWaiting)
      throw new RuntimeError('QUEUE_FULL', `${mostWaiting} events wait for machine "${this.id}".`)
  }
}

/** Returns the error of a machine that has failed. */
export const failed = (hostId: string, why: string): RuntimeError =>
  new RuntimeError('MACHINE_FAILED', `Machine "${hostId}" failed: ${why}.`)
