import { createRuntime, defineAgent, memoryStore, type Agent, type ToolSource } from '../../src/index.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { calls, counter, quiet, resultsOf, tool, withCode } from '../support/agentHarness.ts'
import { scriptedSource } from '../support/scriptedSource.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const look = tool('look', () => 'seen')

async function started({ cleanup }: CaseContext, options: Parameters<typeof createRuntime>[0] = {}) {
  const clock = simulatedClock()
  const runtime = await createRuntime({ clock, newId: counter('q'), ...options })
  cleanup(() => runtime.close())
  return { clock, runtime }
}

const agentWith = (tools: readonly (ToolSource | typeof look)[], ...replies: ScriptedReply[]) =>
  defineAgent({ name: 'tester', model: scriptedModel(replies), tools })

const said = async (agent: Agent<unknown, unknown>, text: string): Promise<string> =>
  (await agent.prompt(text).result).text

describe('a source of tools', (it) => {
  it('is opened by the first turn that needs it, and shared by all agents that have it', async (context) => {
    const { runtime } = await started(context)
    const server = scriptedSource('srv', [look])
    const child = defineAgent({
      name: 'child',
      model: scriptedModel([calls('c', 'look'), 'child done']),
      tools: [server],
    })
    const definition = defineAgent({
      name: 'parent',
      model: scriptedModel([calls('a', ['child', { task: 'look' }]), 'done']),
      tools: [server],
      agents: [child],
    })
    const agent = await runtime.spawn(definition, { id: 'a1' })
    await quiet()
    assert.equal(server.calls, [])
    assert.is(await said(agent, 'go'), 'done')
    assert.is(server.calls.filter((call) => call === 'open').length, 1)
    assert.ok(server.isOpen)
    await runtime.close()
    assert.equal(server.calls.slice(-1), ['close'])
  })

  it('of another runtime is another connection', async (context) => {
    const server = scriptedSource('srv', [look])
    for (const id of ['a', 'b']) {
      const { runtime } = await started(context)
      await said(await runtime.spawn(agentWith([server], 'done'), { id }), 'go')
    }
    assert.equal(server.calls, ['open', 'ready', 'open', 'ready'])
  })

  it('is closed once no agent uses it for as long as agents stay loaded, and opened again', async (context) => {
    const { runtime, clock } = await started(context, { idleUnloadMs: 1_000 })
    const server = scriptedSource('srv', [look])
    const agent = await runtime.spawn(agentWith([server], 'one', 'two', calls('a', 'look'), 'three'), { id: 'a1' })
    await said(agent, '1')
    await clock.advance(1_000)
    await quiet()
    assert.not(agent.isLoaded)
    await clock.advance(500)
    assert.is(await said(agent, '2'), 'two')
    assert.equal(server.calls, ['open', 'ready', 'ready'])
    await clock.advance(1_000)
    await quiet()
    await clock.advance(1_000)
    await quiet()
    assert.not(server.isOpen)
    assert.is(await said(agent, '3'), 'three')
    assert.equal(server.calls, ['open', 'ready', 'ready', 'close', 'open', 'ready', 'ready'])
  })

  it('stays open without a time for a few that nobody uses, and no longer for more', async (context) => {
    const { runtime } = await started(context)
    const servers = Array.from({ length: 10 }, (_, n) => scriptedSource(`s${n}`, [look]))
    for (const server of servers) {
      const agent = await runtime.spawn(agentWith([server], 'done'))
      await said(agent, 'go')
      await agent.stop()
    }
    await quiet()
    assert.equal(
      servers.map(({ isOpen }) => isOpen),
      [false, false, ...Array.from({ length: 8 }, () => true)],
    )
  })

  it('that throws when it is opened is tried again before the next turn', async (context) => {
    const { runtime } = await started(context)
    const server = scriptedSource('srv', [look])
    let failures = 1
    const failing: ToolSource = {
      source: 'srv',
      open(host) {
        if (failures-- > 0) throw new Error('no such program')
        return server.open(host)
      },
    }
    const agent = await runtime.spawn(agentWith([failing], 'one', calls('a', 'look'), 'two'), { id: 'a1' })
    const errors: string[] = []
    agent.subscribe((event) => {
      if (event.type === 'source.status' && event.trouble !== undefined) errors.push(event.trouble)
    })
    assert.is(await said(agent, '1'), 'one')
    assert.equal(errors, ['no such program'])
    assert.is(await said(agent, '2'), 'two')
  })

  it('that hangs costs one turn 15 seconds, and the turns of the next minute nothing', async (context) => {
    const { runtime, clock } = await started(context)
    const server = scriptedSource('srv', [look])
    const model = scriptedModel(['one', 'two', 'three'])
    const agent = await runtime.spawn(defineAgent({ name: 'tester', model, tools: [server] }), { id: 'a1' })
    const { release } = server.hang()
    const first = said(agent, '1')
    await quiet()
    await clock.advance(14_999)
    assert.is(model.requests.length, 0)
    await clock.advance(1)
    assert.is(await first, 'one')
    assert.is(await said(agent, '2'), 'two')
    assert.equal(
      model.requests.map(({ tools }) => tools.length),
      [0, 0],
    )
    release()
    await clock.advance(60_000)
    assert.is(await said(agent, '3'), 'three')
    assert.is(model.requests[2]!.tools.length, 1)
  })

  it('is not waited for by a run that is aborted', async (context) => {
    const { runtime } = await started(context)
    const server = scriptedSource('srv', [look])
    server.hang()
    const agent = await runtime.spawn(agentWith([server], 'one'), { id: 'a1' })
    const run = agent.prompt('go')
    await quiet()
    assert.is(agent.state, 'preparing')
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    await agent.stop()
  })

  it('that does everything wrong changes nothing', async (context) => {
    const { runtime } = await started(context)
    const failing = (): never => {
      throw new Error('broken')
    }
    const broken: ToolSource = {
      source: 'srv',
      open: () => ({
        get tools() {
          return failing()
        },
        get instructions() {
          return failing()
        },
        get trouble() {
          return failing()
        },
        ready: () => Promise.reject(new Error('broken')),
        status: failing,
        close: () => Promise.reject(new Error('broken')),
      }),
    }
    const nonsense = { source: 'non', open: () => ({ tools: 7, ready: () => 7, status: () => ({ state: 'up' }) }) }
    const model = scriptedModel(['one', 'two'])
    const tools = [look, broken, nonsense as unknown as ToolSource]
    const agent = await runtime.spawn(defineAgent({ name: 'tester', model, tools }), { id: 'a1' })
    assert.is(await said(agent, '1'), 'one')
    assert.is(await said(agent, '2'), 'two')
    assert.equal(
      model.requests.map((request) => request.tools.map(({ name }) => name)),
      [['look'], ['look']],
    )
    await runtime.close()
  })

  it('that does not close is left after 10 seconds, before the store is closed', async (context) => {
    const store = memoryStore()
    let isStoreClosed = false
    const watched = { ...store, close: async () => void (isStoreClosed = true) }
    const { runtime, clock } = await started(context, { store: watched })
    const server = scriptedSource('srv', [look])
    const stubborn: ToolSource = {
      source: 'srv',
      open: (host) => ({
        ...server.open(host),
        tools: [look],
        status: () => ({ state: 'up', since: 0 }),
        close: () => new Promise(() => {}),
      }),
    }
    await said(await runtime.spawn(agentWith([stubborn], 'done'), { id: 'a1' }), 'go')
    const closing = runtime.close()
    await quiet()
    assert.not(isStoreClosed)
    await clock.advance(10_000)
    await closing
    assert.ok(isStoreClosed)
  })

  it('is refused with a name that cannot stand before a tool, or that another has', async () => {
    const refused = (tools: readonly ToolSource[], what: string): void => {
      const define = () => defineAgent({ name: 'tester', model: scriptedModel([]), tools })
      assert.throws(define, withCode('INVALID_DEFINITION', what))
    }
    refused([scriptedSource('a b')], 'the source "a b"')
    refused([scriptedSource('')], 'the source ""')
    refused([scriptedSource('a'), scriptedSource('a')], 'two sources are named "a"')
  })
})

const secret = 'hunter2-of-the-north'

describe('secrets of a source', (it) => {
  const leaking = (): ReturnType<typeof scriptedSource> =>
    scriptedSource(
      'srv',
      [tool('leak', () => `the key is ${secret}`, { description: `Leaks ${secret}.` }), tool('renew', () => 'renewed')],
      { secrets: [secret, 'short'] },
    )

  const everything = async (agent: Agent<unknown, unknown>): Promise<string> => {
    const seen: unknown[] = []
    agent.subscribe((event) => void seen.push(event))
    await said(agent, `my key is ${secret}, and short`)
    return JSON.stringify(seen)
  }

  it('are in no record, event or request, whether or not the runtime redacts', async (context) => {
    for (const redact of [undefined, { secrets: { OTHER: 'another-secret' } }]) {
      const store = memoryStore()
      const { runtime } = await started(context, { store, ...(redact === undefined ? {} : { redact }) })
      const model = scriptedModel([calls('a', 'leak'), `it is ${secret}`])
      const source = leaking()
      const agent = await runtime.spawn(defineAgent({ name: 'tester', model, tools: [source] }), { id: 'a1' })
      const events = await everything(agent)
      const records: unknown[] = []
      for await (const record of store.read('a1')) records.push(record)
      for (const text of [events, JSON.stringify(records), JSON.stringify(model.requests)]) {
        assert.not.match(text, secret)
        assert.match(text, '[redacted:srv]')
        assert.match(text, 'and short')
      }
      assert.equal(resultsOf(model.requests[1]), ['the key is [redacted:srv]'])
      assert.is(source.host!.redactor!.text(secret), '[redacted:srv]')
    }
  })

  it('that it is given later are blanked from then on, in specs too, which are then recorded anew', async (context) => {
    const store = memoryStore()
    const { runtime } = await started(context, { store })
    const model = scriptedModel(['one', 'two', calls('a', 'say'), 'three'])
    const source = scriptedSource('srv', [tool('say', () => secret, { description: `Says ${secret}.` })])
    const agent = await runtime.spawn(defineAgent({ name: 'tester', model, tools: [source] }), { id: 'a1' })
    await said(agent, '1')
    source.host!.hide!([secret])
    await said(agent, '2')
    await said(agent, '3')
    assert.equal(
      model.requests.map(({ tools }) => tools[0]!.description),
      [`Says ${secret}.`, ...Array.from({ length: 3 }, () => 'Says [redacted:srv].')],
    )
    assert.equal(resultsOf(model.requests[3]), ['[redacted:srv]'])
  })
})
