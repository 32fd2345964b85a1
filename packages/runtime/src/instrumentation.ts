import { CallbackBugs } from '../../../src/protocol/callbackBugs.ts'
import { isDelta, type AgentEvent } from '../../../src/protocol/events.ts'
import type { Logger } from '../../../src/protocol/ports/logger.ts'
import type { TracedAgent, TracedEffect, Tracer } from '../../../src/protocol/ports/tracer.ts'
import { logEvent } from '../../words/src/narrate.ts'

/** Tracer and logger of a runtime. Each of their errors becomes a process warning, once, and does not affect runs. */
export class Instrumentation implements Required<Tracer> {
  readonly wantsRequests: boolean
  readonly #tracer: Tracer | undefined
  readonly #logger: Logger | undefined
  readonly #failed = new Set<'tracer' | 'logger'>()

  constructor({ tracer, logger }: { tracer?: Tracer | undefined; logger?: Logger | undefined }) {
    this.#tracer = tracer
    this.#logger = logger
    this.wantsRequests = tracer?.wantsRequests === true
  }

  event(event: AgentEvent, agent: TracedAgent): void {
    if (isDelta(event)) return
    this.#guard('tracer', () => this.#tracer?.event(event, agent))
    if (this.#logger !== undefined) this.#guard('logger', () => logEvent(this.#logger!, event))
  }

  requested(requestId: string, agent: TracedAgent): void {
    this.#guard('tracer', () => this.#tracer?.requested?.(requestId, agent))
  }

  ended(agent: TracedAgent): void {
    this.#guard('tracer', () => this.#tracer?.ended?.(agent))
  }

  within<T>(effect: TracedEffect, agent: TracedAgent, run: () => T): T {
    if (this.#tracer === undefined) return run()
    let isRun = false
    try {
      return this.#tracer.within(effect, agent, () => {
        isRun = true
        return run()
      })
    } catch (thrown) {
      if (isRun) throw thrown
      this.#report('tracer', thrown)
      return run()
    }
  }

  #guard(who: 'tracer' | 'logger', call: () => unknown): void {
    try {
      const returned = call()
      if (returned instanceof Promise) returned.catch((thrown: unknown) => this.#report(who, thrown))
    } catch (thrown) {
      this.#report(who, thrown)
    }
  }

  #report(who: 'tracer' | 'logger', thrown: unknown): void {
    if (this.#failed.has(who)) return
    this.#failed.add(who)
    new CallbackBugs().tell(`The ${who} of a runtime`, thrown)
  }
}
