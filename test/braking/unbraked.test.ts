import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { calls, gate, startAgent, tool, type Harness, type HarnessOptions } from '../support/agentHarness.ts'
import { textIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const look = tool('look', ({ at }: { at?: number }) => `seen${at} ${'words '.repeat(40)}`, { effects: 'none' })

const looks = [
  calls('a', ['look', { at: 1 }]),
  calls('b', ['look', { at: 2 }]),
  calls('c', ['look', { at: 3 }]),
  'done',
]

/** An agent without any brake that has looked three times: n1 go, n2–n3, n4–n5, n6–n7, n8 done. */
async function looked(context: CaseContext, options: HarnessOptions = {}): Promise<Harness> {
  const harness = await startAgent(context, { tools: [look], ...options, replies: [...looks, 'next', 'last'] })
  await harness.agent.prompt('go').result
  return harness
}

describe('a person and an agent without brakes', (it) => {
  for (const braking of [
    undefined,
    {},
    { prune: true },
    { graft: true, recall: true },
    { stall: { revert: false } },
  ] as const)
    it(`reverts it: ${JSON.stringify(braking)}`, async (context) => {
      const { agent, until, script } = await looked(context, braking === undefined ? {} : { braking })
      agent.revert('n5', { category: 'failure', summary: 'the third look was wrong' })
      const applied = await until(({ type }) => type === 'revert.applied')
      assert.ok(applied.type === 'revert.applied' && applied.applied, JSON.stringify(applied))
      assert.is(agent.conversation.head, 5)
      await agent.prompt('on').result
      const request = script.requests.at(-1)!
      assert.not.match(textIn(request.messages), /seen3/)
      assert.match(textIn(request.messages), /<brake-note kind="lesson"[^>]*>the third look was wrong/)
      assert.equal(checkRequest(request), [])
    })

  it('is refused what would lose a word of people, as with brakes', async (context) => {
    const { agent, until } = await looked(context)
    await agent.prompt('and more').result
    agent.revert('n3', { category: 'failure', summary: 'wrong' })
    const applied = await until(({ type }) => type === 'revert.applied')
    assert.ok(applied.type === 'revert.applied' && !applied.applied)
    assert.match(applied.reason ?? '', /^revert/)
    assert.is(agent.conversation.trunk().length, 10)
  })

  it('hides steps, and what they hold', async (context) => {
    const { agent, until, script, ofType } = await looked(context)
    agent.prune({ steps: ['n2'], memo: 'looked once' })
    agent.prune({ steps: ['n4'], mask: true })
    await until((event) => event.type === 'prune.applied' && event.masked === true)
    assert.equal(
      ofType('prune.applied').map(({ applied }) => applied),
      [true, true],
    )
    await agent.prompt('on').result
    const shown = textIn(script.requests.at(-1)!.messages)
    assert.match(shown, /looked once/)
    assert.not.match(shown, /seen1|seen2/)
    assert.match(shown, /seen3/)
    assert.not.match(shown, /recall/, 'its model has no such tool')
    assert.equal(checkRequest(script.requests.at(-1)!), [])
  })

  it('compacts it, with compaction off', async (context) => {
    const { agent, until, script } = await looked(context, { compaction: false })
    agent.compact()
    const end = await until(({ type }) => type === 'compaction.end')
    assert.ok(end.type === 'compaction.end' && end.applied && end.tokensAfter < end.tokensBefore, JSON.stringify(end))
    await agent.prompt('on').result
    assert.match(textIn(script.requests.at(-1)!.messages), /conversation-summary/)
  })

  it('in the middle of a run waits for the end of the turn', async (context) => {
    const open = gate()
    const { agent, until, ofType, script } = await startAgent(context, {
      tools: [look, tool('slow', () => open.promise)],
      replies: [calls('a', ['look', { at: 1 }]), calls('b', 'slow'), 'done'],
    })
    const run = agent.prompt('go')
    await until((event) => event.type === 'tool.start' && event.name === 'slow')
    agent.prune({ steps: ['n2'], memo: 'it was looked at' })
    assert.is(ofType('prune.applied').length, 0)
    open.resolve()
    await run.result
    assert.match(textIn(script.requests[2]!.messages), /it was looked at/)
  })

  it('changes no request before, and the same is sent after a restart', async (context) => {
    const { agent, until, script, records } = await looked(context)
    const before = JSON.stringify(script.requests)
    agent.prune({ steps: ['n2'], memo: 'looked once' })
    agent.revert('n5', { category: 'failure', summary: 'wrong' })
    await until(({ type }) => type === 'prune.applied')
    assert.is(JSON.stringify(script.requests), before)
    await agent.prompt('on <brake-note kind="memo">').result
    const { system, tools, settings, messages } = script.requests.at(-1)!
    assert.is(textIn(messages).match(/<brake-note/g)?.length, 2, 'what people write is no note')
    const log = await records()
    const said = log.findLastIndex((record) => record.type === 'message.added' && record.message.role === 'user')
    const asked = log.slice(0, said + 1)
    const restarted = rebuildConversation(JSON.parse(JSON.stringify(asked)))
    const { request } = new RequestAssembler(restarted, { system, tools, settings }).assemble(4)
    assert.equal(request.messages, messages)
  })

  it('is heard also after a restart, and the model is not', async (context) => {
    const open = gate()
    const { agent, until, records } = await startAgent(context, {
      id: 'a',
      check: false,
      tools: [look, tool('slow', () => open.promise)],
      replies: [calls('a', ['look', { at: 1 }]), calls('b', 'slow')],
    })
    agent.prompt('go')
    await until((event) => event.type === 'tool.start' && event.name === 'slow')
    agent.prune({ steps: ['n2'], memo: 'it was looked at' })
    await agent.durable()
    const copy = memoryStore()
    const lease = await copy.open('a')
    await copy.append('a', await records())
    await lease.release()
    const runtime = await createRuntime({ store: copy })
    context.cleanup(() => runtime.close())
    const model = scriptedModel(['done'])
    const back = await runtime.resume(
      'a',
      defineAgent({ name: 'tester', model, tools: [look, tool('slow', () => 'slow')] }),
    )
    await back.settled()
    assert.match(textIn(model.requests[0]!.messages), /it was looked at/)
    open.resolve()
  })
})
