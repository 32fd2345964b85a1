// XState marks its internal members with an underscore.
/* oxlint-disable no-underscore-dangle */
import { emptyBrakeQueues } from '../../protocol/brakes/brakeTable.ts'
import { createActor, type ActorRefFrom, type AnyActorLogic, type AnyActorRef, type SnapshotFrom } from 'xstate'
import type { agentMachine } from '../../machines/agentMachine.ts'
import type { AgentContext, AgentInput, AgentMachineEvent } from '../../machines/agentTypes.ts'
import { currentRunOf } from '../../machines/draft.ts'
import type { TurnPlace } from '../../actors/agentPorts.ts'
import type { ErrorInfo } from '../../protocol/errors.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'
import type { UnderActor } from '../children/spawnOptions.ts'
import { Inspections, type InspectionListener } from './inspections.ts'
import type { Unloaded } from './unloaded.ts'

export type AgentActor = ActorRefFrom<typeof agentMachine>

/** The agent whose chart it is. */
interface MachineOwner {
  readonly agentId: string
  /** The application's actor that its own is a child of. */
  readonly under: UnderActor | undefined
  readonly shared: { readonly machine: typeof agentMachine; readonly createActor: Interpreter['createActor'] }
  /** Called once its actor exists. */
  attached(): void
  /** Called when the chart has taken a step. */
  stepped(context: AgentContext): void
  /** Called when that step led to another state. */
  moved(at: TurnPlace, state: string, previous: string): void
  /** Called when a transition threw and the chart is dead. Returns the reason to report. */
  crashed(thrown: unknown): ErrorInfo
  /** Called when it has ended. */
  ended(crash: ErrorInfo | null): void
}

const nobody: readonly never[] = Object.freeze([])

/** Fields of the context of an unloaded agent that others read, with the values that they have at rest. Fields whose values are kept are not here. */
const atRest: Partial<AgentContext> = {
  pause: null,
  run: null,
  pausedRun: null,
  resuming: null,
  ending: null,
  calls: nobody,
  attached: nobody,
  background: nobody,
  prompts: nobody,
  steering: nobody,
  followUps: nobody,
  ...emptyBrakeQueues,
  compactRequests: nobody,
  policyRequests: nobody,
}

/** The fields that are kept; those of a run only while it sleeps. */
type Resting = Pick<AgentContext, 'frame' | 'failedRun' | 'reporters' | 'runs' | 'turns' | 'parts'> &
  Partial<Pick<AgentContext, 'run' | 'pause' | 'calls'>>

/** The actor that runs an agent's chart, seen from outside: its state, its mailbox, its end; or what is left of it while the agent is unloaded. */
export class Machine {
  readonly #owner: MachineOwner
  /** Set while the agent is loaded. */
  input!: AgentInput
  #actor: AgentActor | undefined
  /** Set while the agent is unloaded: who then takes its commands, and what is kept of the context. */
  unloaded: Unloaded | undefined
  #last: Resting | undefined
  #state = 'idle'
  #unseen = 0
  /** True in the middle of a step, as inside a listener: events that come now are taken after it. */
  isStepping = false
  /** Why it failed. */
  #crash: ErrorInfo | null = null
  #inspections: Inspections | undefined
  /** Called when no more events can come. */
  #onEnd: readonly ((crash: ErrorInfo | null) => void)[] = nobody
  #ending: Promise<void> | undefined
  /** Why its actor was ended without a record; `undefined`: it was not. */
  wasLetGo: ErrorInfo | undefined

  constructor(owner: MachineOwner) {
    this.#owner = owner
  }

  /** Starts a root agent, with the commands waiting for it; it must already be registered by id. `wake`: begins the waiting work of a restored one. */
  start(commands: readonly AgentMachineEvent[], wake: () => void): void {
    const { agentId, under, shared } = this.#owner
    const { input } = this
    const actor =
      under === undefined
        ? shared.createActor(shared.machine, { id: agentId, systemId: agentId, input })
        : createActorUnder(under, shared.machine, { id: agentId, input })
    this.attach(actor as AgentActor)
    // They are in its mailbox before it starts, so that what listeners ask for meanwhile comes after them.
    wake()
    for (const command of commands) this.send(command)
    actor.start()
  }

  /** The chart's `attach`: the actor that runs it, a sub-agent's made by its supervisor. Idempotent. */
  attach(actor: AgentActor): void {
    if (this.#actor === actor) return
    this.#actor = actor
    this.unloaded = undefined
    this.#last = undefined
    // It is the observer itself: closures for ten thousand agents add up.
    actor.subscribe(this)
    this.#inspections?.begin(actor)
    this.#owner.attached()
  }

  /** Ends the actor without a record; `unloaded` takes commands until the agent is loaded again. */
  unload(unloaded: Unloaded): void {
    const actor = this.#actor!
    const { frame, failedRun, reporters, runs, turns, parts, run, pause, calls } = actor.getSnapshot().context
    this.#last = { frame, failedRun, reporters, runs, turns, parts, ...(run === null ? {} : { run, pause, calls }) }
    this.#actor = undefined
    this.unloaded = unloaded
    this.input = undefined!
    stopActor(actor)
  }

  /** Ends the actor without a record, so that the agent can continue from its log elsewhere. */
  drop(): void {
    stopActor(this.#actor!)
  }

  /** Drops the actor even in the middle of its work; requests made here end with `why`. */
  letGo(why: ErrorInfo): void {
    this.#ending ??= Promise.resolve()
    this.wasLetGo = why
    this.drop()
  }

  /** Sends the chart a command. */
  send(event: AgentMachineEvent): void {
    if (this.unloaded !== undefined) return this.unloaded.send(event)
    this.#unseen += 1
    this.#actor!.send(event)
  }

  /** Sends the chart an event that is not a command. */
  tell(event: AgentMachineEvent): void {
    this.#actor?.send(event)
  }

  /** Commands sent that the context does not show yet: from inside a listener the chart is in the middle of a step. */
  get unseen(): number {
    return this.unloaded?.unseen ?? this.#unseen
  }

  inspect(listener: InspectionListener): () => void {
    if (this.#inspections === undefined) {
      this.#inspections = new Inspections()
      if (this.#actor !== undefined) this.#inspections.begin(this.#actor)
    }
    return this.#inspections.add(listener)
  }

  /** The actor that runs the chart; `undefined` while the agent is unloaded. */
  get ref(): AgentActor | undefined {
    return this.#actor
  }

  get #snapshot(): SnapshotFrom<typeof agentMachine> {
    return this.#actor!.getSnapshot()
  }

  /** Name of the chart's active state. */
  get state(): string {
    if (this.unloaded !== undefined) return this.unloaded.isOver ? 'stopped' : this.isAsleep ? 'paused' : 'idle'
    return nameOf(this.#snapshot.value)
  }

  get context(): AgentContext {
    if (this.unloaded === undefined) return this.#snapshot.context
    const { agentId } = this.#owner
    // What was asked since goes first.
    const failedRun = this.unloaded.unseen === 0 ? this.#last!.failedRun : null
    return { ...atRest, ...this.#last!, agentId, failedRun } as AgentContext
  }

  /** The current run; `undefined`: it has not begun. */
  get run(): AgentContext['run'] | undefined {
    return this.#actor === undefined ? this.#last?.run : this.#snapshot.context.run
  }

  /** True if its run waits for a time, and for nothing else. */
  get isAsleep(): boolean {
    const pause = this.#actor === undefined ? this.#last?.pause : this.#snapshot.context.pause
    return pause?.type === 'timer'
  }

  /** The run and turn that a live event belongs to. */
  get at(): TurnPlace {
    return placeIn(this.context)
  }

  /** True if anyone waits for the end, or inspects the agent. */
  get isAttended(): boolean {
    return this.#onEnd.length > 0 || this.#inspections?.isEmpty === false
  }

  /** The context for a command; `undefined`: the agent takes none any more. */
  get open(): AgentContext | undefined {
    if (this.unloaded !== undefined) return this.unloaded.isStopped ? undefined : this.context
    const { status, context } = this.#snapshot
    return this.#ending === undefined && status === 'active' ? context : undefined
  }

  /** Stopped, or asked to. */
  get isStopped(): boolean {
    return this.unloaded?.isStopped ?? (this.#ending !== undefined || this.#snapshot.status !== 'active')
  }

  get isEndedOnPurpose(): boolean {
    return this.#ending !== undefined
  }

  /** Resolves when it has ended, with the reason if its chart failed. */
  get ended(): Promise<ErrorInfo | null> {
    return new Promise((resolve) => {
      if (this.#actor !== undefined && this.#snapshot.status !== 'active') resolve(this.#crash)
      else this.onEnd(resolve)
    })
  }

  /** Settles the current work and ends the chart, for good or to be resumed from the log. Idempotent; the first call decides. */
  end(how: 'stop' | 'close'): Promise<void> {
    if (this.unloaded !== undefined) return this.unloaded.end(how)
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

  /** Tells those who wait for the end. */
  over(crash: ErrorInfo | null): void {
    for (const close of this.#onEnd) close(crash)
    this.#onEnd = nobody
  }

  /** Observes the actor: it has taken a step. */
  next({ value, context } = this.#snapshot): void {
    // Runs once for each event taken; others may still be in the mailbox.
    this.#unseen = Math.max(0, this.#unseen - 1)
    this.isStepping = true
    this.#owner.stepped(context)
    const previous = this.#state
    const state = nameOf(value)
    if (state !== previous) {
      this.#state = state
      this.#owner.moved(placeIn(context), state, previous)
    }
    this.isStepping = false
  }

  /** Observes the actor: it has stopped. */
  complete(): void {
    if (this.unloaded !== undefined) return
    this.next()
    this.#hasEnded(this.wasLetGo ?? null)
  }

  /** Observes the actor: a transition threw. It is dead, and its children, which it left running, are stopped here. */
  error(thrown: unknown): void {
    const { children } = this.#snapshot
    for (const child of Object.values(children)) child?.send({ type: 'xstate.stop' })
    this.#hasEnded(this.#owner.crashed(thrown))
  }

  #hasEnded(crash: ErrorInfo | null): void {
    this.#crash = crash
    this.#owner.ended(crash)
    this.over(crash)
  }
}

const placeIn = (context: AgentContext): TurnPlace => ({
  runId: currentRunOf(context),
  turnIndex: Math.max(0, context.turns - 1),
})

/** `replying.streaming` for the nested value of a snapshot. */
function nameOf(value: unknown): string {
  if (typeof value === 'string') return value
  const [state] = Object.keys(value as object)
  return `${state}.${nameOf((value as Readonly<Record<string, unknown>>)[state!])}`
}

/**
 * A child of the application's actor, in its system: run by XState's own actors, because systems of other copies know no others. It has
 * no system id, which could be taken there. Its messages to its parent go nowhere: XState would warn when the parent has stopped before
 * the agent has settled, and a parent that was started again would take the end of the earlier agent for its own.
 */
function createActorUnder(
  under: UnderActor,
  logic: AnyActorLogic,
  options: { readonly id: string; readonly input: unknown },
): AnyActorRef {
  const parent = Object.create(under, { _send: { value: () => {} } }) as AnyActorRef
  return createActor(logic, { ...options, parent })
}

/** Stops an actor that has a parent, which `stop` refuses. */
const stopActor = (actor: object): void => {
  ;(actor as { _stop(): void })._stop()
}
