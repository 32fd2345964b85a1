import type { IncomingMessage, ServerResponse } from 'node:http'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import { version } from '../../../../src/protocol/version.ts'
import { otelMetrics, type OtelMetrics, type OtelMetricsOptions } from './otelMetrics.ts'

/** Metrics that a Prometheus server collects. */
export interface PrometheusMetrics {
  readonly metrics: OtelMetrics
  /** Answers a request of a Prometheus server with all metrics in its text format. */
  answer(request: IncomingMessage, response: ServerResponse): void
  /** Ends the collection. Idempotent. */
  close(): Promise<void>
}

/**
 * Metrics in the text format of Prometheus, without an SDK of your own: those of `otelMetrics` through OpenTelemetry's exporter. Needs the optional
 * packages `@opentelemetry/api`, `@opentelemetry/sdk-metrics` and `@opentelemetry/exporter-prometheus`.
 *
 * @throws RuntimeError `PACKAGE_MISSING`, `INVALID_OPTION`
 *
 * @example
 * ```ts no-run
 * import { createServer } from 'node:http'
 * import { prometheusMetrics } from 'escapement/otel'
 *
 * const { metrics, answer } = await prometheusMetrics()
 * const runtime = await createRuntime({ tracer: metrics })
 * createServer(answer).listen(9464)
 * ```
 */
export async function prometheusMetrics(options: Omit<OtelMetricsOptions, 'meter'> = {}): Promise<PrometheusMetrics> {
  const who = 'prometheusMetrics'
  const { PrometheusExporter } = await loadPeer(
    () => import('@opentelemetry/exporter-prometheus'),
    who,
    '@opentelemetry/exporter-prometheus',
  )
  const { MeterProvider } = await loadPeer(
    () => import('@opentelemetry/sdk-metrics'),
    who,
    '@opentelemetry/sdk-metrics',
  )
  // Whoever scrapes knows the process by its address: labels of the library and a metric about the resource would only repeat that.
  const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true, withoutTargetInfo: true })
  const provider = new MeterProvider({ readers: [exporter] })
  const metrics = otelMetrics({ ...options, meter: provider.getMeter('escapement', version) })
  let closed: Promise<void> | undefined
  return {
    metrics,
    answer: (request, response) => exporter.getMetricsRequestHandler(request, response),
    close() {
      closed ??= provider.shutdown()
      return closed
    },
  }
}
