import { loadFollow } from '../../../src/inspector/model/agent/laterFollowed.ts'
import { defineAgent } from '../../../../define/src/defineAgent.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import type { AgentViewState } from '../../../src/inspector/model/agent/agentView.ts'
import { Inspector, type InspectorPorts } from '../../../src/inspector/model/shell/inspector.ts'
import { sourceWords } from '../../../src/inspector/model/events/useWords.ts'
import { say } from '../../../src/inspector/model/agent/say.ts'
import { forkSession } from '../../../../sessions/src/forkSession.ts'
import { z } from 'zod'
import { serveAgents, type Serving } from '../../../../bridge/test/server/bridgeHarness.ts'
import { scriptedSource } from '../../../../../test/support/scriptedSource.ts'
import { assert, describe, type CaseContext } from '../../../../../test/support/suite.ts'
import { artifactsAt } from '../artifacts/artifactsAt.ts'

const ask = defineTool({
  name: 'ask',
  description: 'Asks.',
  input: z.object({}),
  needsApproval: true,
  run: () => 'was allowed',
})
const talker = defineAgent({ name: 'talker', model: policyModel(() => 'hello') })
const asker = defineAgent({
  name: 'asker',
  model: policyModel(({ messages }) =>
    messages.some(({ role }) => role === 'toolResult') ? 'over' : { toolCalls: [{ name: 'ask', input: {} }] },
  ),
  tools: [ask],
})

interface Page {
  readonly inspector: Inspector
  /** The hash of the address. */
  readonly hash: () => string
  until(what: (view: AgentViewState) => boolean): Promise<AgentViewState>
}

/** The page without a document: frames come at once. */
function open({ cleanup, signal }: CaseContext, serving: Serving, hash = '', token?: string): Page {
  let address = hash
  let remembered = token
  const ports: InspectorPorts = {
    url: serving.server.url,
    address: { read: () => address, write: (next) => (address = next), listen: () => () => {} },
    memory: { get: () => remembered, set: (given) => (remembered = given) },
    nextFrame: (flush) => {
      const frame = setImmediate(flush)
      return () => clearImmediate(frame)
    },
    clock: {
      now: () => Date.now(),
      after: (ms, callback) => {
        const timer = setTimeout(callback, ms)
        return () => clearTimeout(timer)
      },
    },
    readChart: async () => null,
    files: artifactsAt(`http://127.0.0.1:${serving.server.port}`).ports,
  }
  const inspector = new Inspector(ports)
  cleanup(() => inspector.close())
  return {
    inspector,
    hash: () => address,
    until: (what) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        const undo: (() => void)[] = []
        const look = (view: AgentViewState | undefined): void => {
          if (view === undefined || !what(view)) return
          for (const end of undo.splice(0)) end()
          resolve(view)
        }
        undo.push(
          inspector.agent.subscribe((agent) => {
            if (agent !== null) undo.push(agent.state.subscribe(look))
          }),
        )
      }),
  }
}

// The page fetches it before it shows an agent.
await loadFollow()

describe('the model of the inspector page', (it) => {
  it('chooses the only agent there is, and follows it live', async (context) => {
    const serving = await serveAgents(context, [talker])
    const agent = await serving.runtime.spawn(talker, { id: 'one' })
    const page = open(context, serving)
    await page.until(({ status }) => status === 'live')
    assert.is(page.hash(), '#agent=one')
    await agent.prompt('Hi').result
    const view = await page.until(({ lastSeq, chartState }) => lastSeq === agent.lastSeq && chartState === 'idle')
    assert.equal(view.conversation.log(), agent.conversation.log())
    assert.equal(view.spent, agent.spent)
  })

  it('says for which model an agent waits, and no longer than it does', async (context) => {
    const open1 = Promise.withResolvers<string>()
    const slow = defineAgent({ name: 'slow', model: policyModel(() => open1.promise, { id: 'p:m' }) })
    const serving = await serveAgents(context, [slow], { runtime: { models: { concurrency: 1 } } })
    const first = await serving.runtime.spawn(slow, { id: 'first' })
    const one = await serving.runtime.spawn(slow, { id: 'one' })
    const page = open(context, serving, '#agent=one')
    await page.until(({ status }) => status === 'live')
    const runs = [first.prompt('Hi').result, one.prompt('Hi').result]
    const waiting = await page.until(({ waitsFor }) => waitsFor !== null)
    assert.equal([waiting.waitsFor, waiting.chartState], ['p:m', 'replying.requesting'])
    open1.resolve('hello')
    await Promise.all(runs)
    const after = await page.until(({ chartState, records }) => chartState === 'idle' && records.length > 5)
    assert.is(after.waitsFor, null)
  })

  it('says which sources of tools an agent has, and how they are, also before it connected', async (context) => {
    const source = scriptedSource('srv', [ask])
    const definition = defineAgent({ name: 'handy', model: policyModel(() => 'hello'), tools: [source] })
    const serving = await serveAgents(context, [definition])
    const agent = await serving.runtime.spawn(definition, { id: 'one' })
    await agent.prompt('Hi').result
    source.goDown('it is down')
    await agent.prompt('Hi again').result
    const page = open(context, serving, '#agent=one')
    const tools = ['ask']
    const down = await page.until(({ sources }) => sources[0]?.state !== undefined)
    assert.equal(down.sources, [{ source: 'srv', state: 'waiting', trouble: 'it is down', tools }])
    assert.equal(down.sources.map(sourceWords), ['srv: 1 tool, waiting, it is down'])
    source.comeUp()
    await agent.prompt('And again').result
    const up = await page.until(({ sources }) => sources[0]?.state === 'up')
    assert.equal(up.sources, [{ source: 'srv', state: 'up', tools }])
    page.inspector.go({ at: agent.lastSeq - 1 })
    const past = await page.until(({ status }) => status === 'past')
    assert.equal(past.sources, [{ source: 'srv', tools }])
    assert.equal(past.sources.map(sourceWords), ['srv: 1 tool'])
  })

  it('shows a moment of the past, with what can be done switched off, and goes back', async (context) => {
    const serving = await serveAgents(context, [talker])
    const agent = await serving.runtime.spawn(talker, { id: 'one' })
    await agent.prompt('Hi').result
    const page = open(context, serving, '#agent=one&at=2')
    const past = await page.until(({ status }) => status === 'past')
    assert.equal([past.at, past.conversation.head, past.pending.length], [2, null, 0])
    assert.match(page.inspector.controls.value.prompt ?? '', /past/)
    page.inspector.go({ at: null })
    const now = await page.until(({ status }) => status === 'live')
    assert.is(now.conversation.head, 2)
    assert.is(page.inspector.controls.value.prompt, null)
  })

  it('answers a call of the agent that waits', async (context) => {
    const serving = await serveAgents(context, [asker])
    await serving.runtime.spawn(asker, { id: 'one' })
    const page = open(context, serving, '#agent=one')
    await page.until(({ status }) => status === 'live')
    const agent = page.inspector.attached.value.connection.client.agent('one')
    await say(agent, 'prompt', 'Go')
    const { pending } = await page.until(
      ({ pending: { length }, chartState }) => length === 1 && chartState === 'paused',
    )
    assert.equal([pending[0]?.name, pending[0]?.agentId], ['ask', 'one'])
    await agent.decide(pending[0]!.key, 'approve')
    const view = await page.until(({ pending: { length }, chartState }) => length === 0 && chartState === 'idle')
    assert.match(JSON.stringify(view.conversation.trunk()), /was allowed/)
  })

  it('shows a fork with what it shares with its source', async (context) => {
    const serving = await serveAgents(context, [talker])
    const source = await serving.runtime.spawn(talker, { id: 'source' })
    await source.prompt('First').result
    await source.prompt('Second').result
    await forkSession(serving.store, 'source', 'n2', { id: 'fork' })
    const page = open(context, serving, '#agent=fork')
    const view = await page.until(({ status }) => status === 'live')
    const texts = JSON.stringify(view.conversation.trunk())
    assert.match(texts, /First/)
    assert.not.match(texts, /Second/)
    assert.equal([view.lastSeq, view.isRunning, view.spent.turns], [1, false, 0])
  })

  it('says that an agent does not exist', async (context) => {
    const serving = await serveAgents(context, [talker])
    const page = open(context, serving, '#agent=nobody')
    const view = await page.until(({ status }) => status === 'error')
    assert.is(view.error?.code, 'AGENT_NOT_FOUND')
  })

  it('asks for a token, and takes one from the address', async (context) => {
    const tokens = { 'a-token-of-a-visitor': 'observe' } as const
    const serving = await serveAgents(context, [talker], { tokens })
    await serving.runtime.spawn(talker, { id: 'one' })
    const page = open(context, serving, '#agent=one')
    const { inspector } = page
    await new Promise<void>((resolve) => {
      const undo = inspector.attached.value.connection.status.subscribe((status) => {
        if (status === 'refused') queueMicrotask(() => (undo(), resolve()))
      })
    })
    inspector.useToken('a-token-of-a-visitor')
    await page.until(({ status }) => status === 'live')
    assert.match(inspector.controls.value.prompt ?? '', /only lets you look/)
    const other = open(context, serving, '#agent=one&token=a-token-of-a-visitor')
    await other.until(({ status }) => status === 'live')
    assert.is(other.hash(), '#agent=one')
  })

  it('shows what the server refuses', async (context) => {
    const serving = await serveAgents(context, [talker])
    await serving.runtime.spawn(talker, { id: 'one' })
    const page = open(context, serving, '#agent=one')
    await page.until(({ status }) => status === 'live')
    const { connection } = page.inspector.attached.value
    const isDone = await page.inspector.attempt(() => connection.client.spawn('talker', { id: 'one' }))
    assert.is(isDone, false)
    assert.is(connection.errors.value[0]?.code, 'AGENT_EXISTS')
    connection.dismiss(connection.errors.value[0]!.key)
    assert.equal(connection.errors.value, [])
  })

  it('shows what was refused of an agent while that agent is shown, and nothing that is shown elsewhere', async (context) => {
    const serving = await serveAgents(context, [talker])
    await serving.runtime.spawn(talker, { id: 'one' })
    const page = open(context, serving, '#agent=one')
    await page.until(({ status }) => status === 'live')
    const { inspector } = page
    const { connection } = inspector.attached.value
    const spawn = () => connection.client.spawn('talker', { id: 'one' })
    const told = () => connection.errors.value.map(({ code }) => code)
    assert.is(await inspector.attempt(spawn, () => true), false)
    assert.equal(told(), [])
    await inspector.attempt(spawn)
    connection.report({ code: 'INTERNAL', message: 'Of no agent.' })
    inspector.go({ view: 'chart' })
    assert.equal(told(), ['INTERNAL', 'AGENT_EXISTS'])
    inspector.go({ agent: null })
    assert.equal(told(), ['INTERNAL'])
  })
})
