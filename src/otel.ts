/** The door "escapement/otel": spans for OpenTelemetry. */
export { otelTracer, type OtelTracerOptions } from './telemetry/otelTracer.ts'
