import type { ActorRefFrom, SnapshotFrom } from 'xstate'
import type { agentMachine } from '../../machines/agentMachine.ts'
import type { AgentContext, AgentInput, AgentMachineEvent } from '../../machines/agentTypes.ts'
import type { ErrorInfo } from '../../protocol/errors.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'
import { Inspections, type InspectionListener } from './inspections.ts'
import type { UnderActor } from '../children/spawnOptions.ts'
import { createActorUnder, stopActor } from './underActor.ts'

export type AgentActor = ActorRefFrom<typeof agentMachine>

const nobody: readonly never[] = Object.freeze([])

/** The actor that runs an agent's chart, seen from outside: its state, its mailbox, its end. */
export abstract class MachineHost {
  abstract readonly agentId: string
  /** The machine's input. */
  abstract readonly input: AgentInput
  /** The application's actor that its own is a child of. */
  abstract readonly under: UnderActor | undefined
  #actor: AgentActor | undefined
  #state = 'idle'
  #unseen = 0
  /** Why the machine failed. */
  #crash: ErrorInfo | null = null
  #inspections: Inspections | undefined
  /** Called when no more events can come. */
  #onEnd: readonly ((crash: ErrorInfo | null) => void)[] = nobody
  #ending: Promise<void> | undefined
  #letGo: ErrorInfo | undefined

  protected abstract readonly shared: {
    readonly machine: typeof agentMachine
    readonly createActor: Interpreter['createActor']
  }

  /** Called when something may have changed. */
  abstract changed(): void
  /** Called when the machine has taken a step. */
  protected abstract stepped(): void
  /** Called when that step led to another state. */
  protected abstract stateChanged(state: string, previous: string): void
  /** Called when a transition threw and the machine is dead. Returns the reason to report. */
  protected abstract failed(thrown: unknown): ErrorInfo
  /** Called when it has ended. */
  protected abstract hasEnded(crash: ErrorInfo | null): void

  /** Starts a root agent, with the commands waiting for it; the host must already be registered by id. */
  start(commands: readonly AgentMachineEvent[] = nobody): void {
    const { agentId, input, under } = this
    const { createActor, machine } = this.shared
    const actor =
      under === undefined
        ? createActor(machine, { id: agentId, systemId: agentId, input })
        : createActorUnder(under, machine, { id: agentId, input })
    this.attach(actor as AgentActor)
    // They are in its mailbox before it starts, so that what listeners ask for meanwhile comes after them.
    this.wake()
    for (const command of commands) this.send(command)
    actor.start()
  }

  /** The machine's `attach`: the actor that runs the chart, a sub-agent's made by its supervisor. Idempotent. */
  attach(actor: AgentActor): void {
    if (this.#actor === actor) return
    this.#actor = actor
    // The host itself is the observer: closures for ten thousand agents add up.
    actor.subscribe(this)
    this.#inspections?.begin(actor)
  }

  /** Starts the waiting work of a restored agent. */
  wake(): void {
    if (this.input.restored !== undefined) this.#actor!.send({ type: 'wake' })
  }

  /** Ends the actor without a record, so that the agent can continue from its log. */
  unload(): void {
    stopActor(this.#actor!)
  }

  /** Unloads the agent as `unload` does, even in the middle of its work; requests made here end with `why`. */
  letGo(why: ErrorInfo): void {
    this.#ending ??= Promise.resolve()
    this.#letGo = why
    this.unload()
  }

  /** Why its actor was ended without a record; `undefined`: it was not. */
  get wasLetGo(): ErrorInfo | undefined {
    return this.#letGo
  }

  /** Sends the machine a command. */
  send(event: AgentMachineEvent): void {
    this.#unseen += 1
    this.#actor!.send(event)
  }

  /** Commands sent that the context does not show yet: from inside a listener the machine is in the middle of a step. */
  get unseen(): number {
    return this.#unseen
  }

  /** Sends the machine an event that is not a command. */
  protected tell(event: AgentMachineEvent): void {
    this.#actor!.send(event)
  }

  inspect(listener: InspectionListener): () => void {
    if (this.#inspections === undefined) {
      this.#inspections = new Inspections()
      if (this.#actor !== undefined) this.#inspections.begin(this.#actor)
    }
    return this.#inspections.add(listener)
  }

  /** The actor that runs the chart. */
  get ref(): AgentActor {
    return this.#actor!
  }

  get #snapshot(): SnapshotFrom<typeof agentMachine> {
    return this.#actor!.getSnapshot()
  }

  /** Name of the chart's active state. */
  get state(): string {
    return nameOf(this.#snapshot.value)
  }

  get context(): AgentContext {
    return this.#snapshot.context
  }

  /** `undefined`: it has not begun. */
  protected get knownContext(): AgentContext | undefined {
    return this.#actor?.getSnapshot().context
  }

  /** True if anyone waits for the end, or inspects the agent. */
  get isAttended(): boolean {
    return this.#onEnd.length > 0 || this.#inspections?.isEmpty === false
  }

  /** Stopped, or asked to. */
  get isStopped(): boolean {
    return this.#ending !== undefined || this.#snapshot.status !== 'active'
  }

  get isEndedOnPurpose(): boolean {
    return this.#ending !== undefined
  }

  /** Resolves when it has ended, with the reason if its machine failed. */
  get ended(): Promise<ErrorInfo | null> {
    return new Promise((resolve) => {
      if (this.#actor !== undefined && this.#snapshot.status !== 'active') resolve(this.#crash)
      else this.onEnd(resolve)
    })
  }

  /** Settles the current work and ends the machine, for good or to be resumed from the log. Idempotent; the first call decides. */
  end(how: 'stop' | 'close'): Promise<void> {
    this.#ending ??= this.#end(how)
    return this.#ending
  }

  async #end(how: 'stop' | 'close'): Promise<void> {
    if (this.#snapshot.status !== 'active') return
    const { ended } = this
    this.#actor!.send({ type: how })
    await ended
  }

  /** Calls `close` when no more events can come; returns a function that forgets it. */
  onEnd(close: (crash: ErrorInfo | null) => void): () => void {
    this.#onEnd = [...this.#onEnd, close]
    return () => {
      this.#onEnd = this.#onEnd.filter((other) => other !== close)
    }
  }

  /** Observes the actor: it has taken a step. */
  next(): void {
    // Runs once for each event taken; others may still be in the mailbox.
    this.#unseen = Math.max(0, this.#unseen - 1)
    this.changed()
    this.stepped()
    const previous = this.#state
    const state = this.state
    if (state === previous) return
    this.#state = state
    this.stateChanged(state, previous)
  }

  /** Observes the actor: it has stopped. */
  complete(): void {
    this.next()
    this.#over(this.#letGo ?? null)
  }

  /** Observes the actor: a transition threw. It is dead, and its children, which it left running, are stopped here. */
  error(thrown: unknown): void {
    const { children } = this.#snapshot
    for (const child of Object.values(children)) child?.send({ type: 'xstate.stop' })
    this.#over(this.failed(thrown))
  }

  #over(crash: ErrorInfo | null): void {
    this.#crash = crash
    this.hasEnded(crash)
    for (const close of this.#onEnd) close(crash)
    this.#onEnd = nobody
  }
}

/** `replying.streaming` for the nested value of a snapshot. */
function nameOf(value: unknown): string {
  if (typeof value === 'string') return value
  const [state] = Object.keys(value as object)
  return `${state}.${nameOf((value as Readonly<Record<string, unknown>>)[state!])}`
}
