import { AgentCard } from '@a2a-js/sdk'
import type { RemoteAgentEntry } from '../../../src/actors/parts/remote/remoteEntry.ts'
import { paused, until } from '../../../test/support/lives.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { call, callerOf } from '../../acp/test/client/callerHarness.ts'
import { a2aAgent, type A2aAgentOptions } from '../src/client/a2aAgent.ts'
import { foreignServer } from './foreignServer.ts'

const slow = { timeoutMs: 6_000 }

export const stranger = (url: string, options: Partial<A2aAgentOptions> = {}): RemoteAgentEntry =>
  a2aAgent(url, { name: 'stranger', description: 'Does things.', backoffMs: 1, ...options })

describe('an agent that another server offers by A2A', (it) => {
  for (const streaming of [true, false])
    it(`answers, ${streaming ? 'by a stream' : 'looked after'}`, slow, async (context) => {
      const { url, methods, headers } = await foreignServer(context, { streaming })
      const auth = { authorization: 'Bearer secret' }
      const { said, log } = await call(context, callerOf(stranger(url, { auth }), 'Do it'))
      assert.is(await said(), 'It was told: Do it')
      assert.is(methods[0], streaming ? 'SendStreamingMessage' : 'SendMessage')
      assert.ok(headers.every((header) => header === 'Bearer secret'))
      const records = await log()
      const noted = records.flatMap((record) => (record.type === 'child.noted' ? [record] : []))
      assert.is(noted[0]!.protocol, 'a2a')
      const end = records.find(({ type }) => type === 'tool.end')
      assert.ok(end?.type === 'tool.end')
      assert.equal(end.data, { told: 'Do it' })
    })

  for (const streaming of [true, false])
    it(
      `asks people, and goes on with their answer, ${streaming ? 'by a stream' : 'looked after'}`,
      slow,
      async (context) => {
        const { url, texts } = await foreignServer(context, { streaming })
        const { agent, said } = await call(context, callerOf(stranger(url), 'ask'))
        await paused(agent)
        const [question] = agent.pending()
        assert.ok(question?.kind === 'question' && question.question === 'Which colour?')
        agent.decide(question.key, { value: 'green' })
        assert.is(await said(), 'It was told: green')
        assert.equal(texts, ['ask', 'green'])
      },
    )

  it('is cancelled with its caller', slow, async (context) => {
    const { url, methods } = await foreignServer(context)
    const { agent } = await call(context, callerOf(stranger(url), 'wait'))
    await until(agent, (event) => event.type === 'child.noted' && 'taskId' in (event.handle as object))
    const ended = until(agent, ({ type }) => type === 'run.end')
    agent.abort()
    await ended
    while (!methods.includes('CancelTask')) await new Promise((resolve) => setTimeout(resolve, 10))
  })

  it('whose task fails is told as that', slow, async (context) => {
    const { url } = await foreignServer(context)
    const { said, log } = await call(context, callerOf(stranger(url), 'fail'))
    assert.match(await said(), /did not finish: it failed\.\n\nIt broke\./)
    const end = (await log()).find(({ type }) => type === 'tool.end')
    assert.ok(end?.type === 'tool.end' && end.message.isError)
  })

  it('that wants a sign-in says so', slow, async (context) => {
    const { url } = await foreignServer(context, { streaming: false })
    const { said } = await call(context, callerOf(stranger(url), 'sign in'))
    assert.match(await said(), /sign in somewhere/)
  })
})

describe('a server of A2A that is lost', (it) => {
  it('is asked for the task again, and is not sent it twice', slow, async (context) => {
    const { url, methods, texts, letGo } = await foreignServer(context, {
      streaming: false,
      instead: (method, count) => (method === 'GetTask' && count <= 2 ? 'drop' : undefined),
    })
    const { said, agent } = await call(context, callerOf(stranger(url), 'wait for it'))
    await until(agent, (event) => event.type === 'child.update' && event.kind === 'status')
    letGo()
    assert.is(await said(), 'It was told: wait for it')
    assert.equal(texts, ['wait for it'])
    assert.ok(methods.filter((method) => method === 'GetTask').length >= 3)
  })

  it('while it is sent the task has it sent again only if that is safe', slow, async (context) => {
    const { url, texts } = await foreignServer(context, {
      streaming: false,
      instead: (method, count) => (method === 'SendMessage' && count === 1 ? 'drop' : undefined),
    })
    const { said } = await call(context, callerOf(stranger(url), 'Do it'))
    assert.match(await said(), /interrupted while the task was being sent/)
    assert.equal(texts, [])
  })

  it('is given up when it stays away', slow, async (context) => {
    const { said } = await call(context, callerOf(stranger('http://127.0.0.1:9', { maxRestarts: 1 }), 'Do it'))
    assert.match(
      await said(),
      /begun anew 1 times, and crashed each time\..*card of the agent "stranger" could not be read/,
    )
  })

  it('that answers with an error has answered', slow, async (context) => {
    const { url, methods } = await foreignServer(context, { streaming: false, instead: () => 'error' })
    const { said } = await call(context, callerOf(stranger(url), 'Do it'))
    assert.match(await said(), /The agent "stranger" failed: .*No\./)
    assert.is(methods.length, 1)
  })
})

describe('a card that lies', (it) => {
  for (const [what, card, says] of [
    ['is no JSON', () => 'hello', /card of the agent "stranger" could not be read/],
    [
      'names nothing',
      (given: AgentCard) => AgentCard.toJSON({ ...given, supportedInterfaces: [] }),
      /names no interface/,
    ],
    [
      'speaks another version',
      (given: AgentCard) =>
        AgentCard.toJSON({
          ...given,
          supportedInterfaces: [{ ...given.supportedInterfaces[0]!, protocolVersion: '7.0' }],
        }),
      /speaks version 7\.0/,
    ],
    [
      'speaks another protocol',
      (given: AgentCard) =>
        AgentCard.toJSON({
          ...given,
          supportedInterfaces: [{ ...given.supportedInterfaces[0]!, protocolBinding: 'SMOKE' }],
        }),
      /its card offers SMOKE 1\.0/,
    ],
    [
      'leads elsewhere',
      (given: AgentCard) =>
        AgentCard.toJSON({
          ...given,
          supportedInterfaces: [{ ...given.supportedInterfaces[0]!, url: 'http://169.254.0.1/' }],
        }),
      /names another server, http:\/\/169\.254\.0\.1/,
    ],
  ] as const)
    it(`and ${what} is refused with the reason`, slow, async (context) => {
      const { url, texts } = await foreignServer(context, { card: (given) => card(given) })
      const { said } = await call(context, callerOf(stranger(url), 'Do it'))
      assert.match(await said(), says)
      assert.equal(texts, [])
    })

  it('and streams nothing, though it says so, is followed all the same', slow, async (context) => {
    const { url, texts } = await foreignServer(context, {
      instead: (method) => (method === 'SubscribeToTask' ? 'error' : undefined),
    })
    const { said } = await call(context, callerOf(stranger(url), 'Do it'))
    assert.is(await said(), 'It was told: Do it')
    assert.equal(texts, ['Do it'])
  })

  it('is refused where it is no address', () => {
    assert.throws(() => stranger('file:///etc/passwd'), /no address of http/)
  })
})
