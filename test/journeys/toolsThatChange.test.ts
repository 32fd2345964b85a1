import { defineAgent, defineTool, type Tool } from '../../src/index.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { z } from 'zod'
import { calls, resultsOf, startAgent, tool, type Harness } from '../support/agentHarness.ts'
import { scriptedSource } from '../support/scriptedSource.ts'
import { assert, describe } from '../support/suite.ts'

const own = tool('own', () => 'mine')
const look = tool('look', () => 'seen')
const find = tool('find', () => 'found')

const names = (tools: readonly { readonly name: string }[] | undefined): string[] =>
  (tools ?? []).map(({ name }) => name)

const offered = ({ script }: Harness): string[][] => script.requests.map(({ tools }) => names(tools))

const changes = async ({ records }: Harness): Promise<unknown[]> =>
  (await records()).flatMap((record) =>
    record.type === 'tools.changed' ? [[record.turnIndex, names(record.added), record.removed]] : [],
  )

const described = (name: string, description: string): Tool =>
  defineTool({ name, description, input: z.looseObject({}), run: () => `${name} ran` })

describe('tools of a source', (it) => {
  it('are asked for before a turn, recorded when they change, and offered after all others', async (context) => {
    const server = scriptedSource('srv', [look])
    const change = tool('change', () => {
      server.has(look, find)
      return 'changed'
    })
    const harness = await startAgent(context, {
      tools: [server, own, change],
      agents: [defineAgent({ name: 'helper', model: scriptedModel([]) })],
      braking: { revert: true },
      replies: [calls('a', 'look'), calls('b', 'change'), calls('c', 'find'), 'done'],
    })
    const { agent, script } = harness
    await agent.prompt('go').result
    const fixed = ['own', 'change', 'revert_to_state', 'helper']
    assert.equal(offered(harness), [
      [...fixed, 'look'],
      [...fixed, 'look'],
      [...fixed, 'look', 'find'],
      [...fixed, 'look', 'find'],
    ])
    assert.is(script.requests[0]!.tools, script.requests[1]!.tools)
    assert.is(script.requests[2]!.tools, script.requests[3]!.tools)
    assert.equal(
      resultsOf(script.requests[3]).map((text) => text.split('\n')[0]),
      ['seen', 'changed', 'found'],
    )
    assert.equal(await changes(harness), [
      [0, ['look'], []],
      [2, ['find'], []],
    ])
  })

  it('are the same in another order, and a changed one keeps its place', async (context) => {
    const tools = [described('a', 'first'), described('b', 'first'), described('c', 'first')]
    const [a, b, c] = tools as [Tool, Tool, Tool]
    const server = scriptedSource('srv', tools)
    const harness = await startAgent(context, { tools: [server], replies: ['1', '2', '3', '4'] })
    const { agent, script } = harness
    await agent.prompt('1').result
    server.has(c, b, a)
    await agent.prompt('2').result
    assert.is(script.requests[1]!.tools, script.requests[0]!.tools)
    server.has(c, described('b', 'second'), a)
    await agent.prompt('3').result
    assert.equal(
      script.requests[2]!.tools.map(({ name, description }) => [name, description]),
      [
        ['a', 'first'],
        ['b', 'second'],
        ['c', 'first'],
      ],
    )
    server.has(b, c)
    await agent.prompt('4').result
    assert.equal(await changes(harness), [
      [0, ['a', 'b', 'c'], []],
      [2, ['b'], []],
      [3, ['b'], ['a']],
    ])
  })

  it('stay offered while it is down, and their calls are answered with what is wrong', async (context) => {
    const server = scriptedSource('srv', [look])
    const harness = await startAgent(context, {
      tools: [server],
      replies: ['1', calls('a', 'look', 'later'), '2', '3'],
    })
    const { agent, script, ofType } = harness
    await agent.prompt('1').result
    const dead = tool('look', () => {
      throw new Error('srv is not there')
    })
    server.goDown('the process exited')
    server.has(
      dead,
      tool('later', () => 'too early'),
    )
    await agent.prompt('2').result
    assert.is(script.requests[1]!.tools, script.requests[0]!.tools)
    const [there, unknown] = resultsOf(script.requests[2])
    assert.is(there, 'srv is not there')
    assert.match(unknown!, /^There is no tool "later"/)
    server.comeUp()
    await agent.prompt('3').result
    assert.equal(await changes(harness), [
      [0, ['look'], []],
      [3, ['later'], []],
    ])
    const told = ofType('source.status').map(({ turnIndex, state, tools, trouble }) => [
      turnIndex,
      state,
      tools,
      trouble,
    ])
    assert.equal(told, [
      [0, 'up', ['look'], undefined],
      [1, 'waiting', ['look'], 'the process exited'],
      [3, 'up', ['look', 'later'], undefined],
    ])
  })

  it('are left out with the reason when they are not tools', async (context) => {
    const cyclic: { [key: string]: unknown } = { type: 'object' }
    cyclic['properties'] = { self: cyclic }
    const bad = (change: object): Tool => ({ ...look, ...change })
    const server = scriptedSource('srv', [
      bad({ name: 'a b' }),
      bad({ name: 'x'.repeat(65) }),
      bad({ name: 'cyclic', inputSchema: cyclic }),
      bad({ name: 'list', inputSchema: { type: 'array' } }),
      bad({ name: 'client', external: true }),
      bad({ name: 'mute', description: 7 }),
      bad({ name: 'huge', description: 'x'.repeat(1_000_001) }),
      null as unknown as Tool,
      look,
      look,
    ])
    const harness = await startAgent(context, { tools: [server], replies: ['done'] })
    await harness.agent.prompt('go').result
    assert.equal(offered(harness), [['look']])
    const record = (await harness.records()).find(({ type }) => type === 'tools.changed')
    const said = record?.type === 'tools.changed' ? record.trouble![0]!.message : ''
    assert.match(said, /^left out: a b: its name is not 1 to 64 letters, .*; and 6 more$/)
    assert.is(harness.ofType('source.status')[0]!.trouble, said)
  })

  it('get another name when theirs is taken, and keep that', async (context) => {
    const one = scriptedSource('one', [tool('own', () => 'own of one'), look, tool('helper', () => 'h'), find])
    const two = scriptedSource('two', [tool('look', () => 'look of two'), tool('recall', () => 'r')])
    const harness = await startAgent(context, {
      tools: [own, one, two],
      agents: [defineAgent({ name: 'helper', model: scriptedModel([]) })],
      replies: ['1', '2', calls('a', 'one_own', 'two_look', 'own', 'two_recall'), 'done'],
    })
    const { agent, script } = harness
    await agent.prompt('1').result
    const all = ['own', 'helper', 'one_own', 'look', 'one_helper', 'find', 'two_look', 'two_recall']
    assert.equal(offered(harness)[0], all)
    one.has(tool('own', () => 'own of one'))
    await agent.prompt('2').result
    assert.equal(offered(harness)[1], ['own', 'helper', 'one_own', 'two_look', 'two_recall'])
    await agent.prompt('3').result
    assert.equal(resultsOf(script.requests[3]), ['own of one', 'look of two', 'mine', 'r'])
  })

  it('that come or change between plan and run are not run', async (context) => {
    const ran: string[] = []
    const noting = (name: string, description = name): Tool =>
      defineTool({ name, description, input: z.looseObject({}), run: () => void ran.push(`${name}: ${description}`) })
    const server = scriptedSource('srv', [noting('other')])
    const change = tool('change', () => {
      server.has(noting('other', 'now something else'), noting('fresh'))
      return 'changed'
    })
    const { agent, script } = await startAgent(context, {
      tools: [server, change],
      toolExecution: 'sequential',
      replies: [calls('a', 'other', 'change', 'fresh', 'other'), calls('b', 'fresh', 'other'), 'done'],
    })
    await agent.prompt('go').result
    const [, , fresh, other] = resultsOf(script.requests[1])
    assert.match(fresh!, /^There is no tool "fresh". Your tools: change, other\.$/)
    assert.match(other!, /^"other" is no longer as it was offered to you: srv has changed it/)
    assert.equal(ran, ['other: other', 'fresh: fresh', 'other: now something else'])
  })

  it('that want an approval since they were offered are not run without it', async (context) => {
    const ran: string[] = []
    const guarded = (needsApproval: boolean): Tool => tool('other', () => void ran.push('other'), { needsApproval })
    const server = scriptedSource('srv', [guarded(false)])
    const change = tool('change', () => server.has(guarded(true)))
    const { agent, script, ofType } = await startAgent(context, {
      tools: [server, change],
      toolExecution: 'sequential',
      replies: [calls('a', 'change', 'other'), 'done', calls('b', 'other'), 'done'],
    })
    await agent.prompt('go').result
    assert.match(resultsOf(script.requests[1])[1]!, /^"other" is no longer as it was offered to you/)
    const { result } = agent.prompt('again')
    agent.subscribe((event) => {
      if (event.type === 'approval.requested') agent.decide(event.key, 'deny')
    })
    await result
    assert.is(ofType('approval.requested').length, 1)
    assert.equal(ran, [])
  })

  it('say something in the system prompt, which is recorded', async (context) => {
    const server = scriptedSource('srv', [look])
    server.says('  Look first.\n')
    const harness = await startAgent(context, {
      instructions: 'Be brief.',
      tools: [server],
      replies: ['1', '2', '3'],
    })
    const { agent, script, records } = harness
    await agent.prompt('1').result
    await agent.prompt('2').result
    server.says(undefined)
    await agent.prompt('3').result
    assert.equal(
      script.requests.map(({ system }) => system),
      ['Be brief.\n\nLook first.', 'Be brief.\n\nLook first.', 'Be brief.'],
    )
    const said = (await records()).flatMap((record) => (record.type === 'tools.changed' ? [record.instructions] : []))
    assert.equal(said, [[{ source: 'srv', text: 'Look first.' }], [{ source: 'srv', text: '' }]])
  })

  it('wait for approval as they say, and not before they fit', async (context) => {
    const asks = (name: string, needsApproval: boolean | ((input: { n?: unknown }) => boolean)): Tool =>
      defineTool({
        name,
        description: name,
        input: z.looseObject({ n: z.number().optional() }),
        needsApproval,
        run: () => `${name} ran`,
      })
    const server = scriptedSource('srv', [
      asks('never', false),
      asks('always', true),
      asks('maybe', ({ n }) => n === 1),
    ])
    const { agent, script, records, until } = await startAgent(context, {
      tools: [server],
      replies: [
        calls('a', 'never', 'always', ['maybe', { n: 1 }], ['maybe', { n: 2 }], ['always', { n: 'one' }]),
        'done',
      ],
    })
    const { result } = agent.prompt('go')
    await until((event) => event.type === 'approval.requested' && event.callId === 'a2')
    const pending = agent.approvals()
    assert.equal(
      pending.map(({ callId }) => callId),
      ['a1', 'a2'],
    )
    for (const { key } of pending) agent.decide(key, 'approve')
    await result
    const results = resultsOf(script.requests[1])
    assert.equal(results.slice(0, 4), ['never ran', 'always ran', 'maybe ran', 'maybe ran'])
    assert.match(results[4]!, /^Invalid arguments: n: /)
    const [record] = (await records()).filter(({ type }) => type === 'tools.changed')
    assert.equal(record?.type === 'tools.changed' && record.added.map(({ approval }) => approval), [
      'never',
      'always',
      'maybe',
    ])
  })
})
