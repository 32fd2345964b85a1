// XState marks its internal members with an underscore.
/* oxlint-disable no-underscore-dangle */
import type { AnyActorLogic, AnyActorRef, AnyActorScope, AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import type { Change, ChildCommand } from '../../machines/change.ts'
import { createActor } from './createActor.ts'
import type { ChartEvent, Operation } from './operation.ts'
import type { Configuration, Plan } from './plan.ts'

/** Internal members of XState's actors and their system. */
type Inner = AnyActorRef & { readonly _processingStatus: 0 | 1 | 2 }
type InnerSystem = { _unregister(actor: AnyActorRef): void }
const running = 1
const stopped = 2

const none: readonly never[] = Object.freeze([])

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
    return plans.find(({ guard }) => guard === undefined || guard(subject))
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

  /** The state afterwards; the same object as before if nothing has changed. */
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
    for (const record of records) this.#act('record', event, record)
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
    delete this.#ownChildren()[id]
    this.#end(child as Inner)
  }

  /** The children, copied at most once per step. */
  #ownChildren(): Record<string, AnyActorRef> {
    if (this.children !== this.#before.children) return this.children
    const children: Record<string, AnyActorRef> = {}
    for (const id in this.children) children[id] = this.children[id]!
    return (this.children = children)
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

/** Not deferred, so that another actor can take over the system id; its own children first. */
function unregister(scope: AnyActorScope, actor: AnyActorRef): void {
  const { children = {} } = actor.getSnapshot() as { readonly children?: Step['children'] }
  for (const child of Object.values(children)) unregister(scope, child)
  ;(scope.system as unknown as InnerSystem)._unregister(actor)
}
