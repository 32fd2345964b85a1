import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { policyModel } from '../../models/src/policyModel.ts'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { systemClock, type Clock } from '../../../src/protocol/ports/clock.ts'
import { restateClient, restateWorker, type RestateWorker } from '../../../src/restate.ts'
import { sqliteStore } from '../../../src/sqlite.ts'
import { fullOnly } from '../../../test/support/fullOnly.ts'
import { assert, describe, isCi, type CaseContext } from '../../../test/support/suite.ts'
import { Engine } from '../../cluster/test/restate/engine.ts'
import { findRestate, howToInstall } from '../../cluster/test/restate/installRestate.ts'
import { recordsIn } from '../../cluster/test/restate/recordsIn.ts'
import { Balancer } from '../src/cluster/balancer.ts'

fullOnly('the Restate server')

const callMs = 250
/** On a machine that has much to do a worker may answer late, and is not to be taken for dead. */
const patientClock: Clock = { now: () => systemClock.now(), after: (ms, call) => systemClock.after(4 * ms, call) }

/** An engine, and workers behind the balancer of a cluster. */
async function fleet({ cleanup, signal }: CaseContext) {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-rolling-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  const file = join(dir, 'agents.db')
  const engine = await Engine.start()
  cleanup(() => engine.remove())
  const balancer = await Balancer.listen(patientClock)
  cleanup(() => balancer.close())
  const ran: string[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({}),
    effects: 'irreversible',
    run: async (_, { key }) => {
      ran.push(key)
      await new Promise((resolve) => setTimeout(resolve, callMs))
      return 'paid'
    },
  })
  const payer = defineAgent({
    name: 'payer',
    tools: [pay],
    model: policyModel(({ messages }) => {
      const since = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
      return since.filter(({ role }) => role === 'toolResult').length < 3
        ? { toolCalls: [{ name: 'pay', input: {} }] }
        : 'Paid.'
    }),
  })
  const add = async (): Promise<{ readonly worker: RestateWorker; remove(): void }> => {
    const worker = await restateWorker({ definitions: [payer], store: sqliteStore(file) })
    cleanup(() => worker.close())
    const { url } = await worker.listen({ port: 0 })
    return { worker, remove: balancer.add(url) }
  }
  const client = async () => {
    const store = sqliteStore(file)
    const one = await restateClient({ ingress: engine.ingress, store, pollMs: 20 })
    cleanup(async () => {
      one.close()
      await store.close()
    })
    return one
  }
  const register = async (): Promise<void> => {
    for (;;) {
      signal.throwIfAborted()
      try {
        return await engine.register(balancer.url)
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }
  return { add, register, client, ran, store: () => sqliteStore(file) }
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, number) => `payer-${number}`)

describe('workers of an engine behind the balancer of a cluster', (it) => {
  if (findRestate() === undefined)
    return isCi()
      ? it('need an engine', () => assert.unreachable(howToInstall))
      : it.skip(`are skipped: there is no Restate server; ${howToInstall}`)

  it(
    'are restarted one after the other under load, and no call is cut off',
    { timeoutMs: 120_000 },
    async (context) => {
      const { add, register, client, ran, store } = await fleet(context)
      const workers = [await add(), await add(), await add()]
      await register()
      const agents = await client()
      const answers: string[] = []
      const load = new AbortController()
      const loads = ids(12).map(async (id) => {
        const agent = await agents.open(id, 'payer')
        while (!load.signal.aborted) answers.push((await agent.prompt('Pay.').result).text)
      })
      for (const { worker, remove } of workers) {
        const before = answers.length
        while (answers.length < before + 6) await new Promise((resolve) => setTimeout(resolve, 20))
        await add()
        await worker.close({ drainMs: 20 * callMs })
        remove()
      }
      load.abort()
      await Promise.all(loads)
      assert.ok(answers.every((answer) => answer === 'Paid.'))
      assert.is(ran.length, new Set(ran).size, 'no call ran twice')
      assert.is(ran.length, 3 * answers.length)
      const logs = store()
      context.cleanup(() => logs.close())
      for (const id of ids(12))
        for (const record of await recordsIn(logs, id))
          if (record.type === 'tool.end') assert.is(record.message.synthetic, undefined, `${id}: ${record.callId}`)
    },
  )

  it('find the agent of a next prompt in memory', { timeoutMs: 120_000 }, async (context) => {
    const { add, register, client } = await fleet(context)
    const workers = [await add(), await add(), await add()].map(({ worker }) => worker)
    await register()
    const agents = await client()
    const opened = await Promise.all(ids(40).map((id) => agents.open(id, 'payer')))
    await Promise.all(opened.map((agent) => agent.prompt('Pay.').result))
    const sum = (how: 'warm' | 'read'): number =>
      workers.reduce((all, worker) => all + worker.figures().openings[how], 0)
    const before = { warm: sum('warm'), read: sum('read') }
    await Promise.all(opened.map((agent) => agent.prompt('Pay.').result))
    assert.is(sum('warm') - before.warm + sum('read') - before.read, 40)
    assert.ok(sum('warm') - before.warm >= 0.8 * 40, `${sum('warm') - before.warm} of 40`)
    for (const worker of workers) assert.ok(worker.figures().loaded > 0)
  })
})
