import type * as OpenTelemetry from '@opentelemetry/api'

type Trace = (typeof OpenTelemetry)['trace']

let trace: Promise<Trace | undefined> | undefined

/** The span that surrounds a call, as W3C has it, for the server's own trace; nothing without one, or without OpenTelemetry. */
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
