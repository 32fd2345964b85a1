import type * as OpenTelemetry from '@opentelemetry/api'

type Trace = (typeof OpenTelemetry)['trace']

let trace: Promise<Trace | undefined> | undefined

/** Returns the current span in W3C form, for the server's own trace; nothing without a span or without OpenTelemetry. */
export async function traceparent(): Promise<{ readonly traceparent?: string }> {
  trace ??= import('@opentelemetry/api').then(
    (api) => api.trace,
    () => undefined,
  )
  const span = (await trace)?.getActiveSpan()?.spanContext()
  if (span === undefined) return {}
  const flags = span.traceFlags.toString(16).padStart(2, '0')
  return { traceparent: `00-${span.traceId}-${span.spanId}-${flags}` }
}
