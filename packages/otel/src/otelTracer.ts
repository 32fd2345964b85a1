import { trace, type Attributes, type Tracer as ApiTracer } from '@opentelemetry/api'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { checkedBy } from '../../../src/protocol/errors.ts'
import type { Tracer } from '../../../src/protocol/ports/tracer.ts'
import { version } from '../../../src/protocol/version.ts'
import { SpanTracer } from './spanTracer.ts'

export interface OtelTracerOptions {
  /** Tracer that makes the spans. Default: `escapement` of the global provider, which may be registered later. */
  readonly tracer?: ApiTracer | undefined
  /** True to put messages, instructions, arguments and results into the spans. Default `false`. */
  readonly content?: boolean | undefined
  /** Attributes of every span. */
  readonly attributes?: Attributes | undefined
}

const hasStartSpan = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'startSpan' in value && typeof value.startSpan === 'function'

const optionsSchema = onlyFields({
  tracer: z.custom((value) => value === undefined || hasStartSpan(value), 'give a tracer of @opentelemetry/api'),
  content: z.boolean(),
  attributes: z.record(z.string(), z.unknown()),
}).partial()

/**
 * The tracer port on OpenTelemetry: spans run → turn → model call, tool call, drain, compaction, with the attributes of the GenAI
 * conventions. A run's parent is the span its prompt was given in; spans of a tool nest under its call.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function otelTracer(options: OtelTracerOptions = {}): Tracer {
  checkedBy(optionsSchema, options, 'otelTracer')
  const { tracer = trace.getTracer('escapement', version), content = false, attributes = {} } = options
  return new SpanTracer(tracer, { content, attributes })
}
