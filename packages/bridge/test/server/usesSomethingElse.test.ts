import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { tool, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, serveAgents } from './bridgeHarness.ts'

const saying = (id: string) =>
  policyModel(({ system, tools }) => `${id}, ${system}, ${tools.map(({ name }) => name).join()}`, { id })

const talker = defineAgent({
  name: 'talker',
  model: saying('test:own'),
  models: { fast: saying('test:fast') },
  instructions: 'base',
  tools: [tool('look', () => 'seen'), tool('find', () => 'found')],
})

describe('an agent on a server', (it) => {
  it('is told what to use, by names, and says what it uses', async (context) => {
    const serving = await serveAgents(context, [talker])
    const agent = await serving.connect().spawn('talker', { id: 't1' })
    const heard = new Heard()
    agent.subscribe(heard.listen)
    await agent.use({ model: 'fast', tools: ['look'], instructions: 'other' })
    assert.is((await agent.prompt('go').result).text, 'test:fast, other, look')
    const use = { model: { id: 'test:fast', name: 'fast' }, tools: ['look'], instructions: 'other' }
    assert.equal((await agent.snapshot()).inUse, use)
    const changed = await heard.until(({ type }) => type === 'use.changed')
    assert.equal(changed.type === 'use.changed' && changed.use, use)
    const prepared = await heard.until(({ type }) => type === 'turn.prepared')
    assert.equal(prepared.type === 'turn.prepared' && prepared.by, ['use'])
    await agent.use(null)
    assert.is((await agent.prompt('go').result).text, 'test:own, base, look,find')
    assert.is((await agent.snapshot()).inUse, undefined)
  })

  it('refuses what its definition does not have', async (context) => {
    const serving = await serveAgents(context, [talker])
    const agent = await serving.connect().spawn('talker', { id: 't1' })
    for (const [use, code] of [
      [{ model: 'slow' }, 'MODEL_NOT_FOUND'],
      [{ tools: ['lok'] }, 'INVALID_OPTION'],
      [{ modell: 'fast' }, 'INVALID_OPTION'],
    ] as const)
      await assert.rejects(async () => await agent.use(use as never), withCode(code))
    assert.is((await agent.prompt('go').result).text, 'test:own, base, look,find')
  })
})
