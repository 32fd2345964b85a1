import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { checkLog } from '../../../../test/support/journeyRules.ts'
import { assert } from '../../../../test/support/suite.ts'
import { recordsIn } from './recordsIn.ts'
import { describeWithEngine } from './withEngine.ts'

describeWithEngine('a worker of an engine', (it) => {
  it('runs a prompt, and what comes of it is in the store', async ({ worker, post, store }) => {
    await worker([defineAgent({ name: 'coder', model: scriptedModel([{ text: 'Done.' }]) })])
    const { status, body } = await post('a1', 'prompt', { content: 'Fix it.', requestId: 'r1' })
    assert.equal(status, 200)
    const records = await recordsIn(store(), 'a1')
    assert.equal(body, { status: 'done', seq: records.length, from: 2, stopReason: 'stop' })
    assert.equal(checkLog(records, { isWhole: true }), [])
  })

  it('runs a request once, however often it is asked', async ({ worker, post, store }) => {
    await worker([defineAgent({ name: 'coder', model: scriptedModel([{ text: 'Done.' }]) })])
    await post('a1', 'prompt', { content: 'Fix it.', requestId: 'r1' })
    const { body } = await post('a1', 'prompt', { content: 'Fix it.', requestId: 'r1' })
    assert.is(body['status'], 'done')
    assert.is((await recordsIn(store(), 'a1')).filter(({ type }) => type === 'run.start').length, 1)
  })

  it('steers a run through any worker, and the mailbox does not do it again', async ({
    worker,
    post,
    store,
    engine,
    name,
  }) => {
    const isAsked = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const model = scriptedModel([
      async () => {
        isAsked.resolve()
        await goOn.promise
        return { text: 'First.' }
      },
      { text: 'Second.' },
    ])
    const { runtime } = await worker([defineAgent({ name: 'coder', model })])
    const prompted = post('a1', 'prompt', { content: 'Fix it.' })
    await isAsked.promise
    const heard = runtime.agent('a1')!.events()
    const { body } = await post('a1', 'steer', { content: 'And test it.', requestId: 's1' })
    assert.equal(body, { requestId: 's1', nudged: true })
    for await (const event of heard) if (event.type === 'queue.changed') break
    goOn.resolve()
    assert.is((await prompted).body['status'], 'done')
    while ((await engine.invocations(name)).length > 0) await new Promise((resolve) => setImmediate(resolve))
    const said = (await recordsIn(store(), 'a1')).filter(({ type }) => type === 'message.added')
    assert.is(said.length, 2)
  })

  it('refuses what is no command, no agent id and no definition of its own', async ({ worker, post }) => {
    await worker([
      defineAgent({ name: 'coder', model: scriptedModel([]) }),
      defineAgent({ name: 'tester', model: scriptedModel([]) }),
    ])
    const wrong = await post('a1', 'prompt', { contnt: 'Fix it.' })
    assert.is(wrong.status, 400)
    assert.match(String(wrong.body['message']), /content: it is missing/)
    const noId = await post('-a1', 'prompt', { content: 'Fix it.' })
    assert.equal(noId.body['metadata'], { code: 'INVALID_ID' })
    const unknown = await post('a1', 'prompt', { content: 'Fix it.', definition: 'writer' })
    assert.is(unknown.body['status'], 'refused')
    assert.match(JSON.stringify(unknown.body['error']), /INVALID_DEFINITION.*no definition .*writer.*coder, tester/)
    const unsaid = await post('a1', 'prompt', { content: 'Fix it.' })
    assert.match(JSON.stringify(unsaid.body['error']), /does not say its definition/)
  })

  it('warns of a definition that is not the one that an agent ran with before', async ({ worker, post }) => {
    const warned: unknown[] = []
    const none = (): void => {}
    const warn = (fields: object, message: string): void => void warned.push({ ...fields, message })
    const logger = { debug: none, info: none, error: none, warn }
    const made = (instructions: string) =>
      defineAgent({ name: 'coder', instructions, model: scriptedModel([{ text: 'Done.' }, { text: 'Done.' }]) })
    const before = await worker([made('Fix.')], { logger })
    await post('a1', 'prompt', { content: 'Fix it.' })
    await post('a1', 'prompt', { content: 'Fix it again.' })
    assert.equal(warned, [])
    await before.close()
    await worker([made('Fix, and test.')], { logger })
    assert.is((await post('a1', 'prompt', { content: 'And this.' })).body['status'], 'done')
    assert.equal(warned, [
      { agentId: 'a1', message: 'the definition of this agent is not the one that it ran with before' },
    ])
  })

  it('does not listen when it is closed while it begins to', async ({ worker }) => {
    const one = await worker([defineAgent({ name: 'coder', model: scriptedModel([]) })])
    const listening = assert.rejects(one.listen({ port: 0 }), withCode('RUNTIME_CLOSED'))
    await one.close()
    await listening
  })
})
