import { fromPromise, type PromiseActorLogic } from 'xstate'
import { Cancellation } from './timing/cancellation.ts'

type Run<Output, Input> = (input: Input, cancellation: Cancellation) => Output | Promise<Output>

/** An effect as actor logic. It carries `run`, so that an interpreter which knows it needs no promise actor of XState. */
export interface EffectLogic<Output = unknown, Input = unknown> extends PromiseActorLogic<Output, Input> {
  readonly run: Run<Output, Input>
}

/** Actor logic that does one thing, once; its return value or error is the actor's end. Stopping the actor cancels it. */
export const effect = <Output, Input>(run: Run<Output, Input>): EffectLogic<Output, Input> =>
  Object.assign(
    fromPromise<Output, Input>(async ({ input, signal }) => run(input, Cancellation.of(signal))),
    { run },
  )
