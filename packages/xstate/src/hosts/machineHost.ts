import { callListener } from '../../../../src/protocol/callbackBugs.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { HostTimer } from '../../../../src/protocol/parts/hosts/hostRecords.ts'
import type { RecordOf } from '../../../../src/protocol/records.ts'
import type { StoreLease } from '../../../../src/protocol/ports/store.ts'
import type { LocalRuntime } from '../../../../src/runtime/runtime.ts'
import { ActorsSide } from './actorsSide.ts'
import { checkedInput } from './checkedInput.ts'
import { checkEvent, mostWaiting } from './checkEvent.ts'
import { actorHosts, type HostedLife } from './durable.ts'
import { Effects } from './effects.ts'
import { HostIndex } from './hostIndex.ts'
import { Inbox } from './inbox.ts'
import { noteRequest, type HostPast } from './hostPast.ts'
import type { HostView } from '../../../wire/src/hostView.ts'
import type { AnyMachine, HostRules } from './hostTypes.ts'
import { Journal } from './journal.ts'
import { Keeping, snapshotAfter, versionOf } from './keeping.ts'
import { LiveMachine } from './liveMachine.ts'
import { agentsIn, endOf, failed, printOf, refused, whyNotKept, type MachineState } from './machineState.ts'
import { inStep } from './naming.ts'
import { Replica, type InputRecord, type KeptMachine } from './replica.ts'
import { replayed } from './replay.ts'
import { Steps, type Taking } from './steps.ts'
import { HostTimers } from './timers.ts'
import { untilAtRest, type Restless } from './untilAtRest.ts'
import { viewOf } from './hostView.ts'

/** Idle time after which a snapshot is written, in milliseconds. */
const restMs = 1_000

/** Parts of a host: a machine, its log and the runtime that keeps it. */
export interface HostParts {
  readonly runtime: LocalRuntime
  readonly kept: KeptMachine
  readonly rules: HostRules
  readonly lease: StoreLease
  /** True if the machine was taken over from another process, so that its agents are too. */
  readonly takesOver: boolean
  /** Called once the machine's log is released. */
  leave(): void
}

/** Keeps a machine in a log while the machine is open in this process. */
export class MachineHost implements Restless {
  readonly #parts: HostParts
  readonly #journal: Journal
  readonly #index: HostIndex
  readonly #timers: HostTimers
  readonly #effects: Effects
  readonly #requests: Set<string>
  #live!: LiveMachine
  #keeping!: Keeping
  /** `closing`: no more events are taken; those that come are recorded for the process that opens the machine next. */
  #phase: 'open' | 'closing' | 'ended' = 'open'
  readonly #inbox: Inbox
  readonly #actors: ActorsSide
  readonly #steps: Steps
  #taken = 0
  #busySince: number | undefined
  #cancelRest: (() => void) | undefined
  readonly #listeners = new Set<(view: HostView) => void>()
  #isAttended = false
  #changed = Promise.withResolvers<void>()
  readonly #done = Promise.withResolvers<unknown>()
  #ending: Promise<void> | undefined
  #failure: RuntimeError | undefined

  constructor(parts: HostParts, past: HostPast | undefined) {
    const { runtime, lease, kept } = parts
    const { shared, logger } = runtime
    this.#parts = parts
    this.#journal = new Journal(shared, lease, (error) => void this.#end(error))
    this.#index = new HostIndex(kept.hostId, this.#journal, {
      timers: shared.store.timers,
      logger,
      isNew: past === undefined,
    })
    this.#timers = new HostTimers(shared.clock, new Map(past?.timers), (timer) => this.#ring(timer))
    this.#effects = new Effects(this.#journal, new Map(past?.effects), (end) => void this.#inbox.accept(end))
    this.#inbox = new Inbox(this.#journal, {
      take: (record) => this.#take(record),
      rest: () => this.#rest(),
      fail: (error) => void this.#end(error),
    })
    this.#actors = new ActorsSide({
      id: kept.hostId,
      rules: parts.rules,
      takesOver: parts.takesOver,
      clock: shared.clock,
      effects: this.#effects,
      inbox: this.#inbox,
      timers: this.#timers,
      seq: () => this.#journal.seq,
      checkOpen: () => this.#checkOpen(),
      hasEnded: () => this.#phase === 'ended',
      refuse: (why) => this.#refuse(why),
    })
    this.#steps = new Steps(this.#journal, () => this.#rest())
    this.#requests = new Set(past?.requests)
    this.#done.promise.catch(() => {})
  }

  get id(): string {
    return this.#parts.kept.hostId
  }

  get name(): string {
    return this.#parts.kept.name
  }

  get definition(): AnyMachine {
    return this.#parts.kept.machine
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

  /** Begins a new machine. @throws RuntimeError `MACHINE_REFUSED`; then the log stays empty */
  async begin(given: unknown): Promise<void> {
    const { kept, rules } = this.#parts
    const input = checkedInput(kept, this.#journal.seq + 1, given)
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

  /** Continues from a log. @throws RuntimeError `MACHINE_CHANGED`, `MACHINE_IMPURE`, `MACHINE_REFUSED` */
  async goOn(past: HostPast): Promise<void> {
    const { kept, rules } = this.#parts
    const { created, handled } = past
    const replica = replayed(kept, rules, past)
    if (handled < created.seq) this.#first(created)
    else this.#again(replica, handled)
    for (const input of past.inputs) if (input.seq > handled) this.#take(input, true)
    // It may have come to its end without a record of it.
    if (this.snapshot.status !== 'active' && this.#ending === undefined) this.#finish(this.snapshot)
    this.#timers.open()
    this.#rest()
    await this.#checkKept()
  }

  /** Throws if the machine is known not to be keepable. */
  async #checkKept(): Promise<void> {
    await this.#ending
    if (this.#failure !== undefined && this.#failure.code !== 'MACHINE_FAILED') throw this.#failure
  }

  /** Sends the machine an event; resolves once the event is stored and was taken. */
  async send(given: unknown, { requestId }: { readonly requestId?: string } = {}): Promise<void> {
    const event = checkEvent(given, this.#parts.rules.refuse)
    this.#checkOpen()
    if (requestId === undefined) return await this.#inbox.taken(this.#inbox.accept({ type: 'host.event', event }))
    if (this.#requests.has(requestId)) return await this.#journal.durable()
    noteRequest(this.#requests, requestId)
    await this.#inbox.taken(this.#inbox.accept({ type: 'host.event', event, requestId }))
  }

  onStep(listener: (view: HostView) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Marks the machine as in use, so that it stays open until it is closed explicitly. */
  attend(): void {
    this.#isAttended = true
  }

  /** True while code in this process holds the machine, or listens to it. */
  get isAttended(): boolean {
    return this.#isAttended || this.#listeners.size > 0
  }

  /** Resolves when the machine has ended; `undefined` until its end begins. */
  get ending(): Promise<void> | undefined {
    return this.#ending
  }

  /** Resolves once the machine's agents are open, or have failed to open. Never rejects. */
  async ready(): Promise<void> {
    await Promise.all([...this.lives].map(({ opened }) => opened))
  }

  async settled({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await untilAtRest(this, signal)
    await this.#ending
  }

  /** True while the machine does something by itself. */
  get isBusy(): boolean {
    if (this.#phase === 'ended') return false
    const isDue = (this.#timers.due ?? Infinity) <= this.#parts.runtime.clock.now()
    const owes = isDue || this.#inbox.isBusy || !this.#steps.isEmpty
    return owes || this.#effects.working > 0 || [...this.#actors.lives].some(({ isBusy }) => isBusy)
  }

  get changed(): Promise<void> {
    return this.#changed.promise
  }

  get lives(): Iterable<HostedLife> {
    return this.#actors.lives
  }

  /** Releases the machine. Idempotent; never rejects. */
  close(): Promise<void> {
    if (this.#phase === 'open') this.#phase = 'closing'
    return this.#end(new RuntimeError('MACHINE_CLOSED', `Machine "${this.id}" was closed here.`))
  }

  #ring({ id, event, to }: HostTimer): void {
    this.#inbox.accept({ type: 'host.event', event, timer: id, ...(to === undefined ? {} : { to }) })
  }

  /** Starts the machine for the first time, or again if its first actions may not have been carried out. */
  #first(created: RecordOf<'host.created'>): void {
    const { kept, rules } = this.#parts
    this.#keeping = new Keeping(kept, rules.version, this.#journal, () =>
      Replica.begun(kept, created.seq, created.input),
    )
    this.#step(created, 0, () => {
      this.#live = new LiveMachine(kept, { input: created.input }, this.#actors)
      actorHosts.set(this.#live.system, this.#actors)
      this.#live.start()
    })
    this.#carriedOut()
  }

  /** Starts the machine from an earlier state. */
  #again(replica: Replica, handled: number): void {
    const { kept, rules } = this.#parts
    const state = replica.keep()
    this.#taken = handled
    this.#keeping = new Keeping(kept, rules.version, this.#journal, () => Replica.from(kept, state))
    this.#live = new LiveMachine(kept, { snapshot: state }, this.#actors)
    actorHosts.set(this.#live.system, this.#actors)
    this.#live.start()
  }

  /** Gives the machine an event of its log. `isAgain`: the event may have been given before. */
  #take(record: InputRecord, isAgain = false): void {
    if (this.snapshot.status !== 'active') return
    const print = this.#step(record, agentsIn(this.snapshot), () => {
      if (record.type === 'host.event') {
        // The step that set it is taken again as well.
        if (record.timer !== undefined && isAgain) this.#timers.clear(record.timer)
        return this.#live.give(record.event, record)
      }
      const actor = this.#effects.take(record.key)
      const { output, error } = record
      if (actor !== undefined) this.#live.end(actor, error === undefined ? { output } : { error })
    })
    this.#keeping.note(record, print)
    this.#carriedOut()
  }

  /** Runs a step, and notes the commands it owes. Returns the fingerprint of the state after the step. */
  #step({ seq, time }: { readonly seq: number; readonly time: number }, agents: number, work: () => void): string {
    const taking: Taking = { seq, time, set: [], cleared: [], owes: [] }
    this.#actors.taking = taking
    inStep({ hostId: this.id, seq, agents }, work)
    this.#actors.taking = undefined
    this.#taken = seq
    const print = printOf(this.#parts.kept.machine, this.snapshot)
    this.#steps.add(taking, print)
    return print
  }

  /** Checks and reports the state once the actions of an event have been started. */
  #carriedOut(): void {
    const { kept } = this.#parts
    const why = whyNotKept(kept.machine, this.snapshot)
    if (why !== undefined) return this.#refuse(why)
    this.#tell()
    if (this.snapshot.status !== 'active') this.#finish(this.snapshot)
    else if (this.#keeping.length >= snapshotAfter) this.#keep()
    this.#rest()
  }

  /** Writes a snapshot, if the actions of all events taken were carried out. */
  #keep(): void {
    if (!this.#steps.isEmpty || (this.#inbox.length > 0 && this.#keeping.length < snapshotAfter)) return
    try {
      this.#keeping.write(this.snapshot, this.#taken)
    } catch (thrown) {
      void this.#end(thrown as RuntimeError)
    }
  }

  /** Notifies waiters and updates the wake time, after something was begun or has ended. */
  #rest(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
    if (this.#phase !== 'open') return
    const { clock } = this.#parts.runtime
    this.#index.set(this.#wake())
    if (this.#cancelRest !== undefined || this.#keeping.length === 0) return
    this.#cancelRest = clock.after(restMs, () => {
      this.#cancelRest = undefined
      this.#keep()
      this.#rest()
    })
  }

  /** Returns the time at which to wake the machine if no process has it: its next time, or at once if it is at work. */
  #wake(): number | null {
    const { due } = this.#timers
    this.#busySince = this.isBusy ? (this.#busySince ?? this.#parts.runtime.clock.now()) : undefined
    return this.#busySince === undefined ? due : Math.min(due ?? Infinity, this.#busySince)
  }

  #tell(): void {
    if (this.#listeners.size === 0) return
    const { view } = this
    for (const listener of this.#listeners) callListener('A listener of a hosted machine', listener, view)
  }

  #finish(state: MachineState): void {
    const end = endOf(state)
    this.#journal.append({ type: 'host.done', ...end })
    void this.#end(end.error === undefined ? undefined : failed(this.id, end.error.message), end)
  }

  /** Ends the machine here, because it cannot be kept. */
  #refuse(why: string): void {
    void this.#end(refused(this.name, why))
  }

  /** Ends the machine here. Never rejects. `done`: the machine has come to its own end. */
  #end(reason: RuntimeError | undefined, done?: { readonly output: unknown }): Promise<void> {
    this.#ending ??= this.#close(reason, done)
    return this.#ending
  }

  async #close(reason: RuntimeError | undefined, done: { readonly output: unknown } | undefined): Promise<void> {
    const isClosed = this.#phase === 'closing'
    if (isClosed) {
      await this.#inbox.close()
      await this.#effects.atRest()
      this.#keep()
    }
    const due = this.#wake()
    this.#phase = 'ended'
    this.#steps.close()
    this.#cancelRest?.()
    this.#timers.close()
    this.#inbox.end(reason)
    await Promise.all([...this.#actors.lives].map((life) => life.suspend()))
    this.#live?.stop()
    this.#index.set(done === undefined ? due : null)
    await this.#index.settled()
    const failure = await this.#journal.release().then(
      () => reason,
      (thrown: unknown) => reason ?? (thrown as RuntimeError),
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
    if (this.#inbox.length >= mostWaiting)
      throw new RuntimeError('QUEUE_FULL', `${mostWaiting} events wait for machine "${this.id}".`)
  }
}
