import type { Cancellation } from '../../actors/timing/cancellation.ts'
import { waitForName } from '../../actors/tools/waitForTool.ts'
import type { AgentContext, CallState } from '../../machines/agentTypes.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import { errorInfo, type ErrorInfo } from '../../protocol/errors.ts'

/** An agent in its tree, with its signs of life. */
interface Heard {
  readonly agentId: string
  readonly shared: { readonly clock: Clock }
  readonly machine: { readonly context: Pick<AgentContext, 'pause' | 'calls'> }
  /** `waitsFor`: id of the model that it waits for, within the limits of the runtime. */
  readonly ports: { readonly waitsFor: string | null }
  readonly parent: Heard | undefined
  readonly family: { readonly live: readonly Heard[] }
  readonly stallTimer: StallTimer
}

/** Measures the time since an agent, or one below it, last showed a sign of life. */
export class StallTimer {
  readonly #agent: Heard
  /** Others need no time, and reading the clock for every delta adds up. */
  #isRunning = false
  #last = 0

  constructor(agent: Heard) {
    this.#agent = agent
  }

  /** Notes a sign of life, which also counts for those above. */
  reset(): void {
    for (let at: Heard | undefined = this.#agent; at !== undefined; at = at.parent)
      if (at.stallTimer.#isRunning) at.stallTimer.#last = at.shared.clock.now()
  }

  /** Resolves after this time without a sign of life, not counting waits for people or models. Call `cancel` when it is no longer needed. */
  stalled(ms: number, cancellation: Cancellation): { readonly promise: Promise<ErrorInfo>; cancel(): void } {
    const stalled = Promise.withResolvers<ErrorInfo>()
    if (ms === Infinity) return { promise: stalled.promise, cancel: () => {} }
    const { shared, agentId } = this.#agent
    const { clock } = shared
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

/** Returns true if an agent, or one below it, waits for people, for agents that report or for its turn at a model. */
const isWaiting = ({ machine: { context }, ports, family }: Heard): boolean =>
  context.pause !== null || ports.waitsFor !== null || context.calls.some(waits) || family.live.some(isWaiting)

const waits = ({ name, status }: CallState): boolean => name === waitForName && status === 'running'
