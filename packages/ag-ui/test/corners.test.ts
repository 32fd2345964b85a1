import { EventType, type Event } from '@ag-ui/core'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { heuristicStrategy } from '../../../src/actors/brakes/compaction/summariseSpan.ts'
import { defineAgent, defineTool } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import {
  customs,
  delta,
  heldReply,
  inputOf,
  longReply,
  ofType,
  readEvents,
  say,
  serveFrontEnds,
  someUsage,
  Stream,
  typesOf,
  verified,
} from './agUiHarness.ts'

const careful = defineTool({
  name: 'careful',
  description: 'Asks.',
  input: z.object({}),
  needsApproval: true,
  run: async () => 'done',
})
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.number() }),
  run: async ({ at }) => `${at} ${'long words '.repeat(40)}`,
})
const call = (name: string, input: unknown = {}) => ({ toolCalls: [{ name, input }] })
const pixel = 'R0lGODlhAQABAAAAACw='

describe('AG-UI', (it) => {
  it('goes on with a run that a process left behind and nobody has resumed', async (context) => {
    const store = { ...memoryStore(), close: async () => {} }
    const stuck = scriptedModel([
      {
        parts: (async function* () {
          await new Promise(() => {})
          yield delta('never')
        })(),
      },
    ])
    const before = await serveFrontEnds(context, [defineAgent({ name: 'a', model: stuck })], { runtime: { store } })
    const stream = new Stream(await before.post(inputOf()))
    await stream.until(({ events }) => events.some(({ type }) => type === EventType.STEP_STARTED))
    const copy = memoryStore()
    const lease = await copy.open('thread')
    for await (const record of store.read('thread')) await copy.append('thread', [record])
    await lease.release()
    const model = scriptedModel(['at last', 'more'])
    const definition = defineAgent({ name: 'a', model })
    const after = await serveFrontEnds(context, [definition], { runtime: { store: copy } })
    await after.runtime.resume('thread', definition, { continue: false })
    const asked = await readEvents(await after.post(inputOf()))
    const { outcome } = ofType(asked, EventType.RUN_FINISHED)[0]!
    const [pause] = outcome?.type === 'interrupt' ? outcome.interrupts : []
    assert.is(pause!.reason, 'escapement:interrupted')
    assert.is(model.requests.length, 0)
    // An answer to a call that the old server asked about is one to the pause.
    const resume = [{ interruptId: 'thread/t0/tool/c', status: 'resolved' as const, payload: { approved: true } }]
    const events = await readEvents(await after.post(inputOf({ runId: 'r2', messages: [], resume })))
    assert.is(ofType(events, EventType.RUN_FINISHED)[0]!.result?.text, 'at last')
  })

  it('leaves a run paused where who gives it up says more than they may', async (context) => {
    const model = scriptedModel([call('look', { at: 1 }), 'end'])
    const definition = defineAgent({ name: 'a', model, tools: [look], limits: { turns: 1 } })
    const tokens = { 'a-token-that-may-do-all': 'admin', 'a-token-of-a-talker-only': 'talk' } as const
    const { agent: dial, post, runtime } = await serveFrontEnds(context, [definition], { tokens })
    const admin = dial('thread', { authorization: 'Bearer a-token-that-may-do-all' })
    await say(admin, 'hi')
    const input = inputOf({
      runId: 'r2',
      messages: [...admin.messages, { id: 'more', role: 'user', content: 'never mind' }],
      context: [{ description: 'page', value: 'of a client' }],
      resume: [{ interruptId: admin.pendingInterrupts[0]!.id, status: 'cancelled' }],
    })
    const headers = { authorization: 'Bearer a-token-of-a-talker-only', 'content-type': 'application/json' }
    assert.is((await post(input, { headers })).status, 403)
    assert.is(runtime.agent('thread')!.pause?.type, 'limit')
  })

  it('does not go on past a limit for an answer to something else', async (context) => {
    const model = scriptedModel([call('look', { at: 1 }), 'end'])
    const definition = defineAgent({ name: 'a', model, tools: [look], limits: { turns: 1 } })
    const { post, runtime } = await serveFrontEnds(context, [definition])
    await readEvents(await post(inputOf()))
    const resume = [{ interruptId: 'thread/t0/tool/c', status: 'resolved' as const, payload: { approved: true } }]
    const response = await post(inputOf({ runId: 'r2', messages: [], resume }))
    assert.is(response.status, 409)
    assert.is(runtime.agent('thread')!.state, 'paused')
  })

  it('gives the whole reply to a client that has a part of it', async (context) => {
    const { post } = await serveFrontEnds(context, [defineAgent({ name: 'a', model: scriptedModel(['one two']) })])
    await readEvents(await post(inputOf()))
    const messages = [...inputOf().messages, { id: 'thread/t0', role: 'assistant' as const, content: 'one ' }]
    const client = await verified(await readEvents(await post(inputOf({ messages }))), messages)
    assert.is(client.messages.at(-1)!.content, 'one two')
  })

  it('decides nothing when a question is answered twice', async (context) => {
    const definition = defineAgent({ name: 'a', model: scriptedModel([call('careful')]), tools: [careful] })
    const { post, runtime } = await serveFrontEnds(context, [definition])
    await readEvents(await post(inputOf()))
    const { key } = runtime.agent('thread')!.approvals()[0]!
    const answer = { interruptId: key, status: 'resolved' as const, payload: { approved: true } }
    const response = await post(inputOf({ runId: 'r2', messages: [], resume: [answer, answer] }))
    assert.is(response.status, 400)
    assert.is(runtime.agent('thread')!.approvals().length, 1)
  })

  it('takes an answer and a message that comes along', async (context) => {
    const model = scriptedModel([call('careful'), 'went well', 'and you too'])
    const { agent: dial } = await serveFrontEnds(context, [defineAgent({ name: 'a', model, tools: [careful] })])
    const agent = dial()
    await say(agent, 'go')
    const resume = agent.pendingInterrupts.map(({ id }) => ({
      interruptId: id,
      status: 'resolved' as const,
      payload: { approved: true },
    }))
    await say(agent, 'have a nice day', { resume })
    assert.is(model.requests.length, 3)
    assert.is(agent.messages.at(-1)!.content, 'and you too')
  })

  it('shows a WebSocket that reads slowly how things stand, once it reads', { timeoutMs: 10_000 }, async (context) => {
    const piece = 'x'.repeat(65_536)
    const model = scriptedModel([longReply(piece, 200)])
    const { url, runtime } = await serveFrontEnds(context, [defineAgent({ name: 'a', model })], {
      limits: { highWaterBytes: 256 * 1024, drainMs: 50 },
    })
    const socket = new WebSocket(url.replace('http', 'ws'))
    context.cleanup(() => socket.terminate())
    const events: Event[] = []
    const ended = new Promise<void>((resolve) =>
      socket.on('message', (data) => {
        const { threadId, runId, ...event } = JSON.parse((data as Buffer).toString()) as Event & Record<string, unknown>
        const isEdge = event.type === EventType.RUN_STARTED || event.type === EventType.RUN_FINISHED
        events.push({ ...event, ...(isEdge ? { threadId, runId } : {}) } as Event)
        if (event.type === EventType.RUN_FINISHED) resolve()
        if (event.type === EventType.RUN_STARTED) socket.pause()
      }),
    )
    await new Promise((resolve) => socket.on('open', resolve))
    socket.send(JSON.stringify(inputOf()))
    await new Promise<void>((resolve) => {
      const see = (): void => {
        const agent = runtime.agent('thread')
        if (agent?.state === 'idle' && agent.conversation.trunk().length === 2) resolve()
        else setImmediate(see)
      }
      see()
    })
    socket.resume()
    await ended
    assert.ok(ofType(events, EventType.TEXT_MESSAGE_CONTENT).length < 150)
    const client = await verified(events, inputOf().messages)
    assert.is((client.messages.at(-1)!.content as string).length, piece.length * 200)
  })

  it('shows no secret, to one who comes in the middle of a reply either', async (context) => {
    const secret = 'correct-horse-battery'
    const held = heldReply([delta('it is correct-horse'), delta('-battery, and ')], `it is ${secret}, and more`)
    const { post } = await serveFrontEnds(context, [defineAgent({ name: 'a', model: scriptedModel([held]) })], {
      runtime: { redact: { secrets: { KEY: secret } } },
    })
    const first = new Stream(await post(inputOf()))
    await first.until(({ events }) => events.some(({ type }) => type === EventType.TEXT_MESSAGE_START))
    const second = new Stream(await post(inputOf()))
    await second.until(({ events }) => events.some(({ type }) => type === EventType.STATE_SNAPSHOT))
    held.release()
    await Promise.all([first.ended, second.ended])
    for (const { events } of [first, second]) {
      assert.not(JSON.stringify(events).includes('horse'))
      const client = await verified(events, inputOf().messages)
      const text = client.messages.at(-1)!.content as string
      assert.match(text, /^it is .+, and more$/)
    }
  })

  it('tells of grafts, and shows the copies under ids of their own', async (context) => {
    const back = { name: 'revert_to_state', input: { category: 'failure', step: 'n1', summary: 'no' } }
    const model = scriptedModel([
      call('look', { at: 1 }),
      call('look', { at: 2 }),
      { toolCalls: [back, { name: 'graft', input: { steps: ['n2', 'n4'] } }] },
      'the end',
    ])
    const definition = defineAgent({ name: 'a', model, tools: [look], braking: { revert: true, graft: true } })
    const { agent: dial } = await serveFrontEnds(context, [definition])
    const agent = dial()
    const events = await say(agent, 'remember 42')
    assert.is(customs(events, 'graft.applied').length, 1)
    assert.equal(
      agent.messages.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant'],
    )
    assert.is(new Set(agent.messages.map(({ id }) => id)).size, agent.messages.length)
    assert.is(agent.messages.at(-1)!.content, 'the end')
  })

  it('tells of compactions and prunes', async (context) => {
    const looking = Array.from({ length: 10 }, (_, at) => call('look', { at }))
    const model = scriptedModel([...looking.slice(0, 3), call('prun', { steps: ['n3'] }), ...looking, 'the end'])
    const definition = defineAgent({
      name: 'a',
      model,
      tools: [look],
      braking: { prune: true },
      compaction: {
        contextWindow: 1_500,
        keepFirst: 1,
        keepRecent: 2,
        maxSummaryTokens: 100,
        strategy: heuristicStrategy,
      },
    })
    const { agent: dial, runtime } = await serveFrontEnds(context, [definition])
    const agent = dial()
    const events = await say(agent, 'remember 42')
    assert.is(customs(events, 'prune.applied').length, 1)
    const ends = customs(events, 'compaction.end') as { applied: boolean }[]
    assert.ok(ends.some(({ applied }) => applied))
    assert.ok(typesOf(events).includes(EventType.MESSAGES_SNAPSHOT))
    assert.is(agent.messages[0]!.content, 'remember 42')
    assert.is(agent.messages.at(-1)!.content, 'the end')
    assert.is(agent.messages.length, runtime.agent('thread')!.conversation.trunk().length)
    assert.not(
      typesOf(await say(agent, undefined, { forwardedProps: { command: 'abort' } })).includes('MESSAGES_SNAPSHOT'),
    )
  })

  it('asks for a sub-agent of a sub-agent', async (context) => {
    const worker = defineAgent({
      name: 'worker',
      description: 'Works.',
      model: scriptedModel([call('careful'), 'worked']),
      tools: [careful],
    })
    const lead = defineAgent({
      name: 'lead',
      description: 'Leads.',
      model: scriptedModel([call('worker', { task: 'work' }), 'led']),
      agents: [worker],
    })
    const boss = defineAgent({
      name: 'boss',
      model: scriptedModel([call('lead', { task: 'lead' }), 'all done']),
      agents: [lead],
    })
    const { agent: dial } = await serveFrontEnds(context, [boss])
    const agent = dial()
    const events = await say(agent, 'go')
    const [leading, working] = ofType(events, EventType.SUBAGENT_STARTED)
    assert.is(working!.parentSubagentRunId, leading!.subagentRunId)
    const [interrupt] = agent.pendingInterrupts
    assert.is(interrupt!.subagentRunId, working!.subagentRunId)
    const more = await say(agent, undefined, {
      resume: [{ interruptId: interrupt!.id, status: 'resolved', payload: { approved: true } }],
    })
    assert.is(ofType(more, EventType.SUBAGENT_FINISHED).length, 2)
    assert.is(agent.messages.at(-1)!.content, 'all done')
  })

  it('takes images, and shows them to another client', async (context) => {
    const picture = defineTool({
      name: 'picture',
      description: 'Takes one.',
      input: z.object({}),
      run: async () => [{ type: 'image' as const, data: pixel, mimeType: 'image/gif' }],
    })
    const model = scriptedModel([
      {
        parts: [
          {
            type: 'done',
            reply: {
              content: [{ type: 'toolCall', callId: 'c', name: 'picture', input: {} }],
              stopReason: 'toolUse',
              usage: someUsage,
            },
          },
        ],
      },
      'seen',
      'again',
    ])
    const { post, agent: dial } = await serveFrontEnds(context, [defineAgent({ name: 'a', model, tools: [picture] })])
    const source = { type: 'data' as const, value: pixel, mimeType: 'image/gif' }
    const content = [
      { type: 'text' as const, text: 'look' },
      { type: 'image' as const, source },
    ]
    const events = await readEvents(await post(inputOf({ messages: [{ id: 'm1', role: 'user', content }] })))
    assert.equal(ofType(events, EventType.TOOL_CALL_RESULT)[0]!.content, [{ type: 'image', source }])
    assert.equal(model.requests[0]!.messages[0]!.content[1], { type: 'image', data: pixel, mimeType: 'image/gif' })
    const stranger = dial()
    await say(stranger, 'and now')
    assert.equal(stranger.messages[0]!.content, content)
    assert.equal(stranger.messages[2]!.content, [{ type: 'image', source }])
  })
})
