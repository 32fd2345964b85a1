/** The door "escapement/otel": spans for OpenTelemetry. */
export { otelTracer, type OtelTracerOptions } from '../packages/otel/src/otelTracer.ts'
