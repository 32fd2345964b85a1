import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { cutStore, settled } from '../journeys/cutLogs.ts'
import { calls, startAgent, tool } from '../support/agentHarness.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

const long = 'long words '.repeat(60)
const look = tool('look', (input) => `${JSON.stringify(input)} ${long}`, { effects: 'none' })
const pin = (step: string) => calls('p', ['pin_step', { step }])

describe('a pin that the model asks for', (it) => {
  it('keeps a step from its own prunes, and yields to its revert', async (context) => {
    const { agent, script, ofType, records } = await startAgent(context, {
      tools: [look],
      braking: { pin: true, prune: true, revert: true },
      replies: [
        calls('a', ['look', { turn: 0 }]),
        pin('n3'),
        calls('b', ['prun', { steps: ['n3'] }]),
        calls('r', ['revert_to_state', { category: 'tangent', step: 'n1', summary: 'a detour' }]),
        'done',
      ],
    })
    await agent.prompt('go').result
    const [requested] = ofType('pin.requested')
    assert.equal(requested!.request, { id: 'a1/t1/tool/p0', by: 'model', step: 'n3', pinned: true })
    assert.equal([ofType('pin.applied')[0]!.applied, ofType('pin.applied')[0]!.step], [true, 2])
    assert.match(ofType('prune.applied')[0]!.reason!, /n3 is pinned/)
    assert.is(ofType('revert.applied')[0]!.applied, true)
    assert.equal([agent.conversation.pins(), rebuildConversation(await records()).pins()], [[], []])
    assert.match(JSON.stringify(script.requests[1]!.messages), /\[n3\]/)
  })

  it('keeps it from folds, until a person unpins it', () => {
    const log = new BrakeLog()
    log.user('go')
    for (let at = 0; at < 4; at++) log.step([{ output: `output ${at} ${'x'.repeat(300)}` }])
    log.pin('n2', true, 'model')
    assert.equal(log.fold({}, true)?.outcome.steps, [4, 6])
    assert.is(log.pin('n2', false).applied, true)
    assert.equal(rebuildConversation(log.records).pins(), [])
  })

  it('is refused with the reason, which the model reads', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      tools: [look],
      braking: { pin: true },
      replies: [calls('a', ['look', { turn: 0 }]), pin('n99'), pin('the first'), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(
      ofType('pin.applied').map(({ reason }) => reason),
      ['pin refused: n99 not found', 'pin refused: "the first" not found'],
    )
    assert.match(JSON.stringify(script.requests[2]!.messages.at(-1)), /pin refused: n99 not found/)
    assert.equal(agent.conversation.pins(), [])
  })

  it('is a tool of agents with the option alone, and the name is free without it', async (context) => {
    const names = async (options: object): Promise<readonly string[]> => {
      const { agent, script } = await startAgent(context, { replies: ['done'], ...options })
      await agent.prompt('go').result
      return script.requests[0]!.tools.map(({ name }) => name)
    }
    assert.equal(await names({ braking: { pin: true } }), ['pin_step'])
    assert.equal(await names({ braking: { prune: true } }), ['prun'])
    assert.equal(await names({ tools: [tool('pin_step', () => 'mine')] }), ['pin_step'])
    assert.throws(
      () =>
        defineAgent({
          name: 'a',
          model: scriptedModel([]),
          braking: { pin: true },
          tools: [tool('pin_step', () => 'mine')],
        }),
      /two tools are named "pin_step"/,
    )
  })

  it('is made once, wherever in the log the process dies', { timeoutMs: 10_000 }, async (context) => {
    const options = { tools: [look], braking: { pin: true } }
    const { agent, records } = await startAgent(context, {
      ...options,
      replies: [calls('a', ['look', { turn: 0 }]), pin('n3'), 'done'],
    })
    await agent.prompt('go').result
    const log = await records()
    const from = log.findLastIndex(({ type }) => type === 'turn.start') - 5
    for (let at = from; at < log.length; at++) {
      const past = log.slice(0, at)
      // It is written together with the result of its call.
      if (log[at]?.type === 'pin.requested') continue
      const replies = past.filter(({ type }) => type === 'reply.end').length
      const left = [calls('a', ['look', { turn: 0 }]), pin('n3'), 'done'].slice(replies)
      const runtime = await createRuntime({ store: await cutStore('a1', past) })
      context.cleanup(() => runtime.close())
      const resumed = await runtime.resume(
        'a1',
        defineAgent({ name: 'tester', model: scriptedModel(left), ...options }),
      )
      if (resumed.state !== 'idle') await settled(resumed)
      assert.equal(resumed.conversation.pins(), [2], `after record ${at}`)
    }
  })
})
