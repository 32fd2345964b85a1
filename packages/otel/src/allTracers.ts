import type { Tracer } from '../../../src/protocol/ports/tracer.ts'

/** Returns a tracer that hands everything to each of these: spans and metrics, say. Effects take place inside all of them, the first outermost. */
export function allTracers(...tracers: readonly Tracer[]): Tracer {
  return {
    wantsRequests: tracers.some(({ wantsRequests }) => wantsRequests === true),
    event(event, agent) {
      for (const tracer of tracers)
        if (event.type !== 'turn.request' || tracer.wantsRequests === true) tracer.event(event, agent)
    },
    within: (effect, agent, run) =>
      tracers.reduceRight((inner, tracer) => () => tracer.within(effect, agent, inner), run)(),
    requested(requestId, agent) {
      for (const tracer of tracers) tracer.requested?.(requestId, agent)
    },
    ended(agent) {
      for (const tracer of tracers) tracer.ended?.(agent)
    },
  }
}
