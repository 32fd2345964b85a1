import { assert, describe } from '../../../test/support/suite.ts'
import { noCalls, openEngine, runText, valueOf } from './scripts.ts'

/** A native that asks nobody whether it may go on: two long texts that agree for a long time. */
const hung = 'console.log("first"); await tools.echo(); return "a".repeat(4e6).indexOf("a".repeat(2e5) + "b")'

describe('a script that hangs the engine', (it) => {
  it('is ended, and 50 beside it begin again from what they were given', { timeoutMs: 20_000 }, async ({ cleanup }) => {
    const engine = openEngine(cleanup, 1_000)
    const gate = Promise.withResolvers<void>()
    const counts = new Map<string, number>()
    const beside = Array.from({ length: 50 }, (_, place) =>
      runText(
        engine,
        'const a = await tools.count({ place: 0 }); const b = await tools.wait(); return [a, b, Math.random()]',
        {
          key: `script ${place}`,
          tools: {
            count: () => {
              counts.set(`${place}`, (counts.get(`${place}`) ?? 0) + 1)
              return place
            },
            wait: () => gate.promise.then(() => 'waited'),
          },
        },
      ),
    )
    const { ok, printed, ...rest } = await runText(engine, hung, { tools: { echo: () => 1 }, limits: { cpuMs: 100 } })
    assert.equal([ok, printed], [false, 'first\n'])
    assert.match((rest as { error: string }).error, /more than 1000 ms in a single step/)
    gate.resolve()
    const values = await Promise.all(beside.map(valueOf))
    for (const [place, value] of values.entries()) assert.equal((value as unknown[]).slice(0, 2), [place, 'waited'])
    assert.is(new Set(values.map((value) => (value as unknown[])[2])).size, 50)
    // No call was carried out a second time.
    assert.equal(
      [...counts.values()],
      Array.from({ length: 50 }, () => 1),
    )
  })

  it(
    'is given up at once when it is aborted, and the engine goes on with the next',
    { timeoutMs: 20_000 },
    async ({ cleanup }) => {
      const engine = openEngine(cleanup, 1_000)
      const abort = new AbortController()
      const outcome = runText(engine, hung, { tools: { echo: () => 1 }, signal: abort.signal })
      const next = runText(engine, 'return 2')
      abort.abort(new Error('no more'))
      await assert.rejects(outcome, /no more/)
      assert.is(await valueOf(next), 2)
    },
  )
})

describe('an engine', (it) => {
  it('that is closed ends its scripts, and begins anew for the next', async ({ cleanup }) => {
    const engine = openEngine(cleanup)
    const waiting = runText(engine, 'await tools.wait()', { tools: { wait: () => new Promise(() => {}) } })
    assert.is(await valueOf(runText(engine, 'return 1')), 1)
    await engine.close()
    await engine.close()
    // Its call is under way, and what that does has to be on record: so it ends when that does.
    const other = runText(engine, 'return 3')
    assert.is(await valueOf(other), 3)
    assert.is(await Promise.race([waiting, Promise.resolve('waits')]), 'waits')
  })

  it('refuses a script that makes other calls than it is on record with', async ({ cleanup }) => {
    const engine = openEngine(cleanup)
    const known = { ...noCalls, starts: new Map([[1, { name: 'echo', print: 'another' }]]) }
    const called: unknown[] = []
    const outcome = await runText(engine, 'return await tools.echo()', { tools: { echo: () => called.push(1) }, known })
    assert.is(
      outcome.ok ? '' : outcome.error,
      'The script did not repeat itself; start it anew. Call 1 was one of echo, and is another now, of echo.',
    )
    assert.equal(called, [])
  })

  it('refuses a script that no longer makes a call whose result is on record', async ({ cleanup }) => {
    const ends = [{ n: 2, at: 1, result: { ok: true, json: '1' } as const }]
    const outcome = await runText(openEngine(cleanup), 'await new Promise(() => {})', { known: { ...noCalls, ends } })
    assert.is(outcome.ok ? '' : outcome.error, 'The script did not repeat itself; start it anew.')
  })
})
