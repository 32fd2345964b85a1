import type { Cancellation } from '../../actors/cancellation.ts'
import { errorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { AgentHost } from '../agents/agentHost.ts'

/** When something was last heard of an agent or of one below it. */
export class VitalSigns {
  readonly #host: AgentHost
  /** Somebody waits for its silence; of others nobody asks when, and a look at the clock for every delta adds up. */
  #isWatched = false
  #last = 0

  constructor(host: AgentHost) {
    this.#host = host
  }

  /** A sign of life, of the agent and so of those above. */
  beat(): void {
    for (let at: AgentHost | undefined = this.#host; at !== undefined; at = at.parent)
      if (at.signs.#isWatched) at.signs.#last = at.clock.now()
  }

  /** Resolves once nothing has been heard for so long; waiting for people does not count. `cancel` when nobody asks any more. */
  silence(ms: number, cancellation: Cancellation): { readonly promise: Promise<ErrorInfo>; cancel(): void } {
    const silent = Promise.withResolvers<ErrorInfo>()
    if (ms === Infinity) return { promise: silent.promise, cancel: () => {} }
    const { clock, agentId } = this.#host
    let stop = (): void => {}
    const look = (): void => {
      if (isWaiting(this.#host)) this.#last = clock.now()
      const left = this.#last + ms - clock.now()
      if (left > 0) stop = clock.after(left, look)
      else silent.resolve(errorInfo('CHILD_STALLED', `Nothing was heard of agent "${agentId}" for ${ms} ms.`))
    }
    this.#isWatched = true
    this.#last = clock.now()
    stop = clock.after(ms, look)
    const cancel = (): void => {
      this.#isWatched = false
      stop()
      cancellation.remove(cancel)
    }
    cancellation.add(cancel)
    return { promise: silent.promise, cancel }
  }
}

/** It waits for people, or one below it does. */
const isWaiting = (host: AgentHost): boolean => host.context.pause !== null || host.liveChildren.some(isWaiting)
