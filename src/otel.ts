/** The door "escapement/otel": spans for OpenTelemetry. */
export { otelTracer, type OtelTracerOptions } from './runtime/tracing/otelTracer.ts'
