import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { restateWorker } from '../../../../src/restate.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { sqliteStore } from '../../../../src/sqlite.ts'
import { calls } from '../../../../test/support/agentHarness.ts'
import { checkLog } from '../../../../test/support/journeyRules.ts'
import { assert } from '../../../../test/support/suite.ts'
import { Switchboard } from './crash/switchboard.ts'
import { heldReply } from './heldReply.ts'
import { recordsIn } from './recordsIn.ts'
import { describeWithEngine } from './withEngine.ts'

describeWithEngine('agents that became agents of their own', (it) => {
  it('are known to the engine also when the worker ended before it could tell', async (context) => {
    const { cleanup, client, engine, file, name, store } = context
    const board = await Switchboard.open()
    cleanup(() => board.close())
    const scouts = [heldReply('Found it.').reply, { text: 'Found it.' }]
    const replies = [[calls('s', ['scout', { task: 'Look.' }]), heldReply('Never.').reply], [{ text: 'It looks.' }]]
    const definitions = replies.map((own, index): AgentDefinition => {
      const scout = defineAgent({ name: 'scout', model: scriptedModel([scouts[index]!]) })
      return defineAgent({ name: 'coder', model: scriptedModel(own), agents: [{ definition: scout, detach: true }] })
    })
    // The first worker never learns that the agent has a log, and stops when its caller has been told that it works.
    const hangs = Promise.withResolvers<never>()
    hangs.promise.catch(() => {})
    const failing = sqliteStore(file)
    const { read } = failing
    failing.read = (agentId, ...rest) =>
      (agentId === 'a1.1'
        ? { [Symbol.asyncIterator]: () => ({ next: () => hangs.promise }) }
        : read.call(failing, agentId, ...rest)) as ReturnType<typeof read>
    const append = failing.append.bind(failing)
    const ports: number[] = []
    failing.append = async (agentId, records, ...rest) => {
      await append(agentId, records, ...rest)
      if (!records.some(({ type }) => type === 'tool.end')) return
      board.switchTo(ports[1]!)
      await hangs.promise
    }
    for (const [index, definition] of definitions.entries()) {
      const own = index === 0 ? failing : sqliteStore(file)
      const worker = await restateWorker({ definitions: [definition], store: own, name })
      cleanup(() => {
        hangs.reject(new Error('The store has ended.'))
        return worker.close()
      })
      ports.push((await worker.listen({ port: 0 })).port)
    }
    board.switchTo(ports[0]!)
    await engine.register(board.url)
    const first = await (await client()).request({ type: 'agent.prompt', agentId: 'a1', content: 'Look around.' })
    assert.is(first.status, 'done')
    const reading = store()
    for (;;) {
      const records = await recordsIn(reading, 'a1.1')
      if (records.at(-1)?.type !== 'run.end') {
        await new Promise((resolve) => setImmediate(resolve))
        continue
      }
      assert.match(JSON.stringify(records), /Found it\./)
      assert.equal(checkLog(records, { isWhole: true }), [])
      break
    }
  })
})
