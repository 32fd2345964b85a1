import { z } from 'zod'
import { createRuntime, deferred, defineAgent, defineTool, type Agent, type LogRecord } from '../../src/index.ts'
import { memoryStore, policyModel } from '../../src/index.ts'
import { calls, gate, quiet, resultsOf, saidIn, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { cutStore, recordsOf, settled } from './cutLogs.ts'

const nothing = z.object({})

const answer = defineTool({
  name: 'answer',
  description: 'Answers.',
  input: nothing,
  output: z.object({ id: z.string() }),
  endsRun: true,
  run: () => ({ id: 'x7' }),
  toModel: ({ id }) => `Saved as ${id}.`,
})

const plain = (name: string, endsRun: true | (() => boolean), run: () => unknown = () => `${name} said`) =>
  defineTool({ name, description: name, input: nothing, endsRun, run })

const fails = plain('fails', true, () => {
  throw new Error('no')
})

describe('a tool that ends the run', (it) => {
  it('is the last thing asked: its text is the result, and the next prompt follows it', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      tools: [answer],
      replies: [calls('c', 'answer'), 'more'],
    })
    const result = await agent.prompt('go').result
    assert.equal([result.stopReason, result.text, result.output], ['stop', 'Saved as x7.', undefined])
    assert.equal(ofType('run.end')[0]!.endedBy, { callId: 'c0', name: 'answer' })
    assert.equal(ofType('tool.end')[0]!.endsRun, true)
    assert.is(script.requests.length, 1)
    assert.is(agent.conversation.trunk().at(-1)!.message.role, 'toolResult')
    assert.match(script.requests[0]!.tools[0]!.description, /^Answers\. A call that succeeds ends your work/)
    assert.is((await agent.prompt('next').result).text, 'more')
    assert.is(ofType('run.end')[1]!.endedBy, undefined)
    assert.equal(saidIn(script.requests[1]), ['go', 'next'])
  })

  it('gives the answer as data where it fits the schema of the agent; else the model is told, and goes on', async (context) => {
    const text = plain('text', true)
    const { agent, script, ofType } = await startAgent(context, {
      tools: [answer, text],
      output: z.object({ id: z.string() }),
      replies: [calls('c', 'text'), calls('d', 'answer')],
    })
    const result = await agent.prompt('go').result
    assert.equal([result.text, result.output], ['Saved as x7.', { id: 'x7' }])
    assert.equal(resultsOf(script.requests[1]), ['text said[This is no answer yet: it is not JSON.]'])
    assert.equal(
      ofType('tool.end').map(({ endsRun, answer: fits }) => [endsRun, fits]),
      [
        [undefined, undefined],
        [true, true],
      ],
    )
  })

  it('ends it beside others once all are done, but not if one that could have ended it failed', async (context) => {
    const look = tool('look', () => 'seen')
    const never = plain('never', () => false)
    const { agent, script, ofType } = await startAgent(context, {
      tools: [answer, fails, look, never],
      replies: [calls('c', 'answer', 'fails'), calls('d', 'look', 'never'), calls('e', 'look', 'answer', 'never')],
    })
    const result = await agent.prompt('go').result
    assert.is(result.text, 'Saved as x7.')
    assert.is(script.requests.length, 3)
    assert.equal(
      ofType('tool.end')
        .map(({ name, endsRun }) => [name, endsRun])
        .filter(([, ends]) => ends !== undefined)
        .toSorted(([one], [other]) => String(one).localeCompare(String(other))),
      [
        ['answer', true],
        ['answer', true],
        ['fails', false],
      ],
    )
  })

  it('goes on where somebody has steered meanwhile, and what is said after it comes next', async (context) => {
    const open = gate<string>()
    const { agent, script, ofType, untilState } = await startAgent(context, {
      tools: [plain('slow', true, () => open.promise)],
      replies: [calls('c', 'slow'), 'heard'],
    })
    const run = agent.prompt('go')
    await untilState('executing')
    await quiet()
    agent.steer('wait')
    open.resolve('done')
    assert.is((await run.result).text, 'heard')
    assert.equal([resultsOf(script.requests[1]), saidIn(script.requests[1])], [['done'], ['go', 'wait']])
    assert.is(ofType('run.end')[0]!.endedBy, undefined)
  })

  it('does not end it where its function throws or a hook says no, and ends it where a hook says so', async (context) => {
    const odd = plain('odd', () => {
      throw new Error('odd')
    })
    const { agent, ofType } = await startAgent(context, {
      tools: [odd, answer, tool('look', () => 'seen')],
      replies: [calls('c', 'odd'), calls('d', 'answer'), calls('e', 'look')],
      afterTool: ({ name }) =>
        name === 'answer' ? { endsRun: false } : name === 'look' ? { result: 'looked', endsRun: true } : undefined,
    })
    assert.is((await agent.prompt('go').result).text, 'looked')
    assert.equal(ofType('run.end')[0]!.endedBy, { callId: 'e0', name: 'look' })
    assert.equal(ofType('tool.end')[1]!.data, { id: 'x7' })
  })

  it('may be found by words: it is the found tool that ends it, not the one that calls it', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      tools: [deferred([answer, plain('never', () => false)])],
      replies: [
        calls('f', ['find_tools', { query: 'answer' }]),
        calls('c', ['call_tool', { name: 'never', input: {} }]),
        calls('d', ['call_tool', { name: 'answer', input: {} }]),
        'more',
      ],
    })
    const result = await agent.prompt('go').result
    assert.equal([result.stopReason, result.text], ['stop', 'Saved as x7.'])
    assert.equal(ofType('run.end')[0]!.endedBy, { callId: 'd0', name: 'answer' })
    assert.equal(
      ofType('tool.end').map(({ name, endsRun, data }) => [name, endsRun, data]),
      [
        ['find_tools', undefined, undefined],
        ['never', undefined, undefined],
        ['answer', true, { id: 'x7' }],
      ],
    )
    assert.is(script.requests.length, 3)
    assert.match(resultsOf(script.requests[1])[0]!, /A call that succeeds ends your work/)
    assert.is((await agent.prompt('next').result).text, 'more')
  })

  it('may be carried out by a client', async (context) => {
    const pick = defineTool({ name: 'pick', description: 'Picks.', input: nothing, endsRun: true })
    const { agent, ofType, untilState } = await startAgent(context, { tools: [pick], replies: [calls('c', 'pick')] })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', { result: 'the red one', data: { colour: 'red' } })
    assert.is((await run.result).text, 'the red one')
    assert.equal([ofType('tool.end')[0]!.data, ofType('tool.end')[0]!.value], [{ colour: 'red' }, 'the red one'])
  })

  it('answers for a sub-agent with its value', async (context) => {
    const child = defineAgent({
      name: 'child',
      description: 'Saves.',
      model: policyModel(() => ({ toolCalls: [{ name: 'answer', input: {} }] })),
      tools: [answer],
    })
    const { agent, script } = await startAgent(context, {
      agents: [child],
      replies: [calls('c', ['child', { task: 'save' }]), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(resultsOf(script.requests[1]), ['{"id":"x7"}'])
  })

  it('leaves the model to answer where the branch with its result is abandoned', async (context) => {
    const { agent, ofType } = await startAgent(context, { tools: [answer], replies: [calls('c', 'answer'), 'again'] })
    await agent.prompt('go').result
    agent.revert('n1', { category: 'tangent' })
    assert.is((await agent.prompt('more').result).text, 'again')
    assert.equal(
      ofType('run.end').map(({ endedBy }) => endedBy?.name),
      ['answer', undefined],
    )
  })

  it('ends it once, wherever the process dies, with the same result', { timeoutMs: 20_000 }, async ({ cleanup }) => {
    let ran = 0
    const once = defineTool({
      name: 'once',
      description: 'Once.',
      input: nothing,
      output: z.object({ n: z.int() }),
      endsRun: true,
      effects: 'idempotent',
      run: (_, { give }) => {
        ran += 1
        give([ran], 'table')
        return { n: 1 }
      },
      toModel: () => 'done',
    })
    const look = tool('look', () => 'seen', { effects: 'none' })
    const definition = defineAgent({
      name: 'a',
      model: policyModel(() => ({
        toolCalls: [
          { name: 'look', input: {} },
          { name: 'once', input: {} },
        ],
      })),
      output: z.object({ n: z.int() }),
      toolExecution: 'sequential',
      tools: [once, look],
    })
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const first = await runtime.spawn(definition, { id: 'a1' })
    const whole = await first.prompt('go').result
    assert.equal([whole.text, whole.output], ['done', { n: 1 }])
    const past = await recordsOf(store, 'a1')
    const lastOf = (agent: Agent): unknown => agent.conversation.trunk().at(-1)!.message
    const from = past.findIndex(({ type }) => type === 'turn.start') + 1
    for (let end = from; end <= past.length; end++) {
      const cut: readonly LogRecord[] = past.slice(0, end)
      const over = await cutStore('a1', cut)
      const next = await createRuntime({ store: over })
      const agent = await next.resume('a1', definition, { continue: false })
      if (agent.pause !== null) {
        const ended = settled(agent)
        const result = await agent.resume().result
        await ended
        assert.equal([result.stopReason, result.text, result.output], ['stop', 'done', { n: 1 }], `after record ${end}`)
      }
      const records = await recordsOf(over, 'a1')
      const ends = records.filter((record) => record.type === 'run.end' && record.stopReason === 'stop')
      assert.equal(
        ends.map((record) => 'endedBy' in record && record.endedBy?.name),
        ['once'],
        `after record ${end}`,
      )
      assert.is((lastOf(agent) as { toolName?: string }).toolName, 'once')
      assert.equal((await agent.result())?.output, { n: 1 }, `after record ${end}`)
      await next.close()
    }
  })
})
