import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { startTraced, startTracing } from '../../otel/test/tracingProbe.ts'
import { ends, Lives } from '../../../test/support/lives.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { lateStoreOf } from '../../../test/support/lateStore.ts'
import { codeTool } from '../src/codeTool.ts'
import { engine, noting, scripted } from './scriptedAgent.ts'

const fails = noting('fails', [], {
  run: () => {
    throw Object.assign(new Error('disk full of secrets'), { code: 'ENOSPC' })
  },
})
const code = `await tools.read({ to: 'a' }); await tools.fails({}).catch(() => 0); await tools.reed({}).catch(() => 0); return 1`

const traced = (context: CaseContext, content: boolean) => {
  const probe = startTracing(context, { content })
  const started = startTraced(context, {
    tracer: probe.tracer,
    tools: [codeTool([noting('read', []), fails], { only: true, engine })],
    replies: [{ toolCalls: [{ name: 'run_code', input: { code }, callId: 'c0' }] }, 'done'],
  })
  return { probe, started }
}

describe('the spans of the calls of a script', (it) => {
  it('lie within that of the script, and say what failed', async (context) => {
    const { probe, started } = traced(context, false)
    const { agent } = await started
    await agent.prompt('go').result
    assert.equal(probe.paths().slice(1, 4), [
      'execute_tool read < execute_tool run_code < turn < invoke_agent a',
      'execute_tool fails < execute_tool run_code < turn < invoke_agent a',
      'execute_tool run_code < turn < invoke_agent a',
    ])
    const [, read, failed] = probe.spans()
    assert.equal(
      [
        'gen_ai.operation.name',
        'gen_ai.tool.name',
        'gen_ai.tool.call.id',
        'gen_ai.tool.type',
        'escapement.inner.n',
      ].map((name) => read!.attributes[name]),
      ['execute_tool', 'read', 'c0/1', 'function', 1],
    )
    assert.is(failed!.attributes['error.type'], 'ENOSPC')
    assert.not.match(JSON.stringify(probe.spans()), /secrets/)
  })

  it('have content where it is wanted', async (context) => {
    const { probe, started } = traced(context, true)
    const { agent } = await started
    await agent.prompt('go').result
    const [, read] = probe.spans()
    assert.equal(
      [read!.attributes['gen_ai.tool.call.arguments'], read!.attributes['gen_ai.tool.call.result']],
      ['{"to":"a"}', 'read a'],
    )
  })

  it('are there for a call that a process before had begun', async (context) => {
    const lives = new Lives(context)
    const make = () => scripted(`return await tools.read({ to: 'a' })`, [noting('read', [])])
    const life = await lives.begin(make(), 'go')
    await ends(life.agent)
    const { a1 } = await life.logs()
    const { tracer, paths, spans } = startTracing(context)
    const cut = a1!.slice(0, a1!.findIndex(({ type }) => type === 'inner.start') + 1)
    const runtime = await createRuntime({ store: await lateStoreOf({ a1: cut }), clock: lives.clock, tracer })
    context.cleanup(() => runtime.close())
    const agent = await runtime.resume('a1', make(), { continue: true })
    await ends(agent)
    assert.ok(
      paths().some((path) => path.startsWith('execute_tool read < execute_tool run_code < turn')),
      paths().join(),
    )
    const read = spans().find(({ attributes }) => attributes['gen_ai.tool.name'] === 'read')
    assert.is(read?.attributes['escapement.tool.resumed'], true)
  })
})
