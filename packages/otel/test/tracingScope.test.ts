import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { readFile } from 'node:fs/promises'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { otelTracer } from '../src/otelTracer.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('spans of the global provider', (it) => {
  it('name the package and its version as their scope', async ({ cleanup }) => {
    const exporter = new InMemorySpanExporter()
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
    trace.setGlobalTracerProvider(provider)
    cleanup(() => {
      trace.disable()
      return provider.shutdown()
    })
    const runtime = await createRuntime({ tracer: otelTracer() })
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(defineAgent({ name: 'a', model: scriptedModel(['hi']) }))
    await agent.prompt('go').result
    const { name, version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      name: string
      version: string
    }
    const scopes = exporter.getFinishedSpans().map(({ instrumentationScope }) => instrumentationScope)
    assert.ok(scopes.length > 0)
    for (const scope of scopes) assert.equal([scope.name, scope.version], [name, version])
  })
})
