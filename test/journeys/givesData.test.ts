import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, memoryStore } from '../../src/index.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { Tool, ToolContext, ToolOptions } from '../../src/actors/tools/defineTool.ts'
import { calls, quiet, resultsOf, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { aiSdkTools } from '../../src/aiSdk.ts'
import { storeFolder } from '../../packages/stores/test/storeFolder.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const saved = z.object({ id: z.string(), rows: z.int().default(1) })

const nothing = z.object({})

const save = (
  options: Partial<
    Pick<ToolOptions<typeof nothing, z.ZodUnknown, unknown, 'save', typeof saved>, 'run' | 'toModel'>
  > = {},
) =>
  defineTool({
    name: 'save',
    description: 'Saves.',
    input: nothing,
    output: saved,
    run: () => ({ id: 'x7' }),
    toModel: ({ id }) => `Saved as ${id}.`,
    ...options,
  })

/** Warnings of the process while the case runs. */
function caughtWarnings({ cleanup }: CaseContext): string[] {
  const caught: string[] = []
  const hear = ({ message }: Error): void => void caught.push(message)
  process.on('warning', hear)
  cleanup(() => process.off('warning', hear))
  return caught
}

const giving = (give: (context: ToolContext) => unknown) => tool('show', (_, context) => give(context))

describe('data of a call', (it) => {
  it('is the value as the output schema gives it, and the model reads what toModel says', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      tools: [save()],
      replies: [calls('c', 'save'), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(resultsOf(script.requests[1]), ['Saved as x7.'])
    assert.equal(ofType('tool.end')[0]!.data, { id: 'x7', rows: 1 })
    assert.not.match(JSON.stringify(script.requests), /"rows"/)
  })

  it('is read by the model too without toModel', async (context) => {
    const { output: _, ...shown } = { output: saved }
    const plain = defineTool({
      name: 'save',
      description: 'Saves.',
      input: z.object({}),
      output: saved,
      run: () => ({ id: 'x7' }),
      ...shown,
    })
    const { agent, script, ofType } = await startAgent(context, {
      tools: [plain],
      replies: [calls('c', 'save'), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(resultsOf(script.requests[1]), ['{"id":"x7","rows":1}'])
    assert.equal(ofType('tool.end')[0]!.data, { id: 'x7', rows: 1 })
  })

  it('is joined with what the tool gives by name, the last of a name, and no field of the value is lost', async (context) => {
    const both = save({
      run: (_, { give }) => {
        give([1], 'table')
        give([2], 'table')
        give('other', 'id')
        give('nobody')
        return { id: 'x7' }
      },
    })
    const list = defineTool({
      name: 'list',
      description: 'Lists.',
      input: z.object({}),
      run: (_, { give }) => {
        give(1, 'a')
        return ['b']
      },
      toModel: () => 'listed',
    })
    const tools = [both, list, giving(({ give }) => (give({ a: 1 }), give(2, 'b'), 'shown'))]
    const replies = [calls('c', 'save', 'list', 'show'), 'done']
    const { agent, script, ofType } = await startAgent(context, { tools, replies })
    await agent.prompt('go').result
    assert.equal(
      ofType('tool.end')
        .map(({ name, data }) => [name, data])
        .toSorted(([one], [other]) => String(one).localeCompare(String(other))),
      [
        ['list', { a: 1, value: ['b'] }],
        ['save', { table: [2], id: 'x7', rows: 1 }],
        ['show', { a: 1, b: 2 }],
      ],
    )
    assert.equal(resultsOf(script.requests[1]), ['Saved as x7.', 'listed', 'shown'])
  })

  it('is not there for a tool that gives none: its record has the fields that it always had', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      tools: [tool('look', () => ({ a: 1 }))],
      replies: [calls('c', 'look'), 'done'],
    })
    await agent.prompt('go').result
    const { time: _, agentId: __, path: ___, ...record } = ofType('tool.end')[0]!
    assert.is(
      JSON.stringify(record),
      '{"v":3,"seq":7,"type":"tool.end","runId":"a1/r0","turnIndex":0,"nodeId":3,"parentId":2,"callId":"c0","key":"a1/t0/tool/c0","name":"look","message":{"role":"toolResult","callId":"c0","toolName":"look","content":[{"type":"text","text":"{\\"a\\":1}"}],"isError":false}}',
    )
  })

  it('must be JSON: the place is named where it is given, and a value that does not fit is an error for the model', async (context) => {
    const tools = [
      giving(({ give }) => give({ rows: [{ id: 1n }] }, 'table')),
      save({ run: () => ({ id: 7 }) as never }),
      defineTool({
        name: 'big',
        description: 'Big.',
        input: z.object({}),
        run: () => ({ n: [1n] }),
        toModel: () => 'ok',
      }),
    ]
    const { agent, script, ofType } = await startAgent(context, {
      tools,
      replies: [calls('c', 'show', 'save', 'big'), 'done'],
    })
    await agent.prompt('go').result
    const [shown, misfit, big] = resultsOf(script.requests[1])
    assert.is(shown, 'What is given is not JSON: rows.0.id: JSON has no bigint')
    assert.match(misfit!, /^The tool finished, but its result does not fit its output schema: id: .*string/)
    assert.is(big, 'The tool finished, but its result is not JSON: n.0: JSON has no bigint')
    assert.equal(
      ofType('tool.end').map(({ data, message }) => [data, message.isError]),
      Array.from({ length: 3 }, () => [undefined, true]),
    )
  })

  it('stays when toModel throws, which people are told once, and the model reads the value', async (context) => {
    const warned = caughtWarnings(context)
    const broken = save({
      toModel: () => {
        throw new Error('no words')
      },
    })
    const { agent, script, ofType } = await startAgent(context, {
      tools: [broken],
      replies: [calls('c', 'save', 'save'), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(resultsOf(script.requests[1]), Array(2).fill('{"id":"x7","rows":1}'))
    assert.equal(ofType('tool.end')[0]!.data, { id: 'x7', rows: 1 })
    await quiet()
    assert.is(warned.length, 1)
    assert.match(String(warned[0]), /toModel of tool "save".*no words/s)
  })

  it('loses secrets, and a call that fails has none', async (context) => {
    const tools = [
      giving(({ give }) => (give({ key: 'hunter2-hunter2' }), 'ok')),
      tool('fail', (_, { give }) => {
        give(1)
        throw new Error('no')
      }),
    ]
    const redact = { secrets: { PASSWORD: 'hunter2-hunter2' } }
    const { agent, ofType } = await startAgent(context, {
      tools,
      redact,
      replies: [calls('c', 'show', 'fail'), 'done'],
    })
    await agent.prompt('go').result
    const [shown, failed] = ofType('tool.end').toSorted((a, b) => (a.callId < b.callId ? -1 : 1))
    assert.match(JSON.stringify(shown!.data), /"key":"(?!hunter2)/)
    assert.is(failed!.data, undefined)
  })

  it('is kept beside the log when it is large, and only its size when it cannot be', async (context) => {
    const million = 'x'.repeat(1_000_000)
    const give = giving((given) => (given.give(million), 'ok'))
    const store = memoryStore()
    const first = await startAgent(context, { store, tools: [give], replies: [calls('c', 'show'), 'done'] })
    await first.agent.prompt('go').result
    const [end] = first.ofType('tool.end')
    assert.is(end!.data, undefined)
    const apart = end!.dataApart!
    assert.ok('artifact' in apart)
    const { artifact, preview } = apart
    assert.equal([artifact.agentId, artifact.bytes, artifact.mimeType], ['a1', 1_000_002, 'application/json'])
    assert.is(preview.length, 500)
    assert.equal(JSON.parse(new TextDecoder().decode(await store.snapshots!.get('a1', artifact.id))), million)
    assert.ok(!JSON.stringify(first.script.requests).includes(artifact.id.slice(0, 12)))

    const warned = caughtWarnings(context)
    const full = {
      maxFileBytes: 1,
      put: () => Promise.reject(new Error('full')),
      get: () => Promise.resolve(undefined),
    }
    const small = { ...memoryStore(), snapshots: full }
    const second = await startAgent(context, { store: small, tools: [give], replies: [calls('c', 'show'), 'done'] })
    await second.agent.prompt('go').result
    assert.equal(second.ofType('tool.end')[0]!.dataApart, { lost: 1_000_002 })
    await quiet()
    assert.match(String(warned[0]), /1000002 bytes/)
  })

  it('is shown to afterTool, and goes with a result that it replaces', async (context) => {
    const seen: unknown[] = []
    const { agent, ofType } = await startAgent(context, {
      tools: [save()],
      replies: [calls('c', 'save', 'save'), 'done'],
      toolExecution: 'sequential',
      afterTool: ({ callId }, { data }) => {
        seen.push(data)
        return callId === 'c0' ? undefined : { result: 'hidden' }
      },
    })
    await agent.prompt('go').result
    assert.equal(seen, [
      { id: 'x7', rows: 1 },
      { id: 'x7', rows: 1 },
    ])
    assert.equal(
      ofType('tool.end').map(({ data, hook }) => [data, hook]),
      [
        [{ id: 'x7', rows: 1 }, undefined],
        [undefined, 'replaced'],
      ],
    )
  })

  it('comes with the result of a client, whose values are concluded too', async (context) => {
    const locate = defineTool({ name: 'locate', description: 'Where.', input: z.object({}) })
    const pick = defineTool({
      name: 'pick',
      description: 'Picks.',
      input: z.object({}),
      output: saved,
      toModel: ({ id }) => `picked ${id}`,
    })
    const { agent, script, ofType, untilState } = await startAgent(context, {
      tools: [locate, pick],
      replies: [calls('c', 'locate', 'pick', 'pick'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', { result: 'here', data: { lat: 48.4 } })
    agent.decide('c1', { result: { id: 'a' }, data: 'dropped' })
    agent.decide('c2', { result: { id: 1 } })
    await run.result
    const results = resultsOf(script.requests[1])
    assert.equal(results.slice(0, 2), ['here', 'picked a'])
    assert.match(results[2]!, /does not fit its output schema/)
    assert.equal(
      ofType('tool.end')
        .toSorted((a, b) => (a.callId < b.callId ? -1 : 1))
        .map(({ data }) => data),
      [{ lat: 48.4 }, { id: 'a', rows: 1 }, undefined],
    )
  })

  it('is in the log: an agent that is resumed has it in its records, and asks as before', async (context) => {
    const folder = await storeFolder(context)
    const model = scriptedModel([calls('c', 'save'), 'done', 'again'])
    const definition = defineAgent({ name: 'saver', model, tools: [save()] })
    const first = await createRuntime({ store: folder.store() })
    const agent = await first.spawn(definition, { id: 'a1' })
    await agent.prompt('go').result
    await first.close()
    const second = await createRuntime({ store: folder.store() })
    context.cleanup(() => second.close())
    const resumed = await second.resume('a1', definition)
    await resumed.prompt('more').result
    assert.equal(resultsOf(model.requests[2]), ['Saved as x7.'])
    assert.not.match(JSON.stringify(model.requests), /"rows"/)
    const data: unknown[] = []
    for await (const record of folder.store().read('a1')) if (record.type === 'tool.end') data.push(record.data)
    assert.equal(data, [{ id: 'x7', rows: 1 }])
  })

  it('loses secrets beside the log too', async (context) => {
    const store = memoryStore()
    const { agent, ofType } = await startAgent(context, {
      store,
      redact: { secrets: { PASSWORD: 'hunter2-hunter2' } },
      tools: [giving(({ give }) => (give(`hunter2-hunter2 ${'x'.repeat(70_000)}`), 'ok'))],
      replies: [calls('c', 'show'), 'done'],
    })
    await agent.prompt('go').result
    const apart = ofType('tool.end')[0]!.dataApart!
    assert.ok('artifact' in apart)
    const { artifact } = apart
    assert.not.match(new TextDecoder().decode(await store.snapshots!.get('a1', artifact.id)), /hunter2/)
  })

  it('is the raw output of a tool of the AI SDK with toModelOutput', async (context) => {
    const raw = {
      inputSchema: z.object({}),
      execute: () => ({ rows: [1, 2] }),
      toModelOutput: () => ({ type: 'text', value: 'two rows' }),
    }
    const tools = aiSdkTools({ raw }) as Tool[]
    const { agent, script, ofType } = await startAgent(context, { tools, replies: [calls('c', 'raw'), 'done'] })
    await agent.prompt('go').result
    assert.equal([resultsOf(script.requests[1]), ofType('tool.end')[0]!.data], [['two rows'], { rows: [1, 2] }])
  })

  it('needs a schema and functions', () => {
    assert.throws(() => save({ toModel: 'x' as never }), withCode('INVALID_DEFINITION', 'toModel'))
    assert.throws(
      () => defineTool({ name: 'a', description: 'A.', input: nothing, output: {} as never }),
      withCode('INVALID_DEFINITION', 'output'),
    )
  })
})
