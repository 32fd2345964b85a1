import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { assert } from '../../../../test/support/suite.ts'
import { heldReply } from './heldReply.ts'
import { recordsIn } from './recordsIn.ts'
import { describeWithEngine } from './withEngine.ts'

describeWithEngine('a prompt that waits for its tenant, with an engine', (it) => {
  it('is aborted at once, without a record, and the next one is carried out', async ({ worker, store, post }) => {
    const held = heldReply('One.')
    const definition = defineAgent({ name: 'coder', model: scriptedModel([held.reply, { text: 'Two.' }]) })
    const made = await worker([definition], { tenants: { by: 'tenant', runs: 1 } })
    const first = post('a1', 'prompt', { content: 'Go.' })
    await held.asked
    const second = post('a2', 'prompt', { content: 'Go.', requestId: 'p2' })
    while (made.figures().queue === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    const asked = await post('a2', 'abort', { run: 'p2' })
    assert.equal([asked.status, asked.body['nudged']], [200, true])
    const { status, stopReason, from } = (await second).body
    assert.equal([status, stopReason, from], ['done', 'aborted', undefined])
    assert.equal(await recordsIn(store(), 'a2'), [])
    held.goOn()
    assert.is((await first).body['stopReason'], 'stop')
    assert.is((await post('a2', 'prompt', { content: 'Go on.' })).body['stopReason'], 'stop')
  })
})
