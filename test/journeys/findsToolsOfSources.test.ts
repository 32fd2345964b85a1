import { createRuntime, defineAgent, deferred, memoryStore } from '../../src/index.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { calls, resultsOf, startAgent, tool, type Harness } from '../support/agentHarness.ts'
import { scriptedSource } from '../support/scriptedSource.ts'
import { assert, describe } from '../support/suite.ts'
import { checkRebuild, openRuntime } from './forking.ts'

const look = tool('look', () => 'seen', { description: 'Looks at the harbour.' })
const write = tool('write', () => 'written', { description: 'Writes a letter.' })

const find = (id: string, query: string): ScriptedReply => calls(id, ['find_tools', { query }])
const through = (id: string, ...names: readonly string[]): ScriptedReply =>
  calls(id, ...names.map((name) => ['call_tool', { name, input: {} }] as const))

const namesOf = (tools: readonly { readonly name: string }[]): string[] => tools.map(({ name }) => name)
const offered = ({ script }: Harness): string[][] => script.requests.map(({ tools }) => namesOf(tools))
/** First lines of the results in the last request. */
const lines = ({ script }: Harness): (string | undefined)[] =>
  resultsOf(script.requests.at(-1)).map((text) => text.split('\n')[0])

describe('deferred tools of a source', (it) => {
  it('come and go without a byte of the frame', async (context) => {
    const server = scriptedSource('srv', [look])
    const harness = await startAgent(context, {
      tools: [
        tool('change', () => {
          server.has(write)
          return 'changed'
        }),
        deferred([server]),
      ],
      replies: [
        find('a', 'harbour letter'),
        through('b', 'look'),
        calls('c', 'change'),
        through('d', 'look'),
        find('e', 'harbour letter'),
        through('f', 'write'),
        'done',
      ],
    })
    await harness.agent.prompt('go').result
    const { requests } = harness.script
    for (const { tools, system } of requests)
      assert.equal([JSON.stringify(tools), system], [JSON.stringify(requests[0]!.tools), requests[0]!.system])
    assert.equal(offered(harness)[0], ['change', 'find_tools', 'call_tool'])
    const results = resultsOf(requests.at(-1))
    assert.match(results[0]!, /look\(input\?: .*$/s)
    assert.equal(results.slice(1, 3), ['seen', 'changed'])
    assert.is(results[3], 'There is no tool "look". Find tools with find_tools.')
    assert.match(results[4]!, /Writes a letter/)
    assert.not.match(results[4]!, /harbour/)
    assert.is(results[5], 'written')
    const changes = (await harness.records()).flatMap((record) =>
      record.type === 'tools.changed'
        ? [[record.added.map(({ name, deferred: mark }) => [name, mark]), record.removed]]
        : [],
    )
    assert.equal(changes, [
      [[['look', true]], []],
      [[['write', true]], ['look']],
    ])
  })

  it('that changed after the call was planned are not run', async (context) => {
    const server = scriptedSource('srv', [look])
    const harness = await startAgent(context, {
      toolExecution: 'sequential',
      tools: [
        tool('change', () => {
          server.has(tool('look', () => 'another', { description: 'Does something else.' }))
          return 'changed'
        }),
        deferred([server]),
      ],
      replies: [calls('a', 'change', ['call_tool', { name: 'look', input: {} }]), 'done'],
    })
    await harness.agent.prompt('go').result
    assert.match(lines(harness)[1]!, /^"look" is no longer as it was offered to you/)
  })

  it('are still found and called by name while it is down, and say what is wrong', async (context) => {
    const server = scriptedSource('srv', [look])
    const harness = await startAgent(context, {
      tools: [deferred([server])],
      replies: ['1', find('a', 'harbour'), through('b', 'look'), '2'],
    })
    await harness.agent.prompt('1').result
    server.goDown('the process exited')
    server.has()
    await harness.agent.prompt('2').result
    const [, called] = lines(harness)
    assert.match(resultsOf(harness.script.requests.at(-1))[0]!, /Looks at the harbour/)
    assert.is(called, '"look" cannot be called: srv is not there (the process exited).')
  })

  it('are called by the tool of the runtime, also where another source has one of its name', async (context) => {
    const server = { ...scriptedSource('srv', [look, write]), deferAbove: 1 }
    const other = scriptedSource('other', [tool('own', () => 'own')])
    const harness = await startAgent(context, {
      tools: [server, other],
      replies: [
        '1',
        calls('a', ['call_tool', { name: 'nothing', input: {} }], ['find_tools', { query: 'harbour' }]),
        '2',
      ],
    })
    await harness.agent.prompt('1').result
    server.goDown('the process exited')
    server.has()
    other.has(
      tool('own', () => 'own'),
      tool('call_tool', () => 'taken'),
      tool('find_tools', () => 'taken'),
    )
    await harness.agent.prompt('2').result
    assert.equal(offered(harness).at(-1), ['find_tools', 'call_tool', 'own'])
    const [called, found] = resultsOf(harness.script.requests.at(-1))
    assert.match(called!, /^There is no tool "nothing"/)
    assert.match(found!, /Looks at the harbour/)
  })

  it('are found and called as they were after a restart, while it is not there', async (context) => {
    const server = scriptedSource('srv', [look])
    const definition = (...replies: ScriptedReply[]) => {
      const model = scriptedModel(replies)
      return { model, agent: defineAgent({ name: 'tester', model, tools: [deferred([server])] }) }
    }
    const store = { ...memoryStore(), close: async () => {} }
    const before = await createRuntime({ store })
    const first = definition('1')
    const agent = await before.spawn(first.agent, { id: 'a1' })
    await agent.prompt('1').result
    await before.close({ detach: true })
    server.goDown('it does not start')
    server.has()
    const after = await createRuntime({ store })
    context.cleanup(() => after.close())
    const second = definition(find('a', 'harbour'), through('b', 'look'), '2')
    const again = await after.resume('a1', second.agent)
    await again.prompt('2').result
    assert.is(JSON.stringify(second.model.requests[0]!.tools), JSON.stringify(first.model.requests[0]!.tools))
    const [found, called] = resultsOf(second.model.requests.at(-1))
    assert.match(found!, /Looks at the harbour/)
    assert.match(called!, /^"look" cannot be called: srv is not there/)
  })

  it('are listed by one agent and found by another that has the same source', async (context) => {
    const server = scriptedSource('srv', [look])
    const listing = await startAgent(context, { tools: [server], replies: [calls('a', 'look'), 'done'] })
    const finding = await startAgent(context, {
      tools: [deferred([server])],
      replies: [through('a', 'look'), 'done'],
    })
    await listing.agent.prompt('go').result
    await finding.agent.prompt('go').result
    assert.equal([offered(listing)[0], offered(finding)[0]], [['look'], ['find_tools', 'call_tool']])
    assert.equal([lines(listing), lines(finding)], [['seen'], ['seen']])
  })

  it('cannot be the one that every request must call', async (context) => {
    const source = scriptedSource('srv', [look])
    const settings = { toolChoice: { tool: 'look' } }
    const finding = await startAgent(context, { tools: [deferred([source])], settings, replies: ['done'] })
    const listing = await startAgent(context, { tools: [source], settings, replies: ['done'] })
    await finding.agent.prompt('go').result
    await listing.agent.prompt('go').result
    assert.equal(
      [finding, listing].map(({ script }) => script.requests[0]!.settings),
      [{}, settings],
    )
  })

  it('are put behind its name where one of the two has theirs', async (context) => {
    const server = scriptedSource('srv', [tool('call_tool', () => 'its own'), look])
    const harness = await startAgent(context, {
      tools: [deferred([server])],
      replies: [through('a', 'srv_call_tool', 'look'), 'done'],
    })
    await harness.agent.prompt('go').result
    assert.equal(lines(harness), ['its own', 'seen'])
  })
})

describe('a source with more tools than it wants to have listed', (it) => {
  it('has them deferred while there are so many, beside what is listed', async (context) => {
    const server = { ...scriptedSource('srv', [look]), deferAbove: 1 }
    const other = scriptedSource('other', [tool('plain', () => 'plain')])
    const harness = await startAgent(context, {
      tools: [
        tool('change', () => {
          server.has(look, write)
          return 'changed'
        }),
        server,
        other,
      ],
      replies: [calls('a', 'look', 'change'), find('b', 'letter'), through('c', 'write', 'plain'), 'done'],
    })
    await harness.agent.prompt('go').result
    assert.equal(offered(harness), [
      ['change', 'look', 'plain'],
      ['change', 'find_tools', 'call_tool', 'plain'],
      ['change', 'find_tools', 'call_tool', 'plain'],
      ['change', 'find_tools', 'call_tool', 'plain'],
    ])
    const results = lines(harness)
    assert.equal(
      [results[0], results[1], results[3], results[4]],
      ['seen', 'changed', 'written', '"plain" is listed among your tools: call it itself, not by call_tool.'],
    )
  })

  it('has its own tool by the name of one of the two put behind its name', async (context) => {
    const server = { ...scriptedSource('srv', [tool('find_tools', () => 'its own'), look]), deferAbove: 1 }
    const harness = await startAgent(context, {
      tools: [server],
      replies: [find('a', 'harbour'), through('b', 'srv_find_tools'), 'done'],
    })
    await harness.agent.prompt('go').result
    assert.equal(offered(harness)[0], ['find_tools', 'call_tool'])
    assert.equal(lines(harness), ['Call one with call_tool: {"name": …, "input": {…}}.', 'its own'])
  })

  it('has them listed if the agent has a tool of its own by the name of one of the two', async (context) => {
    const server = { ...scriptedSource('srv', [look, write]), deferAbove: 1 }
    const harness = await startAgent(context, {
      tools: [tool('call_tool', () => 'its own'), server],
      replies: [calls('a', ['call_tool', { name: 'look', input: {} }], 'look'), 'done'],
    })
    await harness.agent.prompt('go').result
    assert.equal(offered(harness)[0], ['call_tool', 'look', 'write'])
    assert.equal(lines(harness), ['its own', 'seen'])
  })
})

describe('a conversation with calls of deferred tools', (it) => {
  it('is the same to the model after a fork', async (context) => {
    const options = { tools: [deferred([look])] }
    const { agent, store, script } = await startAgent(context, {
      ...options,
      replies: [through('a', 'look'), 'found'],
    })
    await agent.prompt('search').result
    await forkSession(store, 'a1', 'n3', { id: 'f1' })
    const runtime = await openRuntime(context, store)
    const model = scriptedModel(['found it another way'])
    const fork = await runtime.resume('f1', defineAgent({ name: 'tester', model, ...options }), { continue: false })
    await fork.resume().result
    assert.equal(model.requests[0]!.messages, script.requests[1]!.messages)
    assert.equal(JSON.stringify(model.requests[0]!.tools), JSON.stringify(script.requests[1]!.tools))
    await checkRebuild(store, fork)
  })

  it('is handed over to an agent that has none, with the calls as they were made', async (context) => {
    const model = scriptedModel(['taken over'])
    const other = defineAgent({ name: 'other', model, tools: [tool('own', () => 'mine')] })
    const { agent } = await startAgent(context, {
      tools: [deferred([look])],
      handoffs: [other],
      replies: [through('a', 'look'), calls('b', 'transfer_to_other')],
    })
    assert.is((await agent.prompt('go').result).text, 'taken over')
    const [request] = model.requests
    assert.equal(namesOf(request!.tools), ['own'])
    const called = request!.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'toolCall' ? [block.name] : [])),
    )
    const results = request!.messages.flatMap((message) => (message.role === 'toolResult' ? [message.toolName] : []))
    assert.equal(
      [called, results],
      [
        ['call_tool', 'transfer_to_other'],
        ['call_tool', 'transfer_to_other'],
      ],
    )
  })

  it('is handed over to an agent that has others', async (context) => {
    const model = scriptedModel([through('b', 'write', 'look'), 'taken over'])
    const other = defineAgent({ name: 'other', model, tools: [deferred([write])] })
    const { agent } = await startAgent(context, {
      tools: [tool('own', () => 'mine'), look],
      handoffs: [other],
      replies: [calls('a', 'transfer_to_other')],
    })
    await agent.prompt('go').result
    assert.equal(namesOf(model.requests[0]!.tools), ['find_tools', 'call_tool'])
    assert.equal(resultsOf(model.requests[1]).slice(1), [
      'written',
      'There is no tool "look". Find tools with find_tools.',
    ])
  })

  it('is known to a sub-agent that begins with it, and each has its own', async (context) => {
    const model = scriptedModel([through('s', 'write', 'look'), 'helped'])
    const helper = defineAgent({ name: 'helper', model, tools: [deferred([write])] })
    const { agent, script } = await startAgent(context, {
      tools: [deferred([look])],
      agents: [{ definition: helper, context: 'fork' }],
      replies: [through('a', 'look'), calls('b', ['helper', { task: 'help' }]), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(namesOf(script.requests[0]!.tools), ['find_tools', 'call_tool', 'helper'])
    assert.equal(resultsOf(model.requests[1]).slice(-2), [
      'written',
      'There is no tool "look". Find tools with find_tools.',
    ])
    const [first] = model.requests[0]!.messages.flatMap(({ content }) =>
      content.filter((block) => block.type === 'toolCall'),
    )
    assert.equal([first!.name, first!.input], ['call_tool', { name: 'look', input: {} }])
  })

  it('names the tool where a revert says what stands, and undoes by it', async (context) => {
    const undone: unknown[] = []
    const paint = tool(
      'paint',
      (_, { keep }) => {
        keep({ was: 'grey' })
        return 'painted'
      },
      { effects: 'reversible', undo: ({ input, receipt }) => void undone.push([input, receipt]) },
    )
    const { agent, script } = await startAgent(context, {
      tools: [deferred([write, paint])],
      braking: { revert: { undo: true } },
      replies: [
        calls(
          'a',
          ['call_tool', { name: 'write', input: { to: 'Ada' } }],
          ['call_tool', { name: 'paint', input: { it: 'red' } }],
        ),
        calls('b', ['revert_to_state', { category: 'failure', step: 'n1', summary: 'no use', undo: true }]),
        'done',
      ],
    })
    await agent.prompt('go').result
    assert.equal(undone, [[{ it: 'red' }, { was: 'grey' }]])
    const seen = JSON.stringify(script.requests.at(-1)!.messages)
    assert.match(seen, /cannot be undone: write \{\\"to\\":\\"Ada\\"\}/)
    assert.not.match(seen, /call_tool/)
  })

  it('has no secret of the arguments', async (context) => {
    const { agent, script, records } = await startAgent(context, {
      tools: [deferred([look])],
      redact: { secrets: { token: 'hunter2-hunter2' } },
      replies: [calls('a', ['call_tool', { name: 'look', input: { token: 'hunter2-hunter2' } }]), 'done'],
    })
    await agent.prompt('go').result
    assert.not.match(JSON.stringify([await records(), script.requests]), /hunter2/)
    assert.match(JSON.stringify(await records()), /"name":"look","input":\{"token":"\[redacted:token\]"\}/)
  })
})
