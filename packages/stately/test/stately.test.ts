import { once } from 'node:events'
import { createActor, createMachine } from 'xstate'
import { createActor as createOlderActor } from 'xstate-5-28'
import { WebSocket } from 'ws'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { stately, statelyMessage } from '../src/stately.ts'
import { agentLogic } from '../../../src/xstate.ts'
import { serveAgents, type Serving } from '../../bridge/test/server/bridgeHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(({ messages }) => `${messages.length}`) })

interface Message {
  readonly type: string
  readonly sessionId: string
  readonly name?: string
  readonly parentId?: string
  readonly rootId?: string
  readonly definition?: string
  readonly event?: { readonly type: string }
  readonly snapshot?: { readonly value?: unknown; readonly status: string }
}

/** A tool that listens at `/stately`. */
async function listenTo({ cleanup }: CaseContext, { server }: Serving, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/stately`, { headers })
  cleanup(() => socket.terminate())
  const messages: Message[] = []
  let look = (): void => {}
  socket.on('message', (data) => {
    messages.push(JSON.parse((data as Buffer).toString()) as Message)
    look()
  })
  await once(socket, 'open')
  const until = (fits: (messages: readonly Message[]) => boolean): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        if (fits(messages)) resolve()
      }
      look()
    })
  return { socket, messages, until }
}

const states = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ type, snapshot }) => (type === '@xstate.snapshot' ? [JSON.stringify(snapshot?.value)] : []))

describe('the Stately inspector', (it) => {
  it('is told of agents that run, of those that come, and of what becomes of them', async (context) => {
    const serving = await serveAgents(context, [echo], { endpoints: [stately()] })
    const before = await serving.runtime.spawn(echo, { id: 'before' })
    const tool = await listenTo(context, serving)
    await tool.until((messages) => messages.some(({ name }) => name === 'before'))
    const actor = tool.messages.find(({ name }) => name === 'before')!
    assert.is(actor.type, '@xstate.actor')
    const definition = JSON.parse(actor.definition!) as { states: object }
    assert.ok(Object.keys(definition.states).includes('replying'))
    await before.prompt('go').result
    await tool.until((messages) => states(messages).some((state) => state === '"idle"'))
    const own = tool.messages.filter(({ sessionId }) => sessionId === actor.sessionId)
    assert.ok(own.some(({ type, event }) => type === '@xstate.event' && event?.type === 'prompt'))
    assert.ok(states(own).some((state) => state.includes('requesting')))
    await serving.runtime.spawn(echo, { id: 'after' })
    await tool.until((messages) => messages.some(({ name }) => name === 'after'))
  })

  it('sees sub-agents below the agent that called them', async (context) => {
    const worker = defineAgent({ name: 'worker', description: 'works', model: policyModel(() => 'done') })
    const boss = defineAgent({
      name: 'boss',
      agents: [worker],
      model: policyModel(({ messages }) =>
        messages.length === 1 ? { toolCalls: [{ name: 'worker', input: { task: 'x' } }] } : 'fine',
      ),
    })
    const serving = await serveAgents(context, [boss], { endpoints: [stately()] })
    const tool = await listenTo(context, serving)
    const agent = await serving.runtime.spawn(boss, { id: 'b1' })
    await agent.prompt('go').result
    const machines = (messages: readonly Message[]): Message[] =>
      messages.filter(({ definition }) => definition !== undefined && 'states' in JSON.parse(definition))
    await tool.until((messages) => machines(messages).length >= 3)
    const [root, supervisor, child] = machines(tool.messages)
    assert.equal([root!.name, supervisor!.parentId, child!.parentId], ['b1', root!.sessionId, supervisor!.sessionId])
  })

  it('sees an agent below an actor of the application as a root, whatever other copies of XState count', async (context) => {
    const serving = await serveAgents(context, [echo], { endpoints: [stately()], runtime: { interpreter: 'xstate' } })
    const tool = await listenTo(context, serving)
    const ids = ['b1', 'b2', 'b3', 'b4', 'b5']
    const [first] = await Promise.all(ids.map((id) => serving.runtime.spawn(echo, { id })))
    const actor = createOlderActor(agentLogic(serving.runtime, echo), { input: { id: 'a1', prompt: 'go' } })
    // The other copy is made to count on from what the agents above have.
    let booked = Number(first!.ref!.sessionId.slice('x:'.length))
    const bookId = (): string => `x:${booked++}`
    Object.assign(actor, { sessionId: bookId() })
    Object.assign(actor.system, { _bookId: bookId })
    await new Promise<void>((resolve) => void actor.start().subscribe({ complete: resolve }))
    const named = (messages: readonly Message[], name: string): Message[] =>
      messages.filter((message) => message.type === '@xstate.actor' && message.name === name)
    await tool.until((messages) => ['a1', ...ids].every((id) => named(messages, id).length > 0))
    const roots = ['a1', ...ids].map((id) => named(tool.messages, id)[0]!)
    assert.ok(roots.every(({ parentId, sessionId, rootId }) => parentId === undefined && sessionId === rootId))
    assert.is(new Set(roots.map(({ sessionId }) => sessionId)).size, roots.length)
    const replies = named(tool.messages, 'reply')
    assert.equal(
      replies.map(({ parentId }) => parentId),
      replies.map(({ rootId }) => rootId),
    )
  })

  it('gets nothing that the application wants redacted', async (context) => {
    const secret = 'sk-very-secret-0123456789'
    const serving = await serveAgents(context, [echo], {
      endpoints: [stately()],
      runtime: { redact: { secrets: { KEY: secret } } },
    })
    const tool = await listenTo(context, serving)
    const agent = await serving.runtime.spawn(echo, { id: 'a1' })
    await agent.prompt(`my key is ${secret}`).result
    await tool.until((messages) => states(messages).some((state) => state === '"idle"'))
    const all = JSON.stringify(tool.messages)
    assert.ok(all.includes('my key is'))
    assert.not(all.includes(secret))
  })

  it('is let in only with a token, where tokens are asked for, and not at all unless it is wanted', async (context) => {
    const tokens = { 'some-token-0123456789': 'observe' } as const
    const guarded = await serveAgents(context, [echo], { endpoints: [stately()], tokens })
    const refused = await listenTo(context, guarded).catch((thrown: unknown) => (thrown as Error).message)
    assert.is(refused, 'Unexpected server response: 401')
    await guarded.runtime.spawn(echo, { id: 'a1' })
    const tool = await listenTo(context, guarded, { authorization: 'Bearer some-token-0123456789' })
    await tool.until((messages) => messages.length > 0)
    const closed = await serveAgents(context, [echo])
    assert.is(
      await listenTo(context, closed).catch((thrown: unknown) => (thrown as Error).message),
      'Unexpected server response: 404',
    )
  })

  it('is told of a running sub-agent by a token that reaches no more than that', async (context) => {
    const tokens = { 'some-token-0123456789': { role: 'observe', agents: ['kid'] } } as const
    const serving = await serveAgents(context, [echo], { endpoints: [stately()], tokens })
    const root = await serving.runtime.spawn(echo, { id: 'root' })
    await root.spawn(echo, { id: 'kid' })
    const tool = await listenTo(context, serving, { authorization: 'Bearer some-token-0123456789' })
    // Below its supervisor it goes by that name.
    await tool.until((messages) => messages.some(({ name }) => name === 'agent'))
    assert.equal(
      tool.messages.map(({ name }) => name),
      ['agent'],
    )
  })

  it('is left alone when it writes, and lets go of everything when it leaves', async (context) => {
    const serving = await serveAgents(context, [echo], { endpoints: [stately()] })
    const agent = await serving.runtime.spawn(echo, { id: 'a1' })
    const tool = await listenTo(context, serving)
    tool.socket.send('{"type":"xstate.stop"}')
    assert.is((await agent.prompt('x').result).text, '1')
    tool.socket.close()
    await once(tool.socket, 'close')
    assert.is((await agent.prompt('y').result).text, '3')
  })
})

describe('messages for it', (it) => {
  it('show functions by name and leave out events that it does not know', () => {
    const machine = createMachine({ id: 'm', entry: function begin() {} })
    const actor = createActor(machine)
    const inspected = { agentId: 'a1', top: actor, time: 5 }
    const message = statelyMessage({ type: '@xstate.actor', rootId: 'r', actorRef: actor }, inspected) as Message
    assert.match(message.definition!, '"type":"begin"')
    assert.is((message as unknown as { createdAt: string }).createdAt, '5')
    const action = { type: '@xstate.action', rootId: 'r', actorRef: actor, action: { type: 'x', params: {} } } as const
    assert.is(statelyMessage(action, inspected), undefined)
  })
})

describe('incognito agents', (it) => {
  it('are not shown to the Stately inspector, alone or below one that is', async (context) => {
    const serving = await serveAgents(context, [echo], { endpoints: [stately()] })
    const tool = await listenTo(context, serving)
    const hidden = await serving.runtime.spawn(echo, { id: 'hidden', incognito: true })
    await hidden.prompt('a secret').result
    const shown = await serving.runtime.spawn(echo, { id: 'shown' })
    const child = await shown.spawn(echo, { incognito: true })
    await child.prompt('a secret').result
    await shown.prompt('go').result
    await serving.runtime.spawn(echo, { id: 'last' })
    await tool.until((messages) => messages.some(({ name }) => name === 'last'))
    assert.ok(tool.messages.some(({ event }) => event?.type === 'prompt'))
    assert.not.match(JSON.stringify(tool.messages), 'a secret')
    assert.ok(!tool.messages.some(({ name }) => name === 'hidden'))
  })
})
