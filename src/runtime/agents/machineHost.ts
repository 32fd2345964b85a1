import type { ActorRefFrom, SnapshotFrom } from 'xstate'
import type { agentMachine } from '../../machines/agentMachine.ts'
import type { AgentContext, AgentInput, AgentMachineEvent } from '../../machines/agentTypes.ts'
import type { ErrorInfo } from '../../protocol/errors.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'
import { Inspections, type InspectionListener } from './inspections.ts'

type AgentActor = ActorRefFrom<typeof agentMachine>

const nobody: readonly never[] = Object.freeze([])

/** The actor that runs an agent's chart, seen from outside: its state, its mailbox, its end. */
export abstract class MachineHost {
  abstract readonly agentId: string
  /** What the machine begins with. */
  abstract readonly input: AgentInput
  #actor: AgentActor | undefined
  #state = 'idle'
  #unseen = 0
  /** Why the machine failed. */
  #crash: ErrorInfo | null = null
  #inspections: Inspections | undefined
  /** Told when no more events can come. */
  #onEnd: readonly ((crash: ErrorInfo | null) => void)[] = nobody
  #ending: Promise<void> | undefined

  protected abstract readonly shared: {
    readonly machine: typeof agentMachine
    readonly createActor: Interpreter['createActor']
  }

  /** The machine has taken a step. */
  protected abstract stepped(): void
  /** That step led to another state. */
  protected abstract stateChanged(state: string, previous: string): void
  /** A transition threw: the machine is dead. Returns why, for others to hear. */
  protected abstract failed(thrown: unknown): ErrorInfo
  /** No more comes of it. */
  protected abstract hasEnded(crash: ErrorInfo | null): void

  /** Begins the life of a root agent, with commands that wait for it; the host must be findable by id before. */
  start(commands: readonly AgentMachineEvent[] = nobody): void {
    const { agentId, input } = this
    const { createActor, machine } = this.shared
    const actor = createActor(machine, { id: agentId, systemId: agentId, input })
    this.attach(actor as AgentActor)
    // They lie in its mailbox before it starts: what listeners ask for meanwhile comes after them.
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

  /** Begins what waits in a restored agent. */
  wake(): void {
    if (this.input.restored !== undefined) this.#actor!.send({ type: 'wake' })
  }

  /** Ends the actor without a word in the log, so that the agent can go on from there. Only for a quiet agent. */
  unload(): void {
    this.#actor!.stop()
  }

  /** Gives the machine a command. */
  send(event: AgentMachineEvent): void {
    this.#unseen += 1
    this.#actor!.send(event)
  }

  /** Commands sent that the context does not show yet: from inside a listener the machine is in the middle of a step. */
  get unseen(): number {
    return this.#unseen
  }

  /** Tells the machine of something that nobody commanded. */
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

  /** Somebody waits for the end, or inspects it. */
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

  /** Resolves when no more comes of it; with the reason when its machine failed. */
  get ended(): Promise<ErrorInfo | null> {
    return new Promise((resolve) => {
      if (this.#actor !== undefined && this.#snapshot.status !== 'active') resolve(this.#crash)
      else this.onEnd(resolve)
    })
  }

  /** Settles what runs and ends the machine, for good or to be resumed from the log. Idempotent; the first call decides. */
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
    // Each event that is taken comes by here once; others may still lie in the mailbox.
    this.#unseen = Math.max(0, this.#unseen - 1)
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
    this.#over(null)
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
