import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { saidIn, tool } from '../support/agentHarness.ts'
import { caller, ends, Lives, paused, types } from '../support/lives.ts'
import { assert, describe } from '../support/suite.ts'

describe('an agent that was paused by a limit', (it) => {
  it('is paused as it was, with nothing in its log that was not there', async (context) => {
    const lives = new Lives(context)
    const limited = () =>
      defineAgent({ name: 'limited', model: caller(['work']), tools: [tool('work', () => 1)], limits: { turns: 1 } })
    const first = await lives.begin(limited(), 'go')
    await paused(first.agent)
    let logs = await first.logs()
    for (const options of [{}, { continue: false }]) {
      const { agent, ...next } = await lives.resume(limited(), logs, options)
      assert.equal(agent.pause, first.agent.pause)
      assert.equal(await next.logs(), logs)
      logs = await next.logs()
    }
    const { agent } = await lives.resume(limited(), logs)
    assert.is((await agent.resume().result).stopReason, 'stop')
  })
})

describe('an agent resumed with { continue: false }', (it) => {
  const talker = (requests: ModelRequest[] = []) =>
    defineAgent({
      name: 'talker',
      model: policyModel((request) => {
        requests.push(request)
        return 'well'
      }),
    })

  /** A log of a run that was ended by a close, with prompts behind it. */
  async function waiting(lives: Lives): Promise<{ [agentId: string]: LogRecord[] }> {
    const held = defineAgent({ name: 'talker', model: policyModel(() => new Promise(() => {})) })
    const first = await lives.begin(held, 'one')
    first.agent.prompt('two')
    first.agent.prompt('three')
    await first.agent.close()
    return first.logs()
  }

  it('leaves queued prompts waiting until it is told to go on', async (context) => {
    const lives = new Lives(context)
    const logs = await waiting(lives)
    const requests: ModelRequest[] = []
    const { agent, ...next } = await lives.resume(talker(requests), logs, { continue: false })
    assert.is(agent.state, 'paused')
    assert.equal(agent.pause, { type: 'interrupted' })
    assert.equal(await next.logs(), logs)
    await agent.close()
    assert.equal(requests, [])

    const again = await lives.resume(talker(requests), await next.logs(), { continue: false })
    const ended = ends(again.agent, 2)
    await again.agent.resume().result
    await ended
    assert.equal(saidIn(requests[0]), ['one', 'two'])
    assert.equal(saidIn(requests[1]), ['one', 'two', 'three'])
    assert.is(again.agent.state, 'idle')
  })

  it('goes on, in order, when something new is said', async (context) => {
    const lives = new Lives(context)
    const logs = await waiting(lives)
    for (const say of ['prompt', 'steer', 'followUp'] as const) {
      const requests: ModelRequest[] = []
      const { agent } = await lives.resume(talker(requests), logs, { continue: false })
      const ended = ends(agent, 3)
      agent[say]('four')
      if (say !== 'prompt') agent.resume()
      await ended
      assert.equal(saidIn(requests[2]), ['one', 'two', 'three', 'four'])
    }
  })

  it('goes on with what waits after an abort, which ends nothing', async (context) => {
    const lives = new Lives(context)
    const logs = await waiting(lives)
    const { agent, ...next } = await lives.resume(talker(), logs, { continue: false })
    const ended = ends(agent, 2)
    agent.abort()
    await ended
    assert.not.ok(types((await next.logs())['a1']!).includes('run.abandoned'))
  })

  it('and nothing waiting is at rest', async (context) => {
    const lives = new Lives(context)
    const first = await lives.begin(talker(), 'one')
    await ends(first.agent)
    const { agent } = await lives.resume(talker(), await first.logs(), { continue: false })
    assert.equal([agent.state, agent.pause], ['idle', null])
  })
})
