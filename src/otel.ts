/** The door "escapement/otel": spans and metrics for OpenTelemetry and Prometheus. */
export { allTracers } from '../packages/otel/src/allTracers.ts'
export { otelMetrics, type OtelMetrics } from '../packages/otel/src/metrics/otelMetrics.ts'
export { prometheusMetrics, type PrometheusMetrics } from '../packages/otel/src/metrics/prometheusMetrics.ts'
export { otelTracer } from '../packages/otel/src/otelTracer.ts'
