import { metrics, type Attributes, type Meter } from '@opentelemetry/api'
import { z } from 'zod'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { checkedBy } from '../../../../src/protocol/errors.ts'
import { systemClock, type Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Tracer } from '../../../../src/protocol/ports/tracer.ts'
import { version } from '../../../../src/protocol/version.ts'
import { AgentMeter } from './agentMeter.ts'
import type { GatewayFigures, WorkerFigures } from './figures.ts'
import { Instruments } from './instruments.ts'
import { observeGateway, observeProgram, observeWorker } from './observed.ts'

export interface OtelMetricsOptions {
  /** Meter that makes the instruments. Default: `escapement` of the global provider, which must be registered before. */
  readonly meter?: Meter | undefined
  /** Attributes of every measurement. */
  readonly attributes?: Attributes | undefined
  /** The clock of the runtime. Default: the system's. */
  readonly clock?: Clock | undefined
}

/** A score of a run, with the fields that are measured. */
export interface MeasuredScore {
  readonly scorer: string
  readonly definition: string
  /** Score from 0 to 1. */
  readonly value: number
  readonly passed: boolean
}

/** Metrics of agents, workers and gateways. As a tracer of a runtime it measures what its agents do. Made by `otelMetrics`. */
export interface OtelMetrics extends Tracer {
  /** Measures a score of a run: give it to `liveScores` as `onScore`. */
  score(score: MeasuredScore): void
  /** Measures a worker (`restateWorker`) whenever metrics are collected. Returns a function that ends that. */
  observeWorker(worker: { figures(): WorkerFigures }): () => void
  /** Measures a gateway (`serveGateway`) whenever metrics are collected. Returns a function that ends that. */
  observeGateway(gateway: { figures(): GatewayFigures }): () => void
  /**
   * Measures this process: whether it is ready, CPU time, memory, event loop, and of a worker the `clients` of its bridge. Returns a function that
   * ends that.
   */
  observeProgram(program: { isReady(): boolean; clients?(): number | undefined }): () => void
}

const hasCounters = (value: unknown): boolean =>
  typeof (value as { readonly createObservableGauge?: unknown } | null)?.createObservableGauge === 'function'

const optionsSchema = onlyFields({
  meter: z.custom((value) => value === undefined || hasCounters(value), 'give a meter of @opentelemetry/api'),
  attributes: z.record(z.string(), z.unknown()),
  clock: z.custom((value) => typeof (value as Clock | null)?.now === 'function', 'give { now, after }'),
}).partial()

/**
 * Metrics on OpenTelemetry: durations, tokens, cost, cached share, time to first chunk and waits, under the names of the GenAI conventions where
 * these have them. No attribute is the id of an agent, and none holds what was said.
 *
 * @throws RuntimeError `INVALID_OPTION`
 *
 * @example
 * ```ts
 * import { allTracers, otelMetrics, otelTracer } from 'escapement/otel'
 *
 * const metrics = otelMetrics()
 * const runtime = await createRuntime({ tracer: allTracers(otelTracer(), metrics) })
 * await runtime.close()
 * ```
 */
export function otelMetrics(options: OtelMetricsOptions = {}): OtelMetrics {
  checkedBy(optionsSchema, options, 'otelMetrics')
  const { meter = metrics.getMeter('escapement', version), attributes = {}, clock = systemClock } = options
  const instruments = new Instruments(meter, attributes)
  const agents = new AgentMeter(instruments, clock)
  return {
    event: (event, agent) => agents.event(event, agent),
    within: (effect, agent, run) => agents.within(effect, agent, run),
    ended: (agent) => agents.ended(agent),
    score({ scorer, definition, value, passed }) {
      instruments.record('escapement.score', value, {
        'gen_ai.evaluation.name': scorer,
        'gen_ai.agent.name': definition,
        'gen_ai.evaluation.score.label': passed ? 'passed' : 'failed',
      })
    },
    observeWorker: (worker) => observeWorker(instruments, worker),
    observeGateway: (gateway) => observeGateway(instruments, gateway),
    observeProgram: (program) => observeProgram(instruments, program),
  }
}
