import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import type { Attributes, Meter } from '@opentelemetry/api'
import type { CaseContext } from '../../../../test/support/suite.ts'

/** A series as the tests read it: a sum, or of a histogram the sum and count. */
export interface Series {
  readonly attributes: Attributes
  readonly value: number
  readonly count?: number
}

export interface MetricsProbe {
  readonly meter: Meter
  /** All series of a metric, as they stand now. */
  series(name: string): Promise<Series[]>
  /** Names of metrics that have a value. */
  names(): Promise<string[]>
}

/** An SDK that keeps metrics in memory. */
export function startMetrics({ cleanup }: Pick<CaseContext, 'cleanup'>): MetricsProbe {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 86_400_000 })
  const provider = new MeterProvider({ readers: [reader] })
  cleanup(() => provider.shutdown())
  const collect = async () => {
    const { resourceMetrics } = await reader.collect()
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics)
  }
  return {
    meter: provider.getMeter('test'),
    names: async () => (await collect()).map(({ descriptor }) => descriptor.name),
    async series(name) {
      const found = (await collect()).find(({ descriptor }) => descriptor.name === name)
      if (found === undefined) return []
      if (found.dataPointType === DataPointType.HISTOGRAM)
        return found.dataPoints.map(({ attributes, value: { sum = 0, count } }) => ({ attributes, value: sum, count }))
      if (found.dataPointType === DataPointType.EXPONENTIAL_HISTOGRAM) return []
      return found.dataPoints.map(({ attributes, value }) => ({ attributes, value }))
    },
  }
}
