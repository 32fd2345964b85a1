/** The door "escapement/otel": spans for OpenTelemetry. */
export { otelTracer } from '../packages/otel/src/otelTracer.ts'
