import { readText } from '../../tools/bench/replay/readers/readSession.ts'
import { type RecordedSession, stepsOf } from '../../tools/bench/replay/recordedSession.ts'
import type { CacheName } from '../../tools/bench/replay/measure/cacheMeter.ts'
import { measureReplay } from '../../tools/bench/replay/measure/measureReplay.ts'
import { replay } from '../../tools/bench/replay/replay.ts'
import { assert, describe } from '../support/suite.ts'
import { jsonl } from './shortTurns.ts'

const minute = 60
const start = Date.UTC(2026, 3, 15, 10)
const words = 'one two three four five '.repeat(400)

/** Seconds at which people speak and results come. */
const at = { prompt: 0, result: 30, again: 30 + 4 * minute, late: 60 * minute }

async function paused(unit?: number): Promise<RecordedSession> {
  const line = (seconds: number, type: string, message: object) => ({
    type,
    sessionId: 's',
    timestamp: new Date(start + 1_000 * seconds).toISOString(),
    message,
  })
  const call = [{ type: 'tool_use', id: 'a', name: 'Read', input: {} }]
  const says = (id: string) => ({ id, content: [{ type: 'text', text: words }] })
  const lines = jsonl(
    line(at.prompt, 'user', { content: words }),
    line(5, 'assistant', { id: 'm1', content: call, usage: { input_tokens: 20_000 } }),
    line(at.result, 'user', { content: [{ type: 'tool_result', tool_use_id: 'a', content: words }] }),
    line(40, 'assistant', says('m2')),
    line(at.again, 'user', { content: words }),
    line(at.again + 9, 'assistant', says('m3')),
    line(at.late, 'user', { content: words }),
    line(at.late + 9, 'assistant', says('m4')),
  )
  return await readText(lines, 'claude.jsonl', unit)
}

const usageOf = async (session: RecordedSession, cache?: CacheName) => {
  const { log, failure } = await replay(session, undefined, {}, cache === undefined ? {} : { cache })
  assert.is(failure, undefined)
  return log.flatMap(({ message }) => (message.role === 'assistant' ? [message.usage] : []))
}

describe('pauses in a replay', (it) => {
  it('pass on the clock of the log, so that the agent decides by them', async () => {
    const session = await paused()
    const times: number[] = []
    const { requests } = await replay(session, undefined, {
      atRest: (turn, agent) =>
        turn === 0 && agent.subscribe((event) => void (event.type === 'turn.start' && times.push(event.time))),
    })
    const expected = [at.prompt, at.result, at.again, at.late].map((seconds) => 1_000 * seconds)
    assert.equal(
      requests.map((request) => request.at),
      expected,
    )
    assert.equal(
      times.map((time) => time - times[0]!),
      expected,
    )
  })

  it('empty a cache of five minutes, not one of an hour, as the agent is told', async () => {
    const session = await paused()
    const read = (await usageOf(session, '5m')).map(({ cacheRead }) => cacheRead > 0)
    assert.equal(read, [false, true, true, false])
    const long = await usageOf(session, '1h')
    assert.equal(
      long.map(({ cacheRead }) => cacheRead > 0),
      [false, true, true, true],
    )
    for (const { input, output, cacheWrite } of long) assert.ok(input === 0 && output > 0 && cacheWrite > 0)
  })

  it('are bills as the agent was told them', async () => {
    const session = await paused()
    for (const cache of ['5m', '1h', 'none'] as const) {
      const replayed = await replay(session, undefined, {}, { cache })
      const { input, cached, written } = measureReplay(session, replayed, undefined, cache)
      const used = await usageOf(session, cache)
      const sum = (of: (usage: (typeof used)[number]) => number): number =>
        used.reduce((all, each) => all + of(each), 0)
      assert.equal([sum((usage) => usage.cacheRead), sum((usage) => usage.cacheWrite)], [cached, written])
      assert.is(
        sum((usage) => usage.input),
        input - cached - written,
      )
    }
  })

  it('cost nothing more where nothing is cached: every token has the plain price', async () => {
    const usage = await usageOf(await paused(), 'none')
    assert.ok(usage.every(({ input, cacheRead, cacheWrite }) => input > 19_900 && cacheRead + cacheWrite === 0))
  })

  it('are told in the tokens of the provider', async () => {
    const [one, more] = [await usageOf(await paused(), 'none'), await usageOf(await paused(1.5), 'none')]
    // The frame has as many tokens as were recorded, whatever the unit.
    assert.ok(Math.abs(more[0]!.input - one[0]!.input) < 20)
    const grown = (usage: typeof one): number => usage[1]!.input - usage[0]!.input
    assert.ok(Math.abs(grown(more) / grown(one) - 1.5) < 0.01)
    assert.is(stepsOf(await paused()).length, one.length)
  })

  it('say nothing to the agent where the cache is ideal, as there is none like it', async () => {
    for (const usage of await usageOf(await paused())) assert.is(usage.estimated, true)
  })
})
