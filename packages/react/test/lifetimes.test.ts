import { once } from 'node:events'
import { Activity, createElement as h, Suspense, use, type ReactNode } from 'react'
import { defineAgent, policyModel, type Model } from '../../../src/index.ts'
import { useAgent, useConversation, type UsedAgent } from '../../../src/react.ts'
import type { UseAgentOptions } from '../src/useAgent.ts'
import { lastingStore, serveAgents, untilStatus } from '../../bridge/test/server/bridgeHarness.ts'
import { delta, done, gate } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { notingSocket, render } from './rendering.ts'

const talker = defineAgent({ name: 'talker', model: policyModel(() => 'Good day.') })

let used!: UsedAgent

function Agent({ id, options }: { readonly id: string; readonly options?: UseAgentOptions }): ReactNode {
  used = useAgent(id, options)
  return h('b', null, used.status === 'failed' ? `${used.status} ${used.error?.code}` : used.status)
}

function Conversation({ id }: { readonly id: string }): ReactNode {
  return useConversation(id).map(({ id: key, role, text }) => h('p', { key }, `${role}: ${text}`))
}

const both = (id: string, options?: UseAgentOptions): ReactNode => [
  h(Agent, { key: 'agent', id, ...(options === undefined ? {} : { options }) }),
  h(Conversation, { key: 'conversation', id }),
]

const said = 'idle\nuser: Hello\nassistant: Good day.'

/** A server with an agent `a` that has answered once. */
async function greeted(context: CaseContext) {
  const served = await serveAgents(context, [talker])
  const agent = await served.runtime.spawn(talker, { id: 'a' })
  await agent.prompt('Hello').result
  return { ...served, agent }
}

const count = (sent: readonly string[], type: string): number => sent.filter((one) => one === type).length

describe('an agent in a component', (it) => {
  it('is followed once, however many show it, and in strict mode too', async (context) => {
    const { connect } = await greeted(context)
    const { webSocket, sent } = notingSocket()
    const client = connect({ webSocket })
    await client.ready
    const { until, text, tree } = await render(context, client, [both('a'), h(Agent, { key: 2, id: 'a' })], {
      strict: true,
    })
    await until(() => text() === `${said}\nidle`)
    assert.is(count(sent, 'agent.subscribe'), 1)
    assert.is(count(sent, 'agent.unsubscribe'), 0)
    tree.unmount()
    await until(() => count(sent, 'agent.unsubscribe') === 1)
    assert.is(count(sent, 'agent.subscribe'), 1)
  })

  it('is another one with another id', async (context) => {
    const { connect, runtime } = await greeted(context)
    await runtime.spawn(talker, { id: 'b' })
    const { until, text, show } = await render(context, connect(), both('a'))
    await until(() => text() === said)
    show(both('b'))
    await until(() => text() === 'idle')
    used.prompt('Hello')
    await until(() => text() === said)
    assert.is(used.id, 'b')
    show(both('a'))
    await until(() => text() === said)
  })

  it('that does not exist is said not to, until it does', async (context) => {
    const { connect, runtime } = await serveAgents(context, [talker])
    const { until, text } = await render(context, connect(), both('a'))
    await until(() => text() === 'failed AGENT_NOT_FOUND')
    const agent = await runtime.spawn(talker, { id: 'a' })
    await agent.prompt('Hello').result
    await until(() => text() === said)
  })

  it('is spawned if it does not exist, once', async (context) => {
    const { connect, runtime } = await serveAgents(context, [talker])
    const { webSocket, sent } = notingSocket()
    const spawn = { spawn: 'talker', metadata: { room: 'red' } }
    const rendering = await render(
      context,
      connect({ webSocket }),
      [h(Conversation, { key: 0, id: 'a' }), both('a', spawn)],
      {
        strict: true,
      },
    )
    await rendering.until(() => rendering.text() === 'idle')
    assert.is(count(sent, 'agent.spawn'), 1)
    assert.equal(runtime.agent('a')?.metadata, { room: 'red' })
    used.prompt('Hello')
    await rendering.until(() => rendering.text().endsWith('Good day.'))
    // The next page finds it.
    const { until, text } = await render(context, connect(), both('a', spawn))
    await until(() => text() === said)
  })

  it('is found by whoever did not spawn it first', async (context) => {
    const { connect, runtime } = await serveAgents(context, [talker])
    const pages = await Promise.all([1, 2, 3].map(() => render(context, connect(), both('a', { spawn: 'talker' }))))
    for (const { until, text } of pages) await until(() => text() === 'idle')
    assert.is(runtime.agents().length, 1)
  })

  it('that cannot be spawned says why', async (context) => {
    const { connect } = await serveAgents(context, [talker])
    const { until, text } = await render(context, connect(), both('a', { spawn: 'nobody' }))
    await until(() => text().startsWith('failed'))
    assert.is(text(), 'failed INVALID_OPTION')
    const observing = await serveAgents(context, [talker], { role: 'observe' })
    const other = await render(context, observing.connect(), both('a', { spawn: 'talker' }))
    await other.until(() => other.text() === 'failed BRIDGE_FORBIDDEN')
  })

  it('of a client that was closed fails, at once and later', async (context) => {
    const { connect } = await greeted(context)
    const client = connect()
    const { until, text, show } = await render(context, client, both('a'))
    await until(() => text() === said)
    client.close()
    await until(() => text().startsWith('failed BRIDGE_CLOSED'))
    show(both('b'))
    await until(() => text() === 'failed BRIDGE_CLOSED')
  })

  it('goes on over a restart of the server, and says that its run was interrupted', async (context) => {
    const model: Model = {
      id: 'test:held',
      async *stream(_, { signal }) {
        yield delta('Good ')
        await once(signal, 'abort')
      },
    }
    const slow = defineAgent({ name: 'talker', model })
    const first = await serveAgents(context, [slow])
    const agent = await first.runtime.spawn(slow, { id: 'a' })
    const client = first.connect()
    const { until, text } = await render(context, client, both('a'))
    await until(() => text() === 'idle')
    void agent.prompt('Hello')
    await until(() => text() === 'running\nuser: Hello\nassistant: Good ')
    // What a process leaves that dies here.
    const store = lastingStore()
    const lease = await store.open('a')
    for await (const record of agent.readLog()) await store.append('a', [record])
    await lease.release()
    const reconnecting = untilStatus(client, 'reconnecting')
    await first.runtime.close()
    await reconnecting
    assert.match(text(), 'user: Hello')
    await serveAgents(context, [talker], { port: first.server.port, runtime: { store } })
    await until(() => text().startsWith('paused'))
    assert.is(used.state, 'closed')
    used.resume()
    // What it had begun to say was lost with the process.
    await until(() => text() === said.replace('assistant', 'assistant: Good \nassistant'))
  })

  it('is read anew when the server has lost some of it', async (context) => {
    const { connect, runtime, server } = await greeted(context)
    const client = connect()
    const { until, text } = await render(context, client, both('a'))
    await until(() => text() === said)
    const reconnecting = untilStatus(client, 'reconnecting')
    await runtime.close()
    await reconnecting
    const next = await serveAgents(context, [talker], { port: server.port })
    await next.runtime.spawn(talker, { id: 'a' })
    await until(() => text() === 'idle')
    used.prompt('Hello')
    await until(() => text() === said)
  })

  it('that was stopped says so', async (context) => {
    const { connect, agent } = await greeted(context)
    const { until, text } = await render(context, connect(), both('a'))
    await until(() => text() === said)
    await agent.stop()
    await until(() => text() === said.replace('idle', 'stopped'))
    assert.equal([used.state, used.pause], ['stopped', null])
    const later = await render(context, connect(), both('a'))
    await later.until(() => later.text() === said.replace('idle', 'stopped'))
  })

  it('may be left in the middle of a reply, and shown again, with nothing twice', async (context) => {
    const gates = [gate(), gate(), gate()]
    const model: Model = {
      id: 'test:slow',
      async *stream() {
        for (const [index, word] of ['Good ', 'day, ', 'you.'].entries()) {
          yield delta(word)
          await gates[index]!.promise
        }
        yield done([{ type: 'text', text: 'Good day, you.' }])
      },
    }
    const slow = defineAgent({ name: 'slow', model })
    const { connect, runtime } = await serveAgents(context, [slow])
    const agent = await runtime.spawn(slow, { id: 'a' })
    const { webSocket, sent } = notingSocket()
    const shown = (mode: 'visible' | 'hidden'): ReactNode => h(Activity, { mode, children: both('a') })
    const { until, text, show } = await render(context, connect({ webSocket }), shown('visible'))
    await until(() => text() === 'idle')
    const run = agent.prompt('Hello')
    await until(() => text() === 'running\nuser: Hello\nassistant: Good ')
    show(shown('hidden'))
    await until(() => count(sent, 'agent.unsubscribe') === 1)
    gates[0]!.resolve()
    show(shown('visible'))
    await until(() => text() === 'running\nuser: Hello\nassistant: Good day, ')
    show(null)
    await until(() => count(sent, 'agent.unsubscribe') === 2)
    gates[1]!.resolve()
    gates[2]!.resolve()
    await run.result
    show(both('a'))
    await until(() => text() === 'idle\nuser: Hello\nassistant: Good day, you.')
  })

  it('is followed while another part of its component is waited for', async (context) => {
    const { connect, agent } = await greeted(context)
    const ready = gate<string>()
    const Waiting = (): ReactNode => {
      const { status } = useAgent('a')
      return h('i', null, use(ready.promise), status)
    }
    const page = h(Suspense, { fallback: h('i', null, 'wait') }, both('a'), h(Waiting))
    const { until, text } = await render(context, connect(), page, { strict: true })
    await until(() => text() === 'wait')
    ready.resolve('ready ')
    await until(() => text() === `${said}\nready idle`)
    await agent.prompt('Again').result
    await until(() => text().includes('user: Again\nassistant: Good day.'))
  })
})
