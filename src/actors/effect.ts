import { fromPromise, type PromiseActorLogic } from 'xstate'
import { Cancellation } from './timing/cancellation.ts'

type Run<Output, Input> = (input: Input, cancellation: Cancellation) => Output | Promise<Output>

/** An effect as actor logic. It exposes `run`, so that our interpreter needs no promise actor of XState. */
export interface EffectLogic<Output = unknown, Input = unknown> extends PromiseActorLogic<Output, Input> {
  readonly run: Run<Output, Input>
}

/** Creates actor logic that runs a function once. Its return value or error ends the actor. Stopping the actor cancels it. */
export const effect = <Output, Input>(run: Run<Output, Input>): EffectLogic<Output, Input> =>
  Object.assign(
    fromPromise<Output, Input>(async ({ input, signal }) => run(input, Cancellation.of(signal))),
    { run },
  )
