import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../packages/models/src/policyModel.ts'
import { readAll } from '../../../packages/evaluation/src/testing/contractDemands.ts'
import { sqliteStore } from '../../../packages/sqlite/src/sqliteStore.ts'
import { createRuntime } from '../../../packages/bridge/src/createRuntime.ts'
import { assert, describe } from '../../support/suite.ts'

const agents = 50
const each = 20

/** Numbers that are the same in every run of the test. */
function numbers(seed: number): () => number {
  let state = seed
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31
}

describe('a thousand schedules, woken by three processes that are killed again and again', (it) => {
  it('fire once each, and every run comes to its end', { timeoutMs: 110_000 }, async ({ cleanup }) => {
    const dir = await mkdtemp(join(tmpdir(), 'escapement-wake-'))
    cleanup(() => rm(dir, { recursive: true, force: true }))
    const file = join(dir, 'agents.db')
    const worker = defineAgent({ name: 'worker', model: policyModel(() => 'fine') })
    const runtime = await createRuntime({ store: sqliteStore(file) })
    const expected: string[] = []
    // Late enough that none fires while they are set, and all are due soon.
    const due = Date.now() + 6_000
    for (let index = 0; index < agents; index += 1) {
      const agent = await runtime.spawn(worker, { id: `a${index}` })
      for (let count = 0; count < each; count += 1) {
        const at = due + count
        agent.schedule({ id: `s${count}`, at, prompt: 'Go.' })
        expected.push(`a${index} schedule/s${count}/${at}`)
      }
      await agent.close()
    }
    await runtime.close()

    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - Date.now())))
    const random = numbers(7)
    const children = new Set<ChildProcess>()
    cleanup(() => children.forEach((child) => child.kill('SIGKILL')))
    const begin = async (): Promise<ChildProcess> => {
      const child = spawn(process.execPath, [join(import.meta.dirname, 'killedWaker.ts'), file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.add(child)
      await once(child.stdout, 'data')
      return child
    }
    const store = sqliteStore(file)
    cleanup(() => store.close())
    const until = Date.now() + 80_000
    /** How many agents still have something to do. */
    const left = async (): Promise<number> => (await store.timers!.due(Date.now() + 10 ** 9, agents)).length
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
    let kills = 0
    const life = async (): Promise<void> => {
      while (Date.now() < until && (await left()) > 0) {
        const child = await begin()
        const ended = once(child, 'exit')
        // It dies when a few more agents are done, however fast that goes.
        const enough = (await left()) - 1 - random() * 6
        while (Date.now() < until && (await left()) > Math.max(0, enough)) await pause(20)
        await pause(random() * 50)
        if ((await left()) > 0) kills += 1
        child.kill('SIGKILL')
        await ended
        children.delete(child)
      }
    }
    await Promise.all([life(), life(), life()])
    assert.is(await left(), 0)
    assert.ok(kills >= 3, `${kills} processes were killed in the middle of the work`)

    const started: string[] = []
    const owed: string[] = []
    for (let index = 0; index < agents; index += 1) {
      const id = `a${index}`
      let open: string | undefined
      for (const record of await readAll(store, id)) {
        if (record.type === 'run.start') {
          open = record.requestId
          if (record.cause === 'prompt') started.push(`${id} ${record.requestId}`)
        }
        if (record.type === 'run.end' && record.stopReason === 'stop') open = undefined
      }
      if (open !== undefined) owed.push(`${id} ${open}`)
    }
    assert.equal(owed, [])
    assert.equal(started.toSorted(), expected.toSorted())
  })
})
