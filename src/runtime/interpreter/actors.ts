import type { AnyActorRef, AnyActorScope, AnyMachineSnapshot, AnyStateMachine, EventObject, Snapshot } from 'xstate'
import { type ActorOptions, ActorRef } from './actorRef.ts'
import { Cancellation } from '../../actors/timing/cancellation.ts'
import type { EffectLogic } from '../../actors/effect.ts'

// XState marks its internal members with an underscore.
/* oxlint-disable no-underscore-dangle */

/** Actor of an effect. Needs no mailbox, because the only event it accepts is `xstate.stop`. */
export class EffectActor extends ActorRef<Snapshot<unknown> & { readonly input: unknown }> {
  readonly #run: EffectLogic['run']
  #cancellation: Cancellation | undefined

  constructor(logic: EffectLogic, options: ActorOptions) {
    super(logic, options)
    this.#run = logic.run
    this.snapshot = { status: 'active', output: undefined, error: undefined, input: options.input }
  }

  start(): this {
    if (this._processingStatus !== 0) return this
    this._processingStatus = 1
    this.#cancellation = new Cancellation()
    try {
      Promise.resolve(this.#run(this.snapshot.input, this.#cancellation)).then(
        (output) => this.#done(output),
        (thrown: unknown) => this.#failed(thrown),
      )
    } catch (thrown) {
      queueMicrotask(() => this.#failed(thrown))
    }
    return this
  }

  #done(output: unknown): void {
    this.#end({ status: 'done', output, error: undefined, input: undefined })
  }

  #failed(error: unknown): void {
    this.#end({ status: 'error', output: undefined, error, input: undefined })
  }

  #end(snapshot: typeof this.snapshot): void {
    if (this._processingStatus !== 1) return
    this._processingStatus = 2
    this.snapshot = snapshot
    if (snapshot.status === 'done') this.tell()
    this.tellEnd()
  }

  _send({ type }: { readonly type: string }): void {
    if (type === 'xstate.stop') this._stop()
  }

  _stop(): this {
    const wasRunning = this._processingStatus === 1
    this._processingStatus = 2
    if (!wasRunning) return this
    this.snapshot = { status: 'stopped', output: undefined, error: undefined, input: undefined }
    this.#cancellation!.abort()
    this.tellEnd()
    return this
  }
}

// XState marks its internal members with an underscore.
/* oxlint-disable no-underscore-dangle */

/** An action as XState passes it to its executor. */
interface Executable {
  readonly type: string
  readonly params: unknown
  readonly info: unknown
  readonly exec?: ((info: unknown, params: unknown) => void) | undefined
}

const nothing: readonly (() => void)[] = Object.freeze([])

/** Actor of a machine, which is also the actor scope passed to its logic. */
export class MachineActor extends ActorRef<AnyMachineSnapshot> {
  readonly #machine: AnyStateMachine
  readonly #input: unknown
  /** Queued events. */
  #mailbox: EventObject[] | undefined
  #isProcessing = false
  /** Effects deferred to the end of the current step. */
  #deferred: (() => void)[] | undefined

  constructor(machine: AnyStateMachine, options: ActorOptions) {
    super(machine, options)
    const { system, systemId } = this
    this.#machine = machine
    this.#input = options.input
    if (systemId !== undefined) system._set(systemId, this)
    this.#inspected({ type: '@xstate.actor' })
    try {
      this.snapshot = machine.getInitialSnapshot(this.#scope, options.input)
    } catch (error) {
      this.snapshot = { status: 'error', output: undefined, error } as AnyMachineSnapshot
    }
    if (this.snapshot.status !== 'active') system._unregister(this)
  }

  get self(): this {
    return this
  }

  get #scope(): AnyActorScope {
    return this as unknown as AnyActorScope
  }

  /** A plain-object scope for XState's own interpreter, which destructures it. */
  get plainScope(): AnyActorScope {
    const { self, id, sessionId, system } = this
    const scope = {
      self,
      id,
      sessionId,
      system,
      logger: () => {},
      defer: (effect: () => void) => this.defer(effect),
      stopChild: (child: ActorRef) => this.stopChild(child),
      emit: () => {},
      actionExecutor: (action: Executable) => this.actionExecutor(action),
    }
    return scope as unknown as AnyActorScope
  }

  defer(effect: () => void): void {
    if (this.#deferred === undefined) this.#deferred = [effect]
    else this.#deferred.push(effect)
  }

  stopChild(child: ActorRef): void {
    child._stop()
  }

  actionExecutor({ type, params, info, exec }: Executable): void {
    const execute = (): void => {
      this.#inspected({ type: '@xstate.action', action: { type, params } })
      exec?.(info, params)
    }
    if (this._processingStatus === 1) execute()
    else this.defer(execute)
  }

  start(): this {
    if (this._processingStatus === 1) return this
    this._processingStatus = 1
    const event = { type: 'xstate.init', input: this.#input }
    this.#inspected({ type: '@xstate.event', sourceRef: this._parent, event })
    if (this.snapshot.status === 'error') return this.#end()
    // Events from children are queued until the initial actions have run.
    this.#isProcessing = true
    if (this.snapshot.status === 'active') this.#machine.start(this.snapshot)
    this.#update(this.snapshot, event)
    this.#work()
    return this
  }

  _send(event: EventObject): void {
    if (this._processingStatus === 2) return
    if (this._processingStatus === 1 && !this.#isProcessing) return this.#work(event)
    this.#mailbox ??= []
    this.#mailbox.push(event)
  }

  _stop(): this {
    const status = this._processingStatus
    this.#mailbox = undefined
    if (status === 0) this._processingStatus = 2
    else if (status === 1) this._send({ type: 'xstate.stop' })
    return this
  }

  #work(first?: EventObject): void {
    this.#isProcessing = true
    for (let event = first ?? this.#mailbox?.shift(); event !== undefined; event = this.#mailbox?.shift())
      this.#process(event)
    // Release the array: idle agents should hold no memory for it.
    this.#mailbox = undefined
    this.#isProcessing = false
  }

  #process(event: EventObject): void {
    let snapshot: AnyMachineSnapshot
    try {
      snapshot = this.#machine.transition(this.snapshot, event, this.#scope)
    } catch (error) {
      this.snapshot = { ...this.snapshot, status: 'error', error } as AnyMachineSnapshot
      this.#end()
      return
    }
    this.#update(snapshot, event)
    if (event.type === 'xstate.stop') this.#end()
  }

  #update(snapshot: AnyMachineSnapshot, event: EventObject): void {
    this.snapshot = snapshot
    this.#runDeferred()
    const { status } = this.snapshot
    if (status === 'active' || status === 'done') this.tell()
    if (status === 'done' || status === 'error') this.#end()
    this.#inspected({ type: '@xstate.snapshot', event, snapshot })
  }

  #runDeferred(): void {
    try {
      // Effects may defer more effects while this loop runs.
      for (const effect of this.#deferred ?? nothing) effect()
      this.#deferred = undefined
    } catch (error) {
      this.#deferred = undefined
      this.snapshot = { ...this.snapshot, status: 'error', error } as AnyMachineSnapshot
    }
  }

  #end(): this {
    if (this._processingStatus === 1) {
      this._processingStatus = 2
      this.#mailbox = undefined
      this.system._unregister(this)
    }
    this.tellEnd()
    return this
  }

  #inspected(event: object): void {
    const { system } = this
    if (system.isInspected) system._sendInspectionEvent({ ...event, actorRef: this as unknown as AnyActorRef } as never)
  }
}
