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

/** The agent that the chart belongs to. */
interface MachineOwner {
  readonly agentId: string
  /** The application's actor that is the parent of the agent's actor. */
  readonly under: UnderActor | undefined
  readonly shared: { readonly machine: typeof agentMachine; readonly createActor: Interpreter['createActor'] }
  /** Handles the creation of the agent's actor. */
  attached(): void
  /** Handles a step of the chart. */
  stepped(context: AgentContext): void
  /** Handles a step that led to another state. */
  moved(at: TurnPlace, state: string, previous: string): void
  /** Handles a transition that threw, after which the chart is dead. Returns the reason to report. */
  crashed(thrown: unknown): ErrorInfo
  /** Handles the end of the agent. */
  ended(crash: ErrorInfo | null): void
}

const nobody: readonly never[] = Object.freeze([])

/** Fields in the context of an unloaded agent that others read, with their values at rest. Fields whose values are kept are not here. */
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

/** The fields that are kept; fields of a run only while it sleeps. */
type Resting = Pick<AgentContext, 'frame' | 'failedRun' | 'reporters' | 'runs' | 'turns' | 'parts'> &
  Partial<Pick<AgentContext, 'run' | 'pause' | 'calls'>>

/** The actor that runs an agent's chart, seen from outside: its state, mailbox and end. In part while the agent is unloaded. */
export class Machine {
  readonly #owner: MachineOwner
  /** Set while the agent is loaded. */
  input!: AgentInput
  #actor: AgentActor | undefined
  /** Set while the agent is unloaded: takes its commands meanwhile. */
  unloaded: Unloaded | undefined
  #last: Resting | undefined
  #state = 'idle'
  #unseen = 0
  /** True in the middle of a step, for example inside a listener. Events that come now are taken after the step. */
  isStepping = false
  /** Error with which the chart failed. */
  #crash: ErrorInfo | null = null
  #inspections: Inspections | undefined
  /** Functions to call when no more events can come. */
  #onEnd: readonly ((crash: ErrorInfo | null) => void)[] = nobody
  #ending: Promise<void> | undefined
  /** Reason for which the actor was ended without a record; `undefined` if it was not. */
  wasLetGo: ErrorInfo | undefined

  constructor(owner: MachineOwner) {
    this.#owner = owner
  }

  /** Starts a root agent, already registered by id, with its waiting commands. `wake`: begins the waiting work of a restored agent. */
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

  /** Handles the chart's `attach`: notes the actor that runs it, which for a sub-agent its supervisor made. Idempotent. */
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

  /** Number of commands sent that the context does not show yet. Inside a listener the chart is in the middle of a step. */
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

  /** The current run; `null` or `undefined` if there is none. */
  get run(): AgentContext['run'] | undefined {
    return this.#actor === undefined ? this.#last?.run : this.#snapshot.context.run
  }

  /** True if the run waits for a time, and for nothing else. */
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

  /** The context for a command; `undefined` if the agent takes none any more. */
  get open(): AgentContext | undefined {
    if (this.unloaded !== undefined) return this.unloaded.isStopped ? undefined : this.context
    const { status, context } = this.#snapshot
    return this.#ending === undefined && status === 'active' ? context : undefined
  }

  /** True if the agent has stopped, or was asked to. */
  get isStopped(): boolean {
    return this.unloaded?.isStopped ?? (this.#ending !== undefined || this.#snapshot.status !== 'active')
  }

  get isEndedOnPurpose(): boolean {
    return this.#ending !== undefined
  }

  /** Resolves when the agent has ended, with the reason if its chart failed. */
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

  /** Calls `close` when no more events can come. Returns a function that unsubscribes it. */
  onEnd(close: (crash: ErrorInfo | null) => void): () => void {
    this.#onEnd = [...this.#onEnd, close]
    return () => {
      this.#onEnd = this.#onEnd.filter((other) => other !== close)
    }
  }

  /** Notifies those who wait for the end. */
  over(crash: ErrorInfo | null): void {
    for (const close of this.#onEnd) close(crash)
    this.#onEnd = nobody
  }

  /** Handles a step of the actor, as its observer. */
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

  /** Handles the stop of the actor, as its observer. */
  complete(): void {
    if (this.unloaded !== undefined) return
    this.next()
    this.#hasEnded(this.wasLetGo ?? null)
  }

  /** Handles a transition that threw, as the actor's observer. The actor is dead; its children, which it left running, are stopped here. */
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

/** Returns the name of a state for the nested value of a snapshot, such as `replying.streaming`. */
function nameOf(value: unknown): string {
  if (typeof value === 'string') return value
  const [state] = Object.keys(value as object)
  return `${state}.${nameOf((value as Readonly<Record<string, unknown>>)[state!])}`
}

/**
 * Creates a child of the application's actor, in its system. XState's own actors run it, because systems of other copies know no
 * others. It has no system id, which could be taken there. Its messages to its parent go nowhere: XState would warn when the
 * parent has stopped before the agent has settled, and a restarted parent would take the end of the earlier agent for its own.
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
