import type { Database } from '../src/database.ts'
import { Worker } from '../src/worker.ts'
import { simulatedClock } from '../../evaluation/src/testing/simulatedClock.ts'
import { quiet } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

/** A worker that has joined, and what its beats come to. */
async function joined(leaseMs: number) {
  const simulated = simulatedClock()
  let setBack = 0
  const clock = { ...simulated, now: () => simulated.now() - setBack }
  const beats = { at: [] as number[], fail: false, answer: undefined as Promise<void> | undefined }
  const database = {
    schema: 's',
    query: async () => [{ number: 1 }],
    once: async () => {
      beats.at.push(clock.now())
      await beats.answer
      if (beats.fail) throw new Error('the connection was cut')
      return []
    },
  } as unknown as Database
  const worker = new Worker(database, { leaseMs, clock }, () => [])
  await worker.number
  const began = clock.now()
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      await simulated.advance(100)
      await quiet()
    }
  }
  return {
    worker,
    pass,
    setBack: (ms: number) => void (setBack = ms),
    isFailing: (fail: boolean) => void (beats.fail = fail),
    isAnswered: (answer: Promise<void>) => void (beats.answer = answer),
    at: () => beats.at.map((time) => time - began),
  }
}

describe('a worker with logs in PostgreSQL', (it) => {
  it('says that it is alive thrice in a lease, and soon again where that failed, so that no hiccup costs the lease', async () => {
    const { worker, pass, isFailing, at } = await joined(12_000)
    await pass(4_000)
    isFailing(true)
    await pass(6_000)
    assert.equal(at(), [4_000, 8_000, 9_000, 10_000])
    assert.ok(worker.holds)
    isFailing(false)
    await pass(6_000)
    assert.equal(at().slice(4), [11_000, 15_000], 'and then as before')
    assert.ok(worker.holds)
    await worker.leave()
    await pass(12_000)
    assert.is(at().length, 6, 'nothing once it has left')
  })

  it('holds nothing any more once it could not say so for a whole lease', async () => {
    const { worker, pass, isFailing } = await joined(12_000)
    isFailing(true)
    await pass(11_900)
    assert.ok(worker.holds)
    await pass(100)
    assert.not.ok(worker.holds)
    await worker.leave()
  })

  it('counts from when it said so, not from when it heard that it was taken', async () => {
    const { worker, pass, isAnswered } = await joined(12_000)
    const answer = Promise.withResolvers<void>()
    isAnswered(answer.promise)
    await pass(7_000)
    answer.resolve()
    await quiet()
    isAnswered(new Promise(() => {}))
    await pass(8_900)
    assert.ok(worker.holds)
    await pass(100)
    assert.not.ok(worker.holds, 'said after 4 s, for 12 s')
    await worker.leave()
  })

  it('holds nothing after its lease, though the clock of the machine was set back meanwhile', async ({ cleanup }) => {
    const { now } = performance
    cleanup(() => void (performance.now = now))
    const { worker, setBack } = await joined(12_000)
    setBack(3_600_000)
    performance.now = () => now.call(performance) + 11_000
    assert.ok(worker.holds)
    performance.now = () => now.call(performance) + 12_000
    assert.not.ok(worker.holds)
    performance.now = now
    await worker.leave()
  })
})
