// XState marks its internal members with an underscore.
/* oxlint-disable no-underscore-dangle */
import {
  type AnyActorLogic,
  type AnyActorRef,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor as createXStateActor,
  StateMachine,
} from 'xstate'
import type { Change, ChildCommand } from '../../machines/change.ts'
import { type ChartEvent, type Operation, type Configuration, type Plan, planChart } from './plan.ts'
import type { EffectLogic } from '../../actors/effect.ts'
import { type ActorOptions, type ActorRef, ActorSystem } from './actorRef.ts'
import { EffectActor, MachineActor } from './actors.ts'

/** Internal members of XState's actors and their system. */
type Inner = AnyActorRef & { readonly _processingStatus: 0 | 1 | 2 }
type InnerSystem = { _unregister(actor: AnyActorRef): void }
const running = 1
const stopped = 2

const none: readonly never[] = Object.freeze([])
const isStop = (child: ChildCommand): child is Extract<ChildCommand, { type: 'stop' }> => child.type === 'stop'
const noChildren = Object.freeze({})

/** The processing of one event, with the changes so far. Effects run or are deferred exactly as in XState. */
export class Step {
  context: object
  configuration: Configuration
  children: Record<string, AnyActorRef>
  status: 'active' | 'done' = 'active'
  readonly #machine: AnyStateMachine
  readonly #scope: AnyActorScope
  readonly #before: AnyMachineSnapshot
  #output: unknown

  constructor(
    machine: AnyStateMachine,
    scope: AnyActorScope,
    before: AnyMachineSnapshot,
    configuration: Configuration,
  ) {
    this.#machine = machine
    this.#scope = scope
    this.#before = before
    this.context = before.context
    this.children = before.children
    this.configuration = configuration
  }

  /** Returns the first plan whose guard passes. */
  choose(plans: readonly Plan[], event: ChartEvent): Plan | undefined {
    if (plans.length === 0) return undefined
    const subject = { context: this.context, event }
    for (const plan of plans) if (plan.guard === undefined || plan.guard(subject)) return plan
    return undefined
  }

  /** Takes the planned transition, if any, then all eventless ones. Throws if those never settle. */
  settle(plan: Plan | undefined, event: ChartEvent): void {
    const { maxIterations = Infinity } = this.#machine.options ?? {}
    if (plan !== undefined) this.#follow(plan, event)
    for (let round = 1; this.status === 'active'; round++) {
      if (round > maxIterations) throw new Error(`${this.#machine.id} goes round in circles on ${event.type}.`)
      const next = this.choose(this.configuration.always, event)
      if (next === undefined) return
      this.#follow(next, event)
    }
    // As in XState, they stay in the snapshot.
    for (const child of Object.values(this.children)) this.#end(child as Inner)
  }

  /** The resulting state; the same object as before if nothing has changed. */
  get snapshot(): AnyMachineSnapshot {
    const { context, children, status } = this
    const { nodes, value, tags } = this.configuration
    const before = this.#before
    if (context === before.context && children === before.children && nodes === before._nodes) return before
    const output = this.#output ?? before.output
    return { ...before, status, output, context, children, _nodes: nodes, value, tags } as AnyMachineSnapshot
  }

  #follow({ operations, next, final }: Plan, event: ChartEvent): void {
    for (const operation of operations) this.#run(operation, event)
    this.configuration = next
    if (final === undefined) return
    const { output, id } = this.#machine.root
    this.#output = this.#mapped(output, { type: `xstate.done.state.${id}` })
    this.status = 'done'
    for (const operation of final) this.#run(operation, event)
  }

  #run(operation: Operation, event: ChartEvent): void {
    switch (operation.type) {
      case 'change':
        return this.#change(operation.change(this.context, event), event)
      case 'act':
        return this.#act(operation.name, event, operation.params)
      case 'start':
        return this.#start({ ...operation, input: this.#mapped(operation.input, event) })
      case 'stop':
        return this.#stop(operation.id)
    }
  }

  #mapped(mapper: unknown, event: ChartEvent): unknown {
    return typeof mapper === 'function' ? mapper({ context: this.context, event, self: this.#scope.self }) : mapper
  }

  #change({ context, records = none, children = none }: Change, event: ChartEvent): void {
    this.context = context
    if (records.length > 0) this.#act('record', event, records)
    if (children.length > 1 && children.every(isStop)) return this.#stopAll(children)
    for (const child of children) {
      if (child.type === 'stop') this.#stop(child.id)
      else if (child.type === 'tell') this.#tell(child.id, child.event)
      else this.#start(child)
    }
  }

  /** Runs an action provided by the runtime, or defers it until the actor has started. */
  #act(type: string, event: ChartEvent, params: unknown): void {
    const exec = this.#machine.implementations.actions[type]
    const { self, system } = this.#scope
    const info = { context: this.context, event, self, system }
    if ((self as Inner)._processingStatus === running) exec?.(info, params)
    else this.#scope.actionExecutor({ type, info, params, exec })
  }

  #start({ src, id, input, systemId }: Omit<Extract<ChildCommand, { type: 'start' }>, 'type'>): void {
    const { self, system } = this.#scope
    const isListed = systemId !== undefined && system.get(systemId) === undefined
    const options = isListed ? { id, src, parent: self, input, systemId } : { id, src, parent: self, input }
    const child = createActor(this.#machine.implementations.actors[src] as AnyActorLogic, options)
    this.#ownChildren()[id] = child
    this.#scope.defer(() => {
      if ((child as unknown as Inner)._processingStatus !== stopped) child.start()
    })
  }

  #stop(id: string): void {
    const child = this.children[id]
    if (child === undefined) return
    // A copy without it: an object from which something is deleted is slow from then on.
    const { [id]: _, ...others } = this.children
    this.children = others
    this.#end(child as Inner)
  }

  /** Stops several children at once, copying the children only once: the calls of a large reply end together. */
  #stopAll(stops: readonly { readonly id: string }[]): void {
    const ended = new Set(stops.map(({ id }) => id))
    const before = this.children
    this.children = Object.fromEntries(Object.entries(before).filter(([id]) => !ended.has(id)))
    for (const id of ended) if (before[id] !== undefined) this.#end(before[id] as Inner)
  }

  /** The children, copied at most once per step. */
  #ownChildren(): Record<string, AnyActorRef> {
    if (this.children === this.#before.children) this.children = { ...this.children }
    return this.children
  }

  #end(child: Inner): void {
    const scope = this.#scope
    unregister(scope, child)
    if (child._processingStatus === running) scope.defer(() => scope.stopChild(child))
    else scope.stopChild(child)
  }

  #tell(id: string, event: { readonly type: string }): void {
    const child = this.children[id]
    if (child === undefined) throw new Error(`${this.#machine.id} has no child "${id}" to tell ${event.type}.`)
    this.#scope.defer(() => child.send(event))
  }
}

/** Frees the system ids of an actor and, first, of its children. Not deferred, so that another actor can take over the id. */
function unregister(scope: AnyActorScope, actor: AnyActorRef): void {
  const { children = {} } = actor.getSnapshot() as { readonly children?: Step['children'] }
  for (const child of Object.values(children)) unregister(scope, child)
  ;(scope.system as unknown as InnerSystem)._unregister(actor)
}

const isEffect = (logic: object): logic is EffectLogic => 'run' in logic

/** Creates an actor as XState's `createActor` does, but machines and effects get this folder's lighter actors. */
export function createActor(
  logic: AnyActorLogic,
  options: Omit<ActorOptions, 'parent'> & { readonly parent?: AnyActorRef },
): AnyActorRef {
  const own = options as unknown as ActorOptions
  if (isEffect(logic)) return refOf(new EffectActor(logic, own))
  if (logic instanceof StateMachine) return refOf(new MachineActor(logic, own))
  return createXStateActor(logic, options)
}

const refOf = (actor: ActorRef): AnyActorRef => actor as unknown as AnyActorRef

/**
 * Precomputes a machine's transitions, so that each runs the same effects in the same order as in XState at about half the cost.
 * Modifies and returns the machine; the chart, its actors and its snapshots remain XState's. XState's own interpreter still handles
 * charts with parallel states, history or delays, systems under inspection, and the events that start and stop an actor.
 */
export function plannedMachine<Machine extends AnyStateMachine>(machine: Machine): Machine {
  const plans = planChart(machine)
  if (plans === undefined) return machine
  const { transition, getInitialSnapshot } = machine
  let blank: AnyMachineSnapshot | undefined

  machine.transition = (before, event, scope) => {
    const { type } = event
    const isEnd = type === 'xstate.stop' || type === 'xstate.init'
    if (isEnd || isWatched(scope)) return transition(before, event, plain(scope))
    const configuration = plans.at(before._nodes.find(({ type: kind }) => kind !== 'compound')!)
    const step = new Step(machine, scope, before, configuration)
    const plan = step.choose(configuration.on(type), event)
    // An unhandled actor error ends the machine, which XState's own transition does.
    if (plan === undefined && type.startsWith('xstate.error.actor')) return transition(before, event, plain(scope))
    step.settle(plan, event)
    return step.snapshot
  }

  machine.getInitialSnapshot = (scope, input) => {
    if (isWatched(scope)) return getInitialSnapshot(plain(scope), input)
    // Let XState build it, so that it has the fields every snapshot has.
    blank ??= machine.resolveState({ value: machine.root.initial.target[0]!.key, context: {} })
    try {
      const context: unknown = machine.config.context({ input, self: scope.self })
      const step = new Step(
        machine,
        scope,
        { ...blank, context, children: noChildren } as AnyMachineSnapshot,
        plans.initial.next,
      )
      step.settle(plans.initial, { type: 'xstate.init', input })
      return step.snapshot
    } catch (error) {
      return { ...blank, status: 'error', error } as AnyMachineSnapshot
    }
  }
  return machine
}

const plain = (scope: AnyActorScope): AnyActorScope =>
  (scope as unknown) instanceof MachineActor ? (scope as unknown as MachineActor).plainScope : scope

/** True if a system is, or may be, inspected: XState's own systems do not reveal it. */
const isWatched = ({ system }: AnyActorScope): boolean =>
  !((system as unknown) instanceof ActorSystem) || (system as unknown as ActorSystem).isInspected
