import { fallback } from '../../packages/models/src/fallback.ts'
import { router } from '../../packages/models/src/router.ts'
import { sessionOf } from '../../packages/sessions/src/sessionProjection.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, delta, gate, stalled, startAgent, tool, usageOf } from '../support/agentHarness.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { serveAgents } from '../../packages/bridge/test/server/bridgeHarness.ts'
import { cutStore, settled } from './cutLogs.ts'
import { assert, describe } from '../support/suite.ts'

const named = (id: string, ...replies: readonly ScriptedReply[]) => scriptedModel(replies, { id })
const down = { kind: 'network', message: 'overloaded' } as const
const breaksOff = (...words: readonly string[]): ScriptedReply => ({
  parts: [...words.map(delta), { type: 'error', error: { ...down, usage: usageOf(100, 1) } }],
})

describe('a model that falls back', (it) => {
  it('answers with one whole reply though the first model broke off, and the log says whose it is', async (context) => {
    const primary = named('a:1', breaksOff('half a '))
    const backup = named('b:2', 'the whole answer')
    const { agent, records, ofType, types, clock } = await startAgent(context, {
      model: fallback([primary, backup]),
      pricing: { 'a:1': { input: 1_000_000, output: 0 }, 'b:2': { input: 0, output: 3_000_000 } },
    })
    const start = clock.now()
    const { text, stopReason, turns, usage, costUsd } = await agent.prompt('go').result
    assert.equal([text, stopReason, turns, clock.now()], ['the whole answer', 'stop', 1, start])
    assert.equal(
      types().filter((type) => /^reply\.(start|reset|end)$/.test(type)),
      ['reply.start', 'reply.reset', 'reply.start', 'reply.end'],
    )
    assert.equal(
      ofType('reply.start').map(({ attempt, model }) => [attempt, model]),
      [
        [1, undefined],
        [2, 'b:2'],
      ],
    )
    const [reset] = ofType('reply.reset')
    assert.equal([reset?.next, reset?.attempt, reset?.retryAt, reset?.costUsd], ['b:2', 1, undefined, 100])
    assert.match(reset?.error.message ?? '', /^overloaded \(a:1\)\./)
    const [end] = ofType('reply.end')
    assert.is(end?.message.model, 'b:2')
    // What the failed attempt used counts, each at the price of its model.
    assert.is(usage.input, 100 + (end?.message.usage.input ?? 0))
    assert.is(costUsd, 100 + 3 * (end?.message.usage.output ?? 0))
    assert.equal(
      agent.conversation.log().map(({ message }) => message.role),
      ['user', 'assistant'],
    )
    assert.equal(primary.requests, backup.requests)
    const session = sessionOf(await records())
    assert.is(session.runs[0]?.turns[0]?.attempts, 2)
  })

  it('begins again with the first model at the next turn', async (context) => {
    const primary = named('a:1', breaksOff(), 'fine')
    const backup = named('b:2', calls('c', 'look'))
    const { agent, ofType } = await startAgent(context, {
      model: fallback([primary, backup]),
      tools: [tool('look', () => 'seen')],
    })
    assert.is((await agent.prompt('go').result).text, 'fine')
    assert.equal(
      ofType('reply.end').map(({ message }) => message.model),
      ['b:2', 'a:1'],
    )
  })

  it('is retried as a whole, after one wait, when every model has failed', async (context) => {
    const { agent, clock, ofType, untilState } = await startAgent(context, {
      model: fallback([named('a:1', breaksOff('x'), 'fine'), named('b:2', breaksOff('y'))]),
      retry: { attempts: 2, baseMs: 1_000 },
    })
    const start = clock.now()
    const run = agent.prompt('go')
    await untilState('backoff')
    assert.equal(
      ofType('reply.reset').map(({ next, retryAt, attempt }) => [next, retryAt, attempt]),
      [
        ['b:2', undefined, 1],
        [undefined, start + 500, 2],
      ],
    )
    await clock.advance(500)
    assert.is((await run.result).text, 'fine')
  })

  it('does not use up the attempts of the retries by falling back', async (context) => {
    const { agent, clock, untilState } = await startAgent(context, {
      model: fallback([named('a:1', breaksOff(), breaksOff()), named('b:2', breaksOff(), 'fine')]),
      retry: { attempts: 2 },
    })
    const run = agent.prompt('go')
    await untilState('backoff')
    await clock.advance(1_000)
    assert.is((await run.result).text, 'fine')
  })

  it('keeps only what the second model had said when the run is aborted', async (context) => {
    const open = gate()
    const { agent, ofType, until } = await startAgent(context, {
      model: fallback([named('a:1', breaksOff('half ')), named('b:2', stalled(['second'], open.promise))]),
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'reply.delta' && event.text === 'second')
    agent.abort()
    open.resolve()
    assert.is((await run.result).stopReason, 'aborted')
    const [end] = ofType('reply.end')
    assert.equal([end?.message.content, end?.message.model], [[{ type: 'text', text: 'second' }], 'b:2'])
  })

  it('comes to the same end after a crash at any record', async (context) => {
    const models = () => fallback([named('a:1', breaksOff('half ')), named('b:2', 'the whole answer')])
    const { agent, records } = await startAgent(context, { model: models() })
    await agent.prompt('go').result
    const all = await records()
    assert.ok(all.some(({ type }) => type === 'reply.reset'))
    for (let count = all.findIndex(({ type }) => type === 'turn.start') + 1; count < all.length; count++) {
      const runtime = await createRuntime({ store: await cutStore('a1', all.slice(0, count)) })
      context.cleanup(() => runtime.close())
      const again = await runtime.resume('a1', defineAgent({ name: 'tester', model: models() }))
      if (again.state !== 'idle') await settled(again)
      const trunk = again.conversation.trunk().map(({ message }) => textOf(message.content))
      assert.equal(trunk, ['go', 'the whole answer'], `after ${count} records`)
    }
  })

  it('is seen by a client as one reply, without what was taken back', async (context) => {
    const definition = defineAgent({
      name: 'remote',
      model: fallback([named('a:1', breaksOff('half ')), named('b:2', 'the whole answer')]),
    })
    const serving = await serveAgents(context, [definition])
    await serving.runtime.spawn(definition, { id: 'r1' })
    const run = serving.connect().agent('r1').prompt('go')
    let text = ''
    for await (const event of run) {
      if (event.type === 'reply.start') text = ''
      else if (event.type === 'reply.delta') text = text.slice(0, event.offset) + event.text
    }
    assert.equal([text, (await run.result).text], ['the whole answer', 'the whole answer'])
  })

  it('lets no secret through that the models say in halves', async (context) => {
    const { agent, events } = await startAgent(context, {
      model: fallback([named('a:1', breaksOff('it is s3cr3t-')), named('b:2', 'it is s3cr3t-word')]),
      redact: { secrets: { WORD: 's3cr3t-word' } },
    })
    const { text } = await agent.prompt('go').result
    assert.not.match(text, 's3cr3t')
    const after = events.slice(events.findIndex(({ type }) => type === 'reply.reset'))
    assert.not.match(JSON.stringify(after), 's3cr3t-word')
  })

  it('warns when it has no price for the model that answered', async (context) => {
    const { agent, until } = await startAgent(context, {
      model: fallback([named('a:1', breaksOff()), named('b:2', 'hi')]),
      pricing: { 'a:1': { input: 1, output: 1 } },
      limits: { costUsd: 1 },
    })
    await agent.prompt('go').result
    const event = await until(({ type }) => type === 'error')
    assert.ok(event.type === 'error' && event.error.code === 'PRICE_UNKNOWN')
    assert.match(event.error.message, /b:2/)
  })
})

describe('a router', (it) => {
  it('chooses for each request, and the log says whom', async (context) => {
    const small = named('s:1', 'short', 'again')
    const large = named('l:1', 'long')
    const { agent, ofType } = await startAgent(context, {
      model: router(({ messages }) => (JSON.stringify(messages).includes('hard') ? large : small)),
    })
    await agent.prompt('easy').result
    await agent.prompt('hard').result
    assert.equal(
      ofType('reply.end').map(({ message }) => message.model),
      ['s:1', 'l:1'],
    )
    assert.equal(
      ofType('run.start').map(({ model }) => model?.id),
      ['router', 'router'],
    )
  })

  it('ends the run with ROUTER_FAILED when it throws, keeps the message, and may do better next time', async (context) => {
    const choices = [
      () => {
        throw new Error('no idea')
      },
      () => 'gpt' as never,
      () => named('s:1', 'fine'),
    ]
    const { agent } = await startAgent(context, { model: router(() => choices.shift()!()) })
    for (const words of [/router chose no model: no idea/, /"gpt"/]) {
      const { stopReason, error } = await agent.prompt('go').result
      assert.equal([stopReason, error?.code], ['error', 'ROUTER_FAILED'])
      assert.match(error?.message ?? '', words)
    }
    assert.is((await agent.prompt('again').result).text, 'fine')
    assert.is(agent.conversation.log().filter(({ message }) => message.role === 'user').length, 3)
  })

  it('can be aborted while it thinks', async (context) => {
    const { agent, untilState } = await startAgent(context, { model: router(() => new Promise<never>(() => {})) })
    const run = agent.prompt('go')
    await untilState('replying.requesting')
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
  })
})
