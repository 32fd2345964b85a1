import { context, type Tracer as ApiTracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { defineAgent } from '../../define/src/defineAgent.ts'
import type { AgentOptions } from '../../../src/actors/define/defineAgent.ts'
import { scriptedModel, type ScriptedReply } from '../../evaluation/src/testing/scriptedModel.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { createRuntime, type Runtime } from '../../bridge/src/createRuntime.ts'
import type { RuntimeOptions } from '../../runtime/src/runtimeOptions.ts'
import { simulatedClock, type SimulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { SpanTracer } from '../src/spanTracer.ts'
import { counter } from '../../../test/support/agentHarness.ts'
import { assert, type CaseContext } from '../../../test/support/suite.ts'

/** A span as the tests read it. */
export interface SeenSpan {
  readonly name: string
  /** Name of the parent; a span with none is a root. */
  readonly parent: string | undefined
  readonly attributes: ReadableSpan['attributes']
  readonly events: readonly { readonly name: string; readonly attributes: ReadableSpan['attributes'] }[]
  readonly status: ReadableSpan['status']
  readonly kind: ReadableSpan['kind']
}

export interface TracingProbe {
  readonly tracer: SpanTracer
  /** For spans of the test's own. */
  readonly api: ApiTracer
  /** Spans that ended, in that order. */
  spans(): SeenSpan[]
  /** The one ended span of this name. */
  span(name: string): SeenSpan
  /** `child < parent < …`, in the order the spans ended. */
  paths(): string[]
  /** Names of spans that began and did not end. */
  open(): string[]
}

/** An SDK with spans in memory and context that follows promises; at the end of the case no span may be open and nothing kept. */
export function startTracing({ cleanup }: Pick<CaseContext, 'cleanup'>, { content = false } = {}): TracingProbe {
  const exporter = new InMemorySpanExporter()
  const begun = new Map<string, string>()
  const watch: SpanProcessor = {
    onStart: (span) => void begun.set(span.spanContext().spanId, span.name),
    onEnd: (span) => void begun.delete(span.spanContext().spanId),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  }
  const provider = new BasicTracerProvider({ spanProcessors: [watch, new SimpleSpanProcessor(exporter)] })
  const api = provider.getTracer('test')
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const tracer = new SpanTracer(api, { content, attributes: { site: 'test' } })
  cleanup(async () => {
    context.disable()
    await provider.shutdown()
    assert.equal([...begun.values()], [], 'spans left open')
    assert.equal(tracer.held, { agents: 0, requests: 0 })
  })
  const names = (): Map<string, ReadableSpan> =>
    new Map(exporter.getFinishedSpans().map((span) => [span.spanContext().spanId, span]))
  const spans = (): SeenSpan[] => {
    const all = names()
    return exporter.getFinishedSpans().map((span) => ({
      name: span.name,
      parent: all.get(span.parentSpanContext?.spanId ?? '')?.name,
      attributes: span.attributes,
      events: span.events.map(({ name, attributes = {} }) => ({ name, attributes })),
      status: span.status,
      kind: span.kind,
    }))
  }
  return {
    tracer,
    api,
    spans,
    span(name) {
      const found = spans().filter((span) => span.name === name)
      assert.is(
        found.length,
        1,
        `spans called "${name}" among ${spans()
          .map((span) => span.name)
          .join(', ')}`,
      )
      return found[0]!
    },
    paths() {
      const all = names()
      const path = (span: ReadableSpan): string => {
        const parent = all.get(span.parentSpanContext?.spanId ?? '')
        return parent === undefined ? span.name : `${span.name} < ${path(parent)}`
      }
      return exporter.getFinishedSpans().map(path)
    },
    open: () => [...begun.values()],
  }
}

export interface TracedOptions extends Partial<Omit<AgentOptions, 'model'>> {
  readonly replies?: readonly ScriptedReply[]
  readonly model?: AgentOptions['model']
  readonly id?: string
  readonly store?: RuntimeOptions['store']
}

export interface TracedRuntime {
  readonly runtime: Runtime
  readonly agent: Agent
  readonly clock: SimulatedClock
  readonly events: AgentEvent[]
  untilState(state: string): Promise<void>
  until(type: AgentEvent['type']): Promise<void>
  /** Another agent of the same runtime. */
  spawn(options: TracedOptions): Promise<Agent>
}

const definitionOf = ({ replies = [], model, id = 'a1', store: _, ...rest }: TracedOptions) =>
  defineAgent({ name: id.replace(/\d+$/, ''), ...rest, model: model ?? scriptedModel(replies, { id: 'openai:m-1' }) })

/** An agent in a runtime with the probe's tracer and a simulated clock; closed before the probe looks for what is left. */
export async function startTraced(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  options: TracedOptions & Pick<RuntimeOptions, 'tracer' | 'logger'>,
): Promise<TracedRuntime> {
  const { tracer, logger, store, ...rest } = options
  const clock = simulatedClock()
  const runtime = await createRuntime({
    clock,
    random: () => 0,
    newId: counter('q'),
    ...(tracer === undefined ? {} : { tracer }),
    ...(logger === undefined ? {} : { logger }),
    ...(store === undefined ? {} : { store }),
  })
  cleanup(() => runtime.close())
  const spawn = (more: TracedOptions): Promise<Agent> => runtime.spawn(definitionOf(more), { id: more.id ?? 'a1' })
  const agent = await spawn(rest)
  const events: AgentEvent[] = []
  const waiting = new Set<() => void>()
  agent.subscribe((event) => {
    events.push(event)
    for (const look of waiting) look()
  })
  const when = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (holds() && waiting.delete(look)) resolve()
      }
      waiting.add(look)
      look()
    })
  return {
    runtime,
    agent,
    clock,
    events,
    spawn,
    untilState: (state) => when(() => agent.state === state),
    until: (type) => when(() => events.some((event) => event.type === type)),
  }
}
