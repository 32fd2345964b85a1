import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { calls, resultsOf, startAgent, tool } from '../support/agentHarness.ts'
import { caller, ends, Lives, until } from '../support/lives.ts'
import { assert, describe } from '../support/suite.ts'
import { cutStore, recordsOf } from './cutLogs.ts'

const asking = tool('poll', (_, { ask }) => ask(z.string(), 'Who?'))

/** Three agents deep; the last one asks. */
function family(requests: ModelRequest[] = []) {
  const worker = defineAgent({ name: 'worker', model: caller(['poll'], requests), tools: [asking] })
  const chief = defineAgent({ name: 'chief', model: calling('worker'), agents: [worker] })
  return defineAgent({ name: 'boss', model: calling('chief'), agents: [{ definition: chief, stallMs: 1_000 }] })
}

const calling = (name: string) =>
  policyModel(({ messages }) =>
    messages.some(({ role }) => role === 'toolResult')
      ? 'done'
      : { toolCalls: [{ name, input: { task: 'go' }, callId: 'c0' }] },
  )

const key = 'a1.1.1/t0/tool/call_0_0/q1'

describe('a question of a sub-agent', (it) => {
  it('reaches everyone above, who may answer it, and is no stall however long it waits', async (context) => {
    const requests: ModelRequest[] = []
    const lives = new Lives(context)
    const { agent, runtime } = await lives.begin(family(requests), 'go')
    const heard: AgentEvent[] = []
    agent.subscribe((event) => heard.push(event))
    await until(agent, ({ type }) => type === 'question.asked')
    await lives.clock.advance(1_000_000)
    assert.equal(
      agent.pending().map((one) => [one.kind, one.agentId, one.key]),
      [['question', 'a1.1.1', key]],
    )
    assert.equal(runtime.agent('a1.1')!.pending(), agent.pending())
    const end = ends(agent)
    agent.decide(key, { value: 'Ann' })
    await end
    assert.equal(resultsOf(requests.at(-1)), ['Ann'])
    assert.equal(
      heard.flatMap(({ type, agentId }) => (type.startsWith('question.') ? [[type, agentId]] : [])),
      [
        ['question.asked', 'a1.1.1'],
        ['question.answered', 'a1.1.1'],
      ],
    )
  })

  it('waits again at the root after a crash, and is answered there', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(family(), 'go')
    await until(first.agent, ({ type }) => type === 'question.asked')
    const pending = first.agent.pending()
    const requests: ModelRequest[] = []
    const { agent } = await lives.resume(family(requests), await first.logs())
    assert.equal(agent.pending(), pending)
    const end = ends(agent)
    agent.decide(key, { value: 'Bob' })
    await end
    assert.equal(resultsOf(requests.at(-1)), ['Bob'])
  })

  it('of an agent that nobody attends is denied', async (context) => {
    const requests: ModelRequest[] = []
    const model = caller(['poll'], requests)
    const { runtime } = await startAgent(context)
    const parent = await runtime.spawn(defineAgent({ name: 'parent', model: policyModel(() => 'x') }))
    const hidden = await parent.spawn(defineAgent({ name: 'hidden', model, tools: [asking] }), { incognito: true })
    const run = hidden.prompt('go')
    await until(hidden, ({ type }) => type === 'question.asked')
    // Whoever holds it is asked; those above are not.
    assert.equal([parent.pending(), hidden.pending().length], [[], 1])
    hidden.decide(hidden.pending()[0]!.key, 'deny')
    await run.result
    assert.match(resultsOf(requests.at(-1))[0]!, /Nobody answers/)
  })
})

describe('an answer that is a secret', (it) => {
  const redact = { secrets: { PASSWORD: 'hunter2-hunter2' } } as const

  it('reaches the tool as it is, and nothing else', async (context) => {
    const seen: string[] = []
    const { agent, records, ofType, untilState } = await startAgent(context, {
      redact,
      tools: [
        tool('login', async (_, { ask }) => {
          seen.push(await ask(z.string(), 'Password?'))
          return 'logged in'
        }),
      ],
      replies: [calls('c', 'login'), 'done'],
    })
    const run = agent.prompt('go')
    await untilState('paused')
    agent.decide('c0', { value: 'hunter2-hunter2' })
    await run.result
    assert.equal(seen, ['hunter2-hunter2'])
    assert.not.match(JSON.stringify([await records(), ofType('question.answered')]), 'hunter2')
  })

  it('is asked for again after a crash, as the log does not have it', async (context) => {
    const both = tool(
      'login',
      async (_, { ask }) => `${await ask(z.string(), 'Password?')} ${await ask(z.string(), 'Code?')}`,
      { effects: 'none' },
    )
    const definition = () => defineAgent({ name: 'tester', model: caller(['login']), tools: [both] })
    const {
      agent,
      store,
      untilState,
      until: heard,
    } = await startAgent(context, { model: caller(['login']), tools: [both], redact })
    agent.prompt('go')
    await untilState('paused')
    agent.decide(agent.pending()[0]!.key, { value: 'hunter2-hunter2' })
    await heard((event) => event.type === 'question.asked' && event.question === 'Code?')
    const runtime = await createRuntime({ store: await cutStore('a1', await recordsOf(store, 'a1')), redact })
    context.cleanup(() => runtime.close())
    const second = await runtime.resume('a1', definition())
    const asked: unknown[] = []
    second.subscribe((event) => {
      if (event.type !== 'question.asked') return
      asked.push([event.question, event.problem?.includes('secret')])
      second.decide(event.key, { value: event.question === 'Password?' ? 'other' : '42' })
    })
    const end = ends(second)
    second.decide(second.pending()[0]!.key, { value: '41' })
    await end
    assert.equal(asked, [['Password?', true]])
    const result = resultsOf({ messages: second.conversation.trunk().map(({ message }) => message) })
    assert.equal(result, ['other 41'])
  })
})
