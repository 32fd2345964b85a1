import { rm } from 'node:fs/promises'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { restoreTime } from '../src/restoreTime.ts'
import { runCli } from '../../cli/test/cliInProcess.ts'
import { storeFolder } from '../../stores/test/storeFolder.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('an index of times that was lost', (it) => {
  it('is written anew from the log, also by `escapement repair`', { timeoutMs: 20_000 }, async (context) => {
    const { dir, file } = await storeFolder(context)
    const worker = defineAgent({ name: 'worker', model: policyModel(() => 'fine') })
    const runtime = await createRuntime({ store: fileStore(dir) })
    const agent = await runtime.spawn(worker, { id: 'a' })
    const due = Date.now() + 3_600_000
    agent.schedule({ id: 'later', at: due + 5_000, prompt: 'Go.' })
    agent.schedule({ id: 'first', at: due, prompt: 'Go.' })
    await runtime.spawn(worker, { id: 'b' })
    await runtime.close()
    const store = fileStore(dir)
    context.cleanup(() => store.close())
    assert.equal(await store.timers!.due(due), [{ agentId: 'a', due }])
    await rm(file('due'), { recursive: true })
    assert.equal(await store.timers!.due(due), [])
    assert.is(await restoreTime(store, 'a'), due)
    assert.is(await restoreTime(store, 'b'), null)
    assert.equal(await store.timers!.due(due), [{ agentId: 'a', due }])
    await rm(file('due'), { recursive: true })
    const { stdout } = await runCli(context, ['repair', '--json', file('a.jsonl')])
    assert.is((JSON.parse(stdout) as { due: number }).due, due)
    assert.equal(await store.timers!.due(due), [{ agentId: 'a', due }])
  })
})
