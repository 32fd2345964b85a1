import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { cutStore, recordsOf, settled } from '../journeys/cutLogs.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { BrakeLog, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const long = 'long words '.repeat(60)

/** Keeps the step of its call in sight. */
const keeper = tool(
  'keeper',
  (_, context) => {
    context.pin()
    return `the rules ${long}`
  },
  { effects: 'none' },
)
const look = tool('look', (input) => `${JSON.stringify(input)} ${long}`, { effects: 'none' })

const looking = (count: number, from = 0) =>
  Array.from({ length: count }, (_, turn) => calls(`t${turn + from}-`, ['look', { turn: turn + from }]))

describe('a pin that a tool asks for', (it) => {
  it('is in the log before the result of its call, and is decided between turns', async (context) => {
    const { agent, records, ofType } = await startAgent(context, {
      tools: [keeper, look],
      replies: [calls('a', 'look', 'keeper'), 'done'],
    })
    await agent.prompt('go').result
    const log = await records()
    const [requested] = log.filter((record) => record.type === 'pin.requested')
    assert.equal(requested?.request, { id: 'a1/t0/tool/a1/pin', by: 'runtime', step: 'n4', pinned: true })
    assert.is(log[log.indexOf(requested!) + 1]?.type, 'tool.end')
    assert.is(ofType('pin.applied')[0]?.step, 2)
    assert.equal([agent.conversation.pins(), rebuildConversation(log).pins()], [[2], [2]])
  })

  it('keeps its result from compactions, word for word', async (context) => {
    const { agent, ofType, script } = await startAgent(context, {
      tools: [keeper, look],
      compaction: { contextWindow: 3_000, keepFirst: 1, keepRecent: 2, maxSummaryTokens: 100 },
      replies: [calls('k', 'keeper'), ...looking(25), 'done'],
    })
    await agent.prompt('go').result
    assert.ok(ofType('compaction.end').some(({ applied }) => applied))
    assert.ok(JSON.stringify(script.requests.at(-1)).includes(`the rules ${long}`))
    assert.not.ok(JSON.stringify(script.requests.at(-1)).includes('{\\"turn\\":0}'))
  })

  it('keeps its step from folds', () => {
    const log = new BrakeLog()
    log.user('go')
    for (let at = 0; at < 4; at++) log.step([{ output: `output ${at} ${'x'.repeat(300)}` }])
    log.pin('n2', true, 'runtime')
    assert.equal(log.fold({}, true)?.outcome.steps, [4, 6])
    assert.match(textIn(log.assemble().request.messages), /output 0/)
  })

  it('is not asked for where nothing could hide the step, nor of a call that failed', async (context) => {
    const failing = tool('failing', (_, { pin }) => {
      pin()
      throw new Error('no')
    })
    const free = await startAgent(context, {
      compaction: false,
      tools: [keeper],
      replies: [calls('a', 'keeper'), 'done'],
    })
    await free.agent.prompt('go').result
    assert.equal(free.ofType('pin.requested'), [])
    const failed = await startAgent(context, { tools: [failing], replies: [calls('a', 'failing'), 'done'] })
    await failed.agent.prompt('go').result
    assert.equal(failed.ofType('pin.requested'), [])
  })

  it('is no hindrance to a revert, and is forgotten with what that abandons', () => {
    const log = new BrakeLog()
    log.user('go')
    for (let at = 0; at < 4; at++) log.step([{}])
    log.pin('n4', true, 'runtime')
    assert.is(log.revert('n3').applied, true)
    assert.equal(log.conversation.pins(), [])
    assert.equal(rebuildConversation(log.records).pins(), [])
  })

  it('becomes one of a person when a person pins the step too', () => {
    const log = new BrakeLog()
    log.user('go')
    for (let at = 0; at < 4; at++) log.step([{}])
    log.pin('n4', true, 'runtime')
    assert.is(log.pin('n4', true, 'runtime').reason, 'pin refused: n4 is pinned already')
    assert.is(log.pin('n5').applied, true)
    assert.is(log.pin('n5').reason, 'pin refused: n5 is pinned already')
    assert.match(log.revert('n3').reason ?? '', /n5 is pinned/)
    assert.is(log.pin('n4', false).applied, true)
    assert.equal(log.conversation.pins(), [])
    assert.is(log.revert('n3').applied, true)
  })

  it('is made once, wherever in the log the process dies', { timeoutMs: 10_000 }, async (context) => {
    const { agent, store, records } = await startAgent(context, {
      tools: [keeper],
      replies: [calls('k', 'keeper'), 'done'],
    })
    await agent.prompt('go').result
    const log = await records()
    const from = log.findIndex(({ type }) => type === 'tool.start')
    assert.is((await recordsOf(store, agent.id)).length, log.length)
    for (let at = from + 1; at < log.length; at++) {
      const cut = await cutStore('a1', log.slice(0, at))
      const hasReply = log.slice(0, at).filter(({ type }) => type === 'reply.end').length > 1
      const runtime = await createRuntime({ store: cut })
      context.cleanup(() => runtime.close())
      const model = scriptedModel(hasReply ? [] : ['done'])
      const definition = defineAgent({ name: 'tester', model, tools: [keeper] })
      const resumed = await runtime.resume('a1', definition)
      if (resumed.state !== 'idle') await settled(resumed)
      assert.equal(resumed.conversation.pins(), [2], `after ${at} records`)
      const later = await recordsOf(cut, 'a1')
      assert.is(later.filter(({ type }) => type === 'pin.requested').length, 1, `after ${at} records`)
    }
  })
})
