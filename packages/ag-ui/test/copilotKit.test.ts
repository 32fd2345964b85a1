import { EventType, type Event } from '@ag-ui/core'
import { z } from 'zod'
import { defineAgent, defineTool, policyModel, type AgentDefinition } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { lastingStore } from '../../bridge/test/server/bridgeHarness.ts'
import { tool } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import {
  heldReply,
  inputOf,
  ofType,
  readEvents,
  serveFrontEnds,
  Stream,
  typesOf,
  type FrontEnd,
} from './agUiHarness.ts'

const plan = z.object({ title: z.string(), steps: z.array(z.string()) })

/** Calls the tool that it is told to, or repeats what was said. */
const desk = (name = 'desk'): AgentDefinition =>
  defineAgent({
    name,
    state: { schema: plan, initial: { title: '', steps: ['one'] } },
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      const said = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      return last.role === 'user' && ['book', 'pick'].includes(said) ? { toolCalls: [{ name: said, input: {} }] } : said
    }),
    tools: [
      tool('book', () => 'booked', { needsApproval: true }),
      defineTool({ name: 'pick', description: 'Picks.', input: z.looseObject({}) }),
    ],
  })

/** Tokens. */
const [all, some] = ['a'.repeat(20), 's'.repeat(20)]

const pick = { name: 'pick', description: 'Picks.', parameters: { type: 'object' } }

const said = (id: string, content: string) => ({ id, role: 'user', content }) as const

/** The interrupts at the end of a run. */
const interruptsOf = (events: readonly Event[]) => {
  const [end] = ofType(events, EventType.RUN_FINISHED)
  return end?.outcome?.type === 'interrupt' ? end.outcome.interrupts : []
}

const textIn = (events: readonly Event[]): string =>
  [
    ...ofType(events, EventType.MESSAGES_SNAPSHOT).flatMap(({ messages }) =>
      messages.map(({ content }) => JSON.stringify(content)),
    ),
    ...ofType(events, EventType.TEXT_MESSAGE_CONTENT).map(({ delta }) => delta),
  ].join('')

const at = async (front: FrontEnd, path: string, body?: unknown, init: RequestInit = {}) =>
  await fetch(`${front.url}${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: { 'content-type': 'application/json' },
    ...init,
  })
const json = async (response: Promise<Response>): Promise<unknown> => await (await response).json()
const statusOf = async (response: Promise<Response>): Promise<number> => (await response).status

describe('an answer under the runId of the run that asked', (it) => {
  const approve = (id: string) => [{ interruptId: id, status: 'resolved' as const, payload: { approved: true } }]

  it('goes on with that run; sent again it changes nothing', async (context) => {
    const front = await serveFrontEnds(context, [desk()])
    const asked = await readEvents(await front.post(inputOf({ messages: [said('m1', 'book')] })))
    const [interrupt] = interruptsOf(asked)
    const answer = inputOf({ messages: [said('m1', 'book')], resume: approve(interrupt!.id) })
    const events = await readEvents(await front.post(answer))
    assert.match(textIn(events), 'booked')
    assert.equal(interruptsOf(events), [])
    const again = await readEvents(await front.post(answer))
    assert.equal(ofType(again, EventType.RUN_FINISHED)[0]!.outcome, { type: 'success' })
    const decisions: string[] = []
    for await (const record of front.runtime.agent('thread')!.readLog())
      if (record.type === 'approval.decided') decisions.push(record.decision)
    assert.equal(decisions.length, 1)
  })

  it('needs the right to decide, also then', async (context) => {
    const front = await serveFrontEnds(context, [desk()], { tokens: { [all]: 'admin', [some]: 'talk' } })
    const post = (input: unknown, token: string) =>
      front.post(input, { headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } })
    const asked = await readEvents(await post(inputOf({ messages: [said('m1', 'book')] }), all))
    const [interrupt] = interruptsOf(asked)
    assert.is((await post(inputOf({ messages: [], resume: approve(interrupt!.id) }), some)).status, 403)
    assert.is(front.runtime.agent('thread')!.pending().length, 1)
  })

  it('is taken after a restart of the server', async (context) => {
    const store = lastingStore()
    const before = await serveFrontEnds(context, [desk()], { runtime: { store } })
    const asked = await readEvents(await before.post(inputOf({ messages: [said('m1', 'book')] })))
    await before.server.close()
    await before.runtime.close()
    const after = await serveFrontEnds(context, [desk()], { runtime: { store } })
    const resume = approve(interruptsOf(asked)[0]!.id)
    const events = await readEvents(await after.post(inputOf({ messages: [said('m1', 'book')], resume })))
    assert.match(textIn(events), 'booked')
  })
})

describe('a look at an AG-UI thread', (it) => {
  const connect = (over: object = {}) => inputOf({ messages: [], forwardedProps: { command: 'connect' }, ...over })

  it('of a thread that has not begun is nothing, and begins none', async (context) => {
    const front = await serveFrontEnds(context, [desk()])
    assert.equal(typesOf(await readEvents(await front.post(connect()))), ['RUN_STARTED', 'RUN_FINISHED'])
    assert.is(front.runtime.agent('thread'), undefined)
  })

  it('shows messages, state and what waits, and wakes nobody', async (context) => {
    const store = lastingStore()
    const before = await serveFrontEnds(context, [desk()], { runtime: { store } })
    await readEvents(await before.post(inputOf({ messages: [said('m1', 'book')] })))
    const live = await readEvents(await before.post(connect({ runId: 'look' })))
    assert.equal(interruptsOf(live).length, 1)
    await before.server.close()
    await before.runtime.close()
    const after = await serveFrontEnds(context, [desk()], { runtime: { store } })
    const events = await readEvents(await after.post(connect({ runId: 'look' })))
    assert.equal(typesOf(events), ['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'STATE_SNAPSHOT', 'RUN_FINISHED'])
    assert.match(textIn(events), 'book')
    assert.is(after.runtime.agent('thread'), undefined)
  })

  it('follows what is under way until it ends, and its leaving aborts nothing', async (context) => {
    const held = heldReply([{ type: 'text.delta', text: 'half' }], 'half and whole')
    const front = await serveFrontEnds(context, [defineAgent({ name: 'a', model: scriptedModel([held]) })])
    const run = new Stream(await front.post(inputOf()))
    const hears = (text: string) => (stream: Stream) => textIn(stream.events).includes(text)
    await run.until(hears('half'))
    const leaving = new AbortController()
    const left = new Stream(await front.post(connect({ runId: 'left' }), { signal: leaving.signal }))
    await left.until(hears('half'))
    leaving.abort()
    const look = new Stream(await front.post(connect({ runId: 'look' })))
    await look.until(hears('half'))
    held.release()
    await Promise.all([run.ended, look.ended])
    assert.match(textIn(look.events), 'and whole')
    assert.equal(look.events.at(-1)!.type, 'RUN_FINISHED')
  })
})

describe('what clients of CopilotKit ask a runtime', (it) => {
  it('is answered below the endpoint: which agents there are', async (context) => {
    const front = await serveFrontEnds(context, [desk(), desk('other')])
    const info = (await json(at(front, '/info'))) as { agents: Record<string, { name: string }>; mode: string }
    assert.equal([Object.keys(info.agents), info.mode], [['default', 'desk', 'other'], 'sse'])
    assert.equal(await json(at(front, '', { method: 'info' })), info)
    const one = await serveFrontEnds(context, [desk(), desk('default')], { definition: 'default' })
    assert.equal(Object.keys(((await json(at(one, '/info'))) as typeof info).agents), ['default'])
  })

  it('is answered: runs, looks and ends, each in a place of its own or all in one', async (context) => {
    const front = await serveFrontEnds(context, [desk(), desk('other')])
    const input = inputOf({ threadId: 'a', messages: [said('m1', 'hi')] })
    assert.match(textIn(await readEvents(await at(front, '/agent/other/run', input))), 'hi')
    assert.is(front.runtime.agent('a')!.definition, 'other')
    const look = await readEvents(await at(front, '/agent/default/connect', inputOf({ threadId: 'a', messages: [] })))
    assert.match(textIn(look), 'hi')
    const params = { agentId: 'desk', threadId: 'b' }
    const enveloped = { method: 'agent/run', params, body: inputOf({ threadId: 'b', messages: [said('m2', 'ho')] }) }
    assert.match(textIn(await readEvents(await at(front, '', enveloped))), 'ho')
    assert.is(front.runtime.agent('b')!.definition, 'desk')
    assert.equal(await json(at(front, '', { method: 'agent/stop', params })), { stopped: false })
    assert.is(await statusOf(at(front, '/agent/desk/run', input)), 400)
    assert.is(await statusOf(at(front, '/agent/nobody/run', input)), 404)
    for (const path of ['/elsewhere', '/agent/desk', '/agent/desk/run/more', '/agent/desk/stop', '/agent//run'])
      assert.is(await statusOf(at(front, path, input)), 404, path)
    assert.is(await statusOf(at(front, '/info', {})), 405)
    assert.is(await statusOf(at(front, '/agent/desk/run')), 405)
    assert.is(await statusOf(at(front, '', { method: 'agent/sing', params })), 400)
    assert.is(await statusOf(at(front, '/agent/desk/stop/b', { run: 'r' })), 400)
    assert.is(await statusOf(at(front, '/agent/desk/stop/c', {})), 404)
  })

  it('ends the run that is under way or waits, and no other', async (context) => {
    const held = heldReply([{ type: 'text.delta', text: 'half' }], 'half and whole')
    const model = scriptedModel([held, 'three'])
    const front = await serveFrontEnds(context, [defineAgent({ name: 'a', model })])
    const run = new Stream(await front.post(inputOf({ threadId: 't' })))
    await run.until(({ events }) => textIn(events).includes('half'))
    const queued = inputOf({ threadId: 't', runId: 'r2', messages: [said('m1', 'hello'), said('m2', 'two')] })
    const waiting = new Stream(await front.post(queued))
    const stop = (runId?: string) => json(at(front, '/agent/a/stop/t', runId === undefined ? '' : { runId }))
    assert.equal(await stop('r2'), { stopped: true })
    await waiting.ended
    assert.not.match(textIn(run.events), 'whole')
    assert.equal(await stop('r1'), { stopped: true })
    await run.ended
    assert.equal([await stop(), await stop('r1')], [{ stopped: false }, { stopped: false }])
    assert.is(front.runtime.agent('t')!.state, 'idle')
  })

  it('ends what has begun under another runId', async (context) => {
    const held = heldReply([{ type: 'text.delta', text: 'half' }], 'half and whole')
    const model = scriptedModel([{ toolCalls: [{ name: 'book', input: {} }] }, held])
    const tools = [tool('book', () => 'booked', { needsApproval: true })]
    const front = await serveFrontEnds(context, [defineAgent({ name: 'a', model, tools })])
    const [interrupt] = interruptsOf(await readEvents(await front.post(inputOf())))
    const resume = [{ interruptId: interrupt!.id, status: 'resolved', payload: { approved: true } }] as const
    const run = new Stream(await front.post(inputOf({ runId: 'r2', resume: [...resume] })))
    await run.until(({ events }) => textIn(events).includes('half'))
    assert.equal(await json(at(front, '/agent/a/stop/thread', { runId: 'r2' })), { stopped: true })
    await run.ended
    assert.not.match(textIn(run.events), 'whole')
  })

  it('is refused without the rights to it', async (context) => {
    const front = await serveFrontEnds(context, [desk()], { tokens: { [all]: 'admin', [some]: 'observe' } })
    const headers = (token: string) => ({
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
    const input = inputOf({ messages: [said('m1', 'book')] })
    await readEvents(await at(front, '/agent/desk/run', input, headers(all)))
    assert.is(await statusOf(at(front, '/agent/desk/stop/thread', {}, headers(some))), 403)
    assert.is(await statusOf(at(front, '/agent/desk/run', input, headers(some))), 403)
    assert.is(await statusOf(at(front, '/agent/desk/connect', { ...input, messages: [] }, headers(some))), 200)
    assert.is(await statusOf(at(front, '/info')), 401)
  })
})

describe('a page of AG-UI', (it) => {
  it('shares a state of its own making, once it shows what there is', async (context) => {
    const front = await serveFrontEnds(context, [desk()])
    const state = (): unknown => front.runtime.agent('thread')!.appState
    const run = async (over: object) => await readEvents(await front.post(inputOf(over)))
    await run({ messages: [said('m1', 'hi')], state: { title: 'first' } })
    assert.equal(state(), { title: 'first', steps: ['one'] })
    // It was loaded anew, and does not know the thread.
    await run({ runId: 'r2', messages: [said('m2', 'on')], state: { title: 'stale' } })
    assert.equal(state(), { title: 'first', steps: ['one'] })
    const shown = ofType(
      await run({ runId: 'look', messages: [], forwardedProps: { command: 'connect' } }),
      EventType.MESSAGES_SNAPSHOT,
    ).at(-1)!.messages
    await run({ runId: 'r3', messages: [...shown, said('m3', 'on')], state: {} })
    assert.equal(state(), { title: 'first', steps: ['one'] })
  })

  it('that says something instead of a result goes on without it', async (context) => {
    const front = await serveFrontEnds(context, [desk()])
    await readEvents(await front.post(inputOf({ messages: [said('m1', 'pick')], tools: [pick] })))
    assert.equal(
      front.runtime
        .agent('thread')!
        .pending()
        .map(({ kind }) => kind),
      ['call'],
    )
    const elsewhere = await front.post(inputOf({ runId: 'r2', messages: [said('m2', 'no')] }))
    assert.is(elsewhere.status, 400, 'it does not have the tool')
    const events = await readEvents(
      await front.post(inputOf({ runId: 'r3', messages: [said('m2', 'no')], tools: [pick] })),
    )
    assert.match(textIn(events), 'no')
    assert.equal(front.runtime.agent('thread')!.pending(), [])
  })
})

describe('a client of AG-UI that leaves', (it) => {
  for (const abortOnLeave of [true, false])
    it(abortOnLeave ? 'aborts its run where that is wanted' : 'aborts nothing elsewhere', async (context) => {
      const held = heldReply([{ type: 'text.delta', text: 'half' }], 'half and whole')
      const front = await serveFrontEnds(context, [defineAgent({ name: 'a', model: scriptedModel([held]) })], {
        abortOnLeave,
      })
      const follow = async () => {
        const leaving = new AbortController()
        const run = new Stream(await front.post(inputOf(), { signal: leaving.signal }))
        await run.until(({ events }) => textIn(events).includes('half'))
        const leave = async (): Promise<void> => {
          leaving.abort()
          await run.ended
        }
        return { run, leave }
      }
      const [first, second, third] = [await follow(), await follow(), await follow()]
      const ended = new Promise<string>((resolve) => {
        front.runtime.agent('thread')!.subscribe((event) => {
          if (event.type === 'run.end') resolve(event.stopReason)
        })
      })
      await first.leave()
      await second.leave()
      assert.is(front.runtime.agent('thread')!.state, 'replying.streaming', 'others follow it')
      await third.leave()
      if (!abortOnLeave) held.release()
      assert.is(await ended, abortOnLeave ? 'aborted' : 'stop')
    })
})
