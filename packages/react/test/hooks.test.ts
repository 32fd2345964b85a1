import { createElement as h, memo, type ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { z } from 'zod'
import { defineAgent, defineTool, policyModel, type Model } from '../../../src/index.ts'
import {
  AgentProvider,
  useAgent,
  useApprovals,
  useCall,
  useConnection,
  useConversation,
  useRoster,
  useRun,
  useWaiting,
  type UsedAgent,
  type UsedApprovals,
  type UsedRun,
  type WaitingAgent,
} from '../../../src/react.ts'
import { approving, lastingStore, serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { delta, done, gate, tool, withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { render } from './rendering.ts'

/** A model whose reply is held back after its first words, until it is told. */
function halting(words: readonly string[], text = words.join('')) {
  const gates = words.map(() => gate())
  const model: Model = {
    id: 'test:halting',
    async *stream() {
      for (const [index, word] of words.entries()) {
        await gates[index]!.promise
        yield delta(word)
      }
      yield done([{ type: 'text', text }])
    },
  }
  return { model, next: (index: number): void => gates[index]!.resolve() }
}

const talker = defineAgent({ name: 'talker', model: policyModel(() => 'Good day.') })

function Conversation({ id }: { readonly id: string }): ReactNode {
  return useConversation(id).map(({ id: key, role, text }) => h('p', { key }, `${role}: ${text}`))
}

describe('the hooks of React', (it) => {
  it('show what is said while it grows, and the state beside it', async (context) => {
    const { model, next } = halting(['Good ', 'day.'])
    const { connect, runtime } = await serveAgents(context, [talker])
    await runtime.spawn(defineAgent({ name: 'slow', model }), { id: 'a' })
    let used!: UsedAgent
    function State(): ReactNode {
      used = useAgent('a')
      return h('b', null, used.status)
    }
    const client = connect()
    const { until, text } = await render(context, client, [h(State, { key: 1 }), h(Conversation, { key: 2, id: 'a' })])
    assert.is(text(), 'loading')
    await until(() => text() === 'idle')
    const { prompt } = used
    prompt('Hello')
    await until(() => text() === 'running\nuser: Hello')
    next(0)
    await until(() => text() === 'running\nuser: Hello\nassistant: Good ')
    assert.is(used.state, 'replying.streaming')
    next(1)
    await until(() => text() === 'idle\nuser: Hello\nassistant: Good day.')
    assert.is(used.prompt, prompt)
    assert.is(used.agent, client.agent('a'))
    assert.ok(Object.isFrozen(used))
  })

  it('draw a component anew only for what it uses', async (context) => {
    const words = Array.from({ length: 20 }, (_, index) => `word${index} `)
    const { model, next } = halting(words)
    const { connect, runtime } = await serveAgents(context, [talker])
    await runtime.spawn(defineAgent({ name: 'slow', model }), { id: 'a' })
    await runtime.spawn(talker, { id: 'b' })
    const draws = { agent: 0, approvals: 0, other: 0, user: 0, conversation: 0 }
    let used!: UsedAgent
    const Agent = memo(() => {
      draws.agent += 1
      used = useAgent('a')
      return used.status
    })
    const Approvals = memo(() => {
      draws.approvals += 1
      return useApprovals('a').pending.length
    })
    const Other = memo(() => {
      draws.other += 1
      return useConversation('b').length
    })
    const Message = memo(({ message }: { readonly message: ReturnType<typeof useConversation>[number] }) => {
      if (message.role === 'user') draws.user += 1
      return h('p', null, message.text)
    })
    const Messages = memo(() => {
      draws.conversation += 1
      return useConversation('a').map((message) => h(Message, { key: message.id, message }))
    })
    const { until, text } = await render(
      context,
      connect(),
      [Agent, Approvals, Other, Messages].map((one, key) => h(one, { key })),
    )
    await until(() => used.status === 'idle')
    used.prompt('Hello')
    next(0)
    await until(() => text().includes('word0'))
    const before = { ...draws }
    for (let index = 1; index < words.length - 1; index++) {
      next(index)
      await until(() => text().includes(words[index]!.trim()))
    }
    assert.equal({ ...draws, conversation: before.conversation }, before)
    assert.ok(draws.conversation >= before.conversation + words.length - 2)
    next(words.length - 1)
    await until(() => used.status === 'idle')
    assert.is(draws.user, before.user)
  })

  it('show a call with the data that its tool gives, once it has ended', async (context) => {
    const save = defineTool({
      name: 'save',
      description: 'Saves.',
      input: z.object({}),
      output: z.object({ id: z.string() }),
      run: () => ({ id: 'x7' }),
      toModel: () => 'saved',
    })
    const model = policyModel(({ messages }) =>
      messages.at(-1)?.role === 'toolResult' ? 'done' : { toolCalls: [{ name: 'save', input: {}, callId: 'c1' }] },
    )
    const { connect } = await serveAgents(context, [defineAgent({ name: 'saver', model, tools: [save] })])
    function Saved(): ReactNode {
      const agent = useAgent('s', { spawn: 'saver' })
      const call = useCall<{ id: string }>('s', 'c1')
      if (agent.status === 'idle' && call === undefined) agent.prompt('go')
      return h('p', null, `${call?.status ?? 'none'} ${call?.data?.id ?? '-'}`)
    }
    const { until, text } = await render(context, connect(), h(Saved))
    await until(() => text() === 'done x7')
  })

  it('list what waits at all agents, running or not, until it is decided', async (context) => {
    const { boss, worker } = approving()
    const store = lastingStore()
    const earlier = await serveAgents(context, [boss, worker], { runtime: { store } })
    const left = await earlier.runtime.spawn(boss, { id: 'left' })
    left.prompt('go')
    for await (const event of left.events()) if (event.type === 'approval.requested') break
    await left.durable()
    await earlier.runtime.close({ detach: true })
    const { connect, runtime } = await serveAgents(context, [boss, worker], { runtime: { store } })
    const client = connect()
    let waiting: readonly WaitingAgent[] = []
    function Inbox(): ReactNode {
      waiting = useWaiting()
      return waiting.map(({ agentId, isRunning }) => h('p', { key: agentId }, `${agentId} ${isRunning}`))
    }
    const { until, text } = await render(context, client, h(Inbox))
    await until(() => text() === 'left false')
    assert.equal(runtime.agents(), [])
    await client.agent('left').decide(waiting[0]!.pending[0]!.key, 'approve')
    await until(() => text() === '')
  })

  it('show what waits for people, of a sub-agent that asked before the page was opened too', async (context) => {
    const { boss, worker } = approving()
    const { connect, runtime } = await serveAgents(context, [boss, worker])
    const agent = await runtime.spawn(boss, { id: 'a' })
    const run = agent.prompt('go')
    for await (const event of agent.events()) if (event.type === 'approval.requested') break
    let used!: UsedApprovals
    function Approvals(): ReactNode {
      used = useApprovals('a')
      return used.pending.map(({ key, name, agentId }) => h('p', { key }, `${agentId}: ${name}`))
    }
    const { until, text } = await render(context, connect(), h(Approvals))
    await until(() => text() === 'a.1: look')
    const [{ key, kind, path }] = used.pending as [UsedApprovals['pending'][number]]
    assert.equal([kind, path], ['approval', ['a']])
    await used.decide(key, 'approve')
    assert.is((await run.result).stopReason, 'stop')
    await until(() => text() === '')
    assert.throws(
      (await used.decide(key, 'approve').catch((thrown: unknown) => () => {
        throw thrown
      })) as () => void,
      withCode('CALL_NOT_PENDING'),
    )
  })

  it('answer questions', async (context) => {
    const ask = tool('ask_person', async (_, { ask: askPerson }) => await askPerson(z.string(), 'Who is it for?'))
    const asking = defineAgent({
      name: 'asking',
      tools: [ask],
      model: policyModel(({ messages }) =>
        messages.length === 1 ? { toolCalls: [{ name: 'ask_person', input: {} }] } : 'Thank you.',
      ),
    })
    const { connect, runtime } = await serveAgents(context, [asking])
    const agent = await runtime.spawn(asking, { id: 'a' })
    let used!: UsedApprovals
    function Questions(): ReactNode {
      used = useApprovals('a')
      return used.pending.map((one) => h('p', { key: one.key }, one.kind === 'question' ? one.question : one.kind))
    }
    const { until, text } = await render(context, connect(), h(Questions))
    const run = agent.prompt('go')
    await until(() => text() === 'Who is it for?')
    await used.answer(used.pending[0]!.key, 'Ann')
    assert.is((await run.result).text, 'Thank you.')
    await until(() => text() === '')
  })

  it('show a run: reports of its tools, its answer as it grows, its result', async (context) => {
    const output = z.object({ city: z.string(), days: z.number() })
    const held = gate()
    const half = gate()
    const answer = '{"city":"Paris","days":3}'
    let asked = 0
    const model: Model = {
      id: 'test:planning',
      async *stream() {
        asked += 1
        if (asked === 1) {
          const call = { type: 'toolCall', callId: 'c', name: 'look', input: {} } as const
          return yield done([call], { stopReason: 'toolUse' })
        }
        yield delta(answer.slice(0, 12))
        await half.promise
        yield delta(answer.slice(12))
        yield done([{ type: 'text', text: answer }])
      },
    }
    const look = tool('look', async (_, { report }) => {
      report('half way')
      await held.promise
      return 'seen'
    })
    const planner = defineAgent({ name: 'planner', model, tools: [look], output })
    const { connect, runtime } = await serveAgents(context, [planner])
    const agent = await runtime.spawn(planner, { id: 'a' })
    let run: UsedRun<{ city: string; days: number }> | null = null
    function Plan(): ReactNode {
      run = useRun<typeof planner>('a')
      const { status } = useAgent('a')
      return run === null ? status : h('p', null, JSON.stringify([run.status, run.progress[0]?.progress, run.output]))
    }
    const { until, text } = await render(context, connect(), h(Plan))
    await until(() => text() === 'idle')
    const { requestId } = agent.prompt('Plan.')
    await until(() => text() === '["running","half way",null]')
    held.resolve()
    await until(() => text() === '["running",null,{"city":"Par"}]')
    half.resolve()
    await until(() => text() === '["stop",null,{"city":"Paris","days":3}]')
    const ended = run as unknown as UsedRun<{ city: string; days: number }>
    assert.is(ended.requestId, requestId)
    assert.is(ended.result?.stopReason, 'stop')
    assert.equal(ended.result?.output, { city: 'Paris', days: 3 })
    assert.is(ended.result?.turns, 2)
  })

  it('show the agents that run, and the connection', async (context) => {
    const { connect, runtime } = await serveAgents(context, [talker])
    await runtime.spawn(talker, { id: 'a' })
    function Roster(): ReactNode {
      const { status, definitions } = useConnection()
      return h('p', null, [status, ...definitions, ...useRoster().map(({ agentId }) => agentId)].join(' '))
    }
    const client = connect()
    const { until, text } = await render(context, client, h(Roster))
    await until(() => text() === 'open talker a')
    await runtime.spawn(talker, { id: 'b' })
    await until(() => text() === 'open talker a b')
    await runtime.agent('a')!.close()
    await until(() => text() === 'open talker b')
    client.close()
    await until(() => text() === 'closed talker b')
  })

  it('say clearly that there is no provider', () => {
    for (const hook of [useAgent, useApprovals, useConversation, useRun] as const)
      assert.throws(
        () => renderToString(h(() => (hook('a'), null))),
        withCode('PROVIDER_MISSING', hook.name, 'AgentProvider'),
      )
    for (const hook of [useRoster, useConnection] as const)
      assert.throws(() => renderToString(h(() => (hook(), null))), withCode('PROVIDER_MISSING', hook.name))
  })

  it('render on a server, with or without a client, as long as nothing is known', async (context) => {
    const { connect, runtime } = await serveAgents(context, [talker])
    await runtime.spawn(talker, { id: 'a' })
    const All = (): ReactNode => {
      const { status } = useAgent('a')
      const connection = useConnection().status
      const count = useApprovals('a').pending.length + useConversation('a').length + useRoster().length
      return h('p', null, [status, connection, count, useRun('a') === null].join(' '))
    }
    for (const client of [null, connect()]) {
      const html = renderToString(h(AgentProvider, { client }, h(All)))
      assert.is(html, '<p>loading connecting 0 true</p>')
    }
    let used!: UsedAgent
    renderToString(
      h(
        AgentProvider,
        { client: null },
        h(() => ((used = useAgent('a')), null)),
      ),
    )
    assert.throws(() => used.prompt('Hello'), withCode('INVALID_OPTION', 'client'))
    assert.throws(() => used.agent, withCode('INVALID_OPTION', 'client'))
  })
})
