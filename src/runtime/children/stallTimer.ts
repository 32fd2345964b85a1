import type { Cancellation } from '../../actors/cancellation.ts'
import type { AgentContext } from '../../machines/agentTypes.ts'
import type { Clock } from '../../protocol/clock.ts'
import { errorInfo, type ErrorInfo } from '../../protocol/errors.ts'

/** An agent in its tree, and what is heard of it. */
interface HeardAgent {
  readonly agentId: string
  readonly clock: Clock
  readonly context: Pick<AgentContext, 'pause'>
  readonly parent: HeardAgent | undefined
  readonly liveChildren: readonly HeardAgent[]
  readonly stallTimer: StallTimer
}

/** When something was last heard of an agent or of one below it. */
export class StallTimer {
  readonly #agent: HeardAgent
  /** Of others nobody asks when, and a look at the clock for every delta adds up. */
  #isRunning = false
  #last = 0

  constructor(agent: HeardAgent) {
    this.#agent = agent
  }

  /** Something was heard of the agent, and so of those above. */
  reset(): void {
    for (let at: HeardAgent | undefined = this.#agent; at !== undefined; at = at.parent)
      if (at.stallTimer.#isRunning) at.stallTimer.#last = at.clock.now()
  }

  /** Resolves once nothing has been heard for so long; waiting for people does not count. `cancel` when nobody asks any more. */
  stalled(ms: number, cancellation: Cancellation): { readonly promise: Promise<ErrorInfo>; cancel(): void } {
    const stalled = Promise.withResolvers<ErrorInfo>()
    if (ms === Infinity) return { promise: stalled.promise, cancel: () => {} }
    const { clock, agentId } = this.#agent
    let stop = (): void => {}
    const look = (): void => {
      if (isWaiting(this.#agent)) this.#last = clock.now()
      const left = this.#last + ms - clock.now()
      if (left > 0) stop = clock.after(left, look)
      else stalled.resolve(errorInfo('CHILD_STALLED', `Nothing was heard of agent "${agentId}" for ${ms} ms.`))
    }
    this.#isRunning = true
    this.#last = clock.now()
    stop = clock.after(ms, look)
    const cancel = (): void => {
      this.#isRunning = false
      stop()
      cancellation.remove(cancel)
    }
    cancellation.add(cancel)
    return { promise: stalled.promise, cancel }
  }
}

/** It waits for people, or one below it does. */
const isWaiting = ({ context, liveChildren }: HeardAgent): boolean =>
  context.pause !== null || liveChildren.some(isWaiting)
