// XState names the parts that are not public so.
/* oxlint-disable no-underscore-dangle */
import {
  type AnyActorLogic,
  type AnyActorRef,
  type AnyActorScope,
  type AnyMachineSnapshot,
  type AnyStateMachine,
} from 'xstate'
import type { AgentContext } from '../../machines/agentTypes.ts'
import { fillDraft } from '../../machines/draft.ts'
import { createActor } from './createActor.ts'
import { type ChartEvent, enqueueInto, type Operation } from './operation.ts'
import type { Configuration, Plan } from './plan.ts'

/** What XState keeps to itself of an actor and its system. */
type Inner = AnyActorRef & { readonly _processingStatus: 0 | 1 | 2 }
type InnerSystem = { _unregister(actor: AnyActorRef): void }
const running = 1
const stopped = 2

type OperationOf<T extends Operation['type']> = Extract<Operation, { type: T }>

/** One event on its way through a chart: what it has changed so far. Effects run, or wait, as under XState. */
export class Step {
  context: object
  configuration: Configuration
  children: Readonly<Record<string, AnyActorRef>>
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

  /** The first of the plans whose guard lets it pass. */
  choose(plans: readonly Plan[], event: ChartEvent): Plan | undefined {
    if (plans.length === 0) return undefined
    const subject = { context: this.context, event }
    return plans.find(({ guard }) => guard === undefined || guard(subject))
  }

  /** Follows the plan, if there is one, then every one that needs no event. Throws when that does not come to an end. */
  settle(plan: Plan | undefined, event: ChartEvent): void {
    const { maxIterations = Infinity } = this.#machine.options ?? {}
    if (plan !== undefined) this.#follow(plan, event)
    for (let round = 1; this.status === 'active'; round++) {
      if (round > maxIterations) throw new Error(`${this.#machine.id} goes round in circles on ${event.type}.`)
      const next = this.choose(this.configuration.always, event)
      if (next === undefined) return
      this.#follow(next, event)
    }
    // They stay in the snapshot, as under XState.
    for (const child of Object.values(this.children)) this.#end(child as Inner)
  }

  /** The state after it; the one before when nothing has changed. */
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
      case 'advance':
        return this.#advance(operation, event)
      case 'assign':
        return this.#assign(operation, event)
      case 'collect':
        return this.#collect(operation, event)
      case 'act':
        return this.#act(operation.name, event, operation.params)
      case 'tell':
        return this.#tell(operation)
      case 'stop':
        return this.#stop(operation.id)
      case 'start':
        return this.#start(operation, event)
    }
  }

  #mapped(mapper: unknown, event: ChartEvent): unknown {
    return typeof mapper === 'function' ? mapper({ context: this.context, event, self: this.#scope.self }) : mapper
  }

  #advance({ fill }: OperationOf<'advance'>, event: ChartEvent): void {
    const draft = fillDraft(this.context as AgentContext, event as never, fill)
    this.context = draft.context
    for (const record of draft.records) this.#act('record', event, record)
    for (const child of draft.children) {
      if (child.type === 'stop') this.#stop(child.id)
      else if (child.type === 'tell') this.#tell(child)
      else this.#start(child, event)
    }
  }

  #assign({ assignment }: OperationOf<'assign'>, event: ChartEvent): void {
    const change =
      typeof assignment === 'function'
        ? assignment({ context: this.context, event })
        : Object.fromEntries(Object.entries(assignment).map(([key, value]) => [key, this.#mapped(value, event)]))
    this.context = { ...this.context, ...change }
  }

  #collect({ collect }: OperationOf<'collect'>, event: ChartEvent): void {
    const operations: Operation[] = []
    const { self, system } = this.#scope
    collect({ context: this.context, event, self, system, enqueue: enqueueInto(operations) })
    for (const operation of operations) this.#run(operation, event)
  }

  /** An action that the runtime provides. Until its actor runs it waits. */
  #act(type: string, event: ChartEvent, params: unknown): void {
    const exec = this.#machine.implementations.actions[type]
    const { self, system } = this.#scope
    const info = { context: this.context, event, self, system }
    if ((self as Inner)._processingStatus === running) exec?.(info, params)
    else this.#scope.actionExecutor({ type, info, params, exec })
  }

  #start({ src, id, input, systemId }: Omit<OperationOf<'start'>, 'type'>, event: ChartEvent): void {
    const options = { id, src, parent: this.#scope.self, input: this.#mapped(input, event) }
    const logic = this.#machine.implementations.actors[src] as AnyActorLogic
    const child = createActor(logic, systemId === undefined ? options : { ...options, systemId })
    this.children = { ...this.children, [id]: child }
    this.#scope.defer(() => {
      if ((child as unknown as Inner)._processingStatus !== stopped) child.start()
    })
  }

  #stop(id: string): void {
    const child = this.children[id]
    if (child === undefined) return
    const { [id]: _, ...others } = this.children
    this.children = others
    this.#end(child as Inner)
  }

  #end(child: Inner): void {
    const scope = this.#scope
    unregister(scope, child)
    if (child._processingStatus === running) scope.defer(() => scope.stopChild(child))
    else scope.stopChild(child)
  }

  #tell({ id, event }: Omit<OperationOf<'tell'>, 'type'>): void {
    const child = this.children[id]
    if (child === undefined) throw new Error(`${this.#machine.id} has no child "${id}" to tell ${event.type}.`)
    this.#scope.defer(() => child.send(event))
  }
}

/** At once, so that another actor may take its system id; its own children first. */
function unregister(scope: AnyActorScope, actor: AnyActorRef): void {
  const { children = {} } = actor.getSnapshot() as { readonly children?: Step['children'] }
  for (const child of Object.values(children)) unregister(scope, child)
  ;(scope.system as unknown as InnerSystem)._unregister(actor)
}
