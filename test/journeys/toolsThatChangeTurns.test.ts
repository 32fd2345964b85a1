import { createRuntime, defineAgent, memoryStore } from '../../src/index.ts'
import { forkSession } from '../../src/sessions.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { calls, counter, resultsOf, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { scriptedSource } from '../support/scriptedSource.ts'
import { assert, describe } from '../support/suite.ts'
import { recordsOf } from './cutLogs.ts'

const own = tool('own', () => 'mine')
const look = tool('look', () => 'seen')
const find = tool('find', () => 'found')

const names = (request: { readonly tools: readonly { readonly name: string }[] } | undefined): string[] =>
  (request?.tools ?? []).map(({ name }) => name)

describe('tools of a source', (it) => {
  it('are known to beforeTurn in the turn they come, and offered as it says', async (context) => {
    const server = scriptedSource('srv', [look])
    const down = scriptedSource('away')
    down.goDown('not there')
    const known: (readonly string[])[] = []
    const { agent, script } = await startAgent(context, {
      tools: [own, server, down],
      beforeTurn: ({ tools, turn }) => {
        known.push(tools)
        return turn === 1 ? { tools: ['look', 'gone'], toolChoice: { tool: 'gone' } } : { toolChoice: { tool: 'look' } }
      },
      replies: [calls('a', 'own', 'gone', 'look'), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(known, [
      ['own', 'look'],
      ['own', 'look'],
    ])
    assert.equal(script.requests.map(names), [['look'], ['own', 'look']])
    assert.equal(
      script.requests.map(({ settings }) => settings.toolChoice),
      [undefined, { tool: 'look' }],
    )
    const [unoffered, unknown, there] = resultsOf(script.requests[1])
    assert.match(unoffered!, /^Not run: "own" is not available in this turn/)
    assert.match(unknown!, /^There is no tool "gone"/)
    assert.is(there, 'seen')
  })

  it('that no source has are refused where all are up, like those of a definition without sources', async (context) => {
    for (const change of [{ tools: ['loook'] }, { toolChoice: { tool: 'loook' } }]) {
      const { agent, script } = await startAgent(context, {
        tools: [own, scriptedSource('srv', [look])],
        beforeTurn: () => change,
        replies: ['done'],
      })
      const { stopReason, error } = await agent.prompt('go').result
      assert.is(stopReason, 'error')
      assert.is(error?.code, 'HOOK_FAILED')
      assert.match(error!.message, /the definition has no tool "loook": did you mean "look"/)
      assert.is(script.requests.length, 0)
    }
  })

  it('that a source may still have are named in a warning, once, and the turn goes on without them', async (context) => {
    const warned: string[] = []
    const log = (): void => {}
    const warn = (_: object, message: string): void => void warned.push(message)
    const runtime = await createRuntime({ logger: { debug: log, info: log, warn, error: log } })
    context.cleanup(() => runtime.close())
    const server = scriptedSource('srv')
    server.goDown('not yet')
    const model = scriptedModel(['one', 'two', 'three'])
    const beforeTurn = () => ({ tools: ['own', 'look'] })
    const agent = await runtime.spawn(defineAgent({ name: 'tester', model, tools: [own, server], beforeTurn }))
    await agent.prompt('1').result
    await agent.prompt('2').result
    server.comeUp()
    server.has(look)
    await agent.prompt('3').result
    assert.equal(model.requests.map(names), [['own'], ['own'], ['own', 'look']])
    assert.equal(
      warned.filter((message) => message.includes('beforeTurn')),
      ['Agent "tester" is asked without look, which beforeTurn names: the source srv may have it, and is not up.'],
    )
  })

  it('are offered by agent.use as soon as they are there', async (context) => {
    const server = scriptedSource('srv')
    const { agent, script } = await startAgent(context, { tools: [own, server], replies: ['1', '2', '3', '4'] })
    agent.use({ tools: ['look'] })
    await agent.prompt('1').result
    server.has(find, look)
    await agent.prompt('2').result
    agent.use(null)
    await agent.prompt('3').result
    server.has(look)
    await agent.prompt('4').result
    assert.equal(script.requests.map(names), [[], ['look'], ['own', 'find', 'look'], ['own', 'look']])
    assert.equal(agent.sources, [{ source: 'srv', state: 'up', tools: ['look'] }])
  })

  it('are none of what agent.use may name without a source', async (context) => {
    const { agent } = await startAgent(context, { tools: [own], replies: [] })
    assert.throws(() => agent.use({ tools: ['look'] }), withCode('INVALID_OPTION', 'look'))
  })

  it('are chosen by toolChoice only while they are there', async (context) => {
    const server = scriptedSource('srv')
    const { agent, script } = await startAgent(context, {
      tools: [server],
      settings: { toolChoice: { tool: 'look' } },
      replies: ['1', '2'],
    })
    await agent.prompt('1').result
    server.has(look)
    await agent.prompt('2').result
    assert.equal(
      script.requests.map(({ settings }) => settings.toolChoice),
      [undefined, { tool: 'look' }],
    )
  })

  it('are not asked for in the last turn of a limit, which has none', async (context) => {
    const server = scriptedSource('srv', [look])
    const { agent, script } = await startAgent(context, {
      tools: [server],
      limits: { turns: 1, onLimit: 'answer' },
      replies: [calls('a', 'look'), 'done'],
    })
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.equal(script.requests.map(names), [['look'], []])
    assert.is(server.calls.filter((call) => call === 'ready').length, 1)
  })

  it('are not asked for again when a reply is retried', async (context) => {
    const server = scriptedSource('srv', [look])
    const { agent, script, clock, untilState } = await startAgent(context, {
      tools: [server],
      replies: [{ error: { kind: 'network', message: 'gone' } }, 'done'],
    })
    const { result } = agent.prompt('go')
    await untilState('backoff')
    server.has(find)
    await clock.advance(60_000)
    assert.is((await result).text, 'done')
    assert.equal(script.requests.map(names), [['look'], ['look']])
  })

  it('count as part of the request, and what a model is sent of them beside a schema is theirs', async (context) => {
    const wordy = tool('look', () => 'seen', { description: 'words '.repeat(2_000) })
    const server = scriptedSource('srv', [{ ...wordy, spec: { strict: true } }])
    const { agent, script, ofType } = await startAgent(context, { tools: [server], replies: ['done'] })
    await agent.prompt('go').result
    assert.ok(ofType('reply.end')[0]!.estimatedTokens > 2_000)
    assert.is(script.requests[0]!.tools[0]!.strict, true)
  })

  it('are those of whoever answers after a handoff, with the effects that theirs have', async (context) => {
    const first = scriptedSource('first', [look])
    const second = scriptedSource('second', [find])
    second.says('Find things.')
    const model = scriptedModel(['found it'])
    const finder = defineAgent({ name: 'finder', model, instructions: 'You find.', tools: [second] })
    const harness = await startAgent(context, {
      tools: [first],
      handoffs: [finder],
      reframes: true,
      replies: [calls('a', 'transfer_to_finder')],
    })
    const { agent, script, records } = harness
    assert.is((await agent.prompt('go').result).text, 'found it')
    assert.equal(names(script.requests[0]), ['transfer_to_finder', 'look'])
    assert.equal(names(model.requests[0]), ['find'])
    assert.is(model.requests[0]!.system, 'You find.\n\nFind things.')
    const changes = (await records()).flatMap((record) =>
      record.type === 'tools.changed' ? [[record.added.map(({ name }) => name), record.removed]] : [],
    )
    assert.equal(changes, [
      [['look'], []],
      [['find'], ['look']],
    ])
  })

  it('of a sub-agent that knows the conversation are its own', async (context) => {
    const server = scriptedSource('srv', [look])
    const other = scriptedSource('other', [find])
    const model = scriptedModel([calls('c', 'find', 'look'), 'child done'])
    const child = defineAgent({ name: 'child', model, tools: [other] })
    const { agent, script, ofType } = await startAgent(context, {
      tools: [server],
      agents: [{ definition: child, context: 'fork' }],
      replies: [calls('a', ['child', { task: 'find it' }], 'look'), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(script.requests.map(names), [
      ['child', 'look'],
      ['child', 'look'],
    ])
    assert.equal(model.requests.map(names), [['find'], ['find']])
    // Nobody knows what tools it will have.
    assert.is(ofType('tool.start').find(({ name }) => name === 'child')!.irreversible, true)
    const [found, looked] = resultsOf(model.requests[1]).slice(-2)
    assert.is(found, 'found')
    assert.match(looked!, /^There is no tool "look"/)
  })

  it('stay with a fork of the session while its source is not there', async () => {
    const store = memoryStore()
    const clock = simulatedClock()
    const server = scriptedSource('srv', [look])
    const model = scriptedModel(['1', '2'])
    const definition = defineAgent({ name: 'tester', model, tools: [own, server] })
    const runtime = await createRuntime({ store, clock, newId: counter('q') })
    const agent = await runtime.spawn(definition, { id: 'a1' })
    await agent.prompt('1').result
    server.goDown('gone')
    await forkSession(store, 'a1', agent.conversation.head!, { id: 'b1' })
    const fork = await runtime.resume('b1', definition)
    await fork.prompt('2').result
    assert.is(JSON.stringify(model.requests[1]!.tools), JSON.stringify(model.requests[0]!.tools))
    const changes = (await recordsOf(store, 'b1')).filter(({ type }) => type === 'tools.changed')
    assert.equal(changes, [])
    await runtime.close()
  })

  it('are there for incognito agents, of which nothing is stored', async (context) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store, clock: simulatedClock(), newId: counter('q') })
    context.cleanup(() => runtime.close())
    const server = scriptedSource('srv', [look])
    const model = scriptedModel([calls('a', 'look'), 'done'])
    const definition = defineAgent({ name: 'tester', model, tools: [server] })
    const agent = await runtime.spawn(definition, { incognito: true })
    assert.is((await agent.prompt('go').result).text, 'done')
    assert.equal(await store.list(), [])
    assert.equal(agent.sources[0]!.tools, ['look'])
  })

  it('cannot be undone, or be run again, unless they say so', async (context) => {
    const undone: unknown[] = []
    const server = scriptedSource('srv', [
      tool('change', (_, { keep }) => keep({ was: 1 }), {
        effects: 'reversible',
        undo: ({ receipt }) => void undone.push(receipt),
      }),
      tool('send', () => 'sent', { effects: 'irreversible' }),
    ])
    const { agent, records } = await startAgent(context, {
      tools: [server],
      braking: { revert: true },
      reframes: true,
      replies: [calls('a', 'change', 'send'), 'done'],
    })
    await agent.prompt('go').result
    const starts = (await records()).flatMap((record) =>
      record.type === 'tool.start' ? [[record.name, record.reversible, record.irreversible]] : [],
    )
    assert.equal(starts, [
      ['change', true, undefined],
      ['send', undefined, true],
    ])
    const events = agent.events()
    agent.revert('n1', { category: 'failure', undo: true })
    for await (const event of events) if (event.type === 'undo.end') break
    assert.equal(undone, [{ was: 1 }])
  })
})
