import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { Readiness } from '../../../cluster/src/operations/readiness.ts'
import { serveOperations } from '../../../cluster/src/operations/serveOperations.ts'
import type { PrometheusMetrics } from '../../../otel/src/metrics/prometheusMetrics.ts'
import { portOf } from '../addressOf.ts'
import type { Invocation } from '../commandLine.ts'

/** Health checks and metrics of a program for its operators. */
export interface Operations {
  /** Metrics of the program; `undefined` if they are not requested, or their packages are missing. */
  readonly metrics: PrometheusMetrics['metrics'] | undefined
  /** Sets the function that counts the clients of a worker's bridge. */
  hasClients(count: () => number): void
  /** Notes that the program serves from now on. */
  serves(): void
  /** Notes that the program is about to end. */
  leaves(): void
  close(): Promise<void>
}

const nothing: Operations = { metrics: undefined, hasClients() {}, serves() {}, leaves() {}, close: async () => {} }

/**
 * Opens the port of `--operations-port`, before the program is ready. Opens none without the option.
 *
 * @throws RuntimeError `INVALID_OPTION`, `BRIDGE_LISTEN_FAILED`
 */
export async function openOperations(
  { operationsPort, host }: Pick<Invocation, 'operationsPort' | 'host'>,
  { store, log }: { readonly store: Store; readonly log: Logger },
): Promise<Operations> {
  const port = portOf('--operations-port', operationsPort)
  if (port === undefined) return nothing
  const made = await metricsOr(log)
  const readiness = new Readiness(store, systemClock)
  const answer = typeof made === 'string' ? made : made.answer
  const server = await serveOperations({ port, host, readiness, metrics: answer })
  log.info({ url: server.url }, 'Metrics and readiness are served.')
  const metrics = typeof made === 'string' ? undefined : made.metrics
  let clients: (() => number) | undefined
  metrics?.observeProgram({ isReady: () => readiness.isReady, clients: () => clients?.() })
  return {
    metrics,
    hasClients(count) {
      clients = count
    },
    serves: () => readiness.serves(),
    leaves: () => readiness.leaves(),
    async close() {
      await server.close()
      if (typeof made !== 'string') await made.close()
    },
  }
}

/** Creates metrics, or returns a text that names the missing package. */
async function metricsOr(log: Logger): Promise<PrometheusMetrics | string> {
  try {
    const { prometheusMetrics } = await loadPeer(
      () => import('../../../otel/src/metrics/prometheusMetrics.ts'),
      '--operations-port',
      '@opentelemetry/api',
    )
    return await prometheusMetrics()
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError) || thrown.code !== 'PACKAGE_MISSING') throw thrown
    log.warn({ error: thrown }, 'There are no metrics; /readyz is served.')
    return thrown.message
  }
}
