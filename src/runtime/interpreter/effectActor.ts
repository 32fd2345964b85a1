// XState marks its internal members with an underscore.
/* oxlint-disable no-underscore-dangle */
import type { Snapshot } from 'xstate'
import { Cancellation } from '../../actors/timing/cancellation.ts'
import type { EffectLogic } from '../../actors/effect.ts'
import { type ActorOptions, ActorRef } from './actorRef.ts'

/** The actor of an effect. It needs no mailbox: the only event it accepts is `xstate.stop`. */
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
