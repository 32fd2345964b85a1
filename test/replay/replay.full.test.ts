import { byKind } from '../../tools/bench/replay/byKind.ts'
import { compare } from '../../tools/bench/replay/compare.ts'
import { generateSession } from '../../tools/bench/replay/generate/generateSession.ts'
import { longKinds } from '../../tools/bench/replay/generate/kinds.ts'
import { measureReplay } from '../../tools/bench/replay/measure/measureReplay.ts'
import { prices } from '../../tools/bench/replay/measure/prices.ts'
import { chartOf } from '../../tools/bench/replay/output/chart.ts'
import { kindTables } from '../../tools/bench/replay/output/kindTable.ts'
import { markdownTable, priceTable, remarks } from '../../tools/bench/replay/output/table.ts'
import { deadEnds } from '../../tools/bench/replay/policies/deadEnds.ts'
import { policiesFor } from '../../tools/bench/replay/policies/policies.ts'
import { readText } from '../../tools/bench/replay/readers/readSession.ts'
import { isStep, type RecordedSession, stepsOf } from '../../tools/bench/replay/recordedSession.ts'
import { callsOf, replay } from '../../tools/bench/replay/replay.ts'
import type { RequestMessage } from '../../src/index.ts'
import { assert, describe } from '../support/suite.ts'

/** The messages before a turn, as they were recorded. */
const recordedBefore = ({ turns }: RecordedSession, end: number): RequestMessage[] =>
  turns.slice(0, end).flatMap((turn): RequestMessage[] => {
    if (!isStep(turn)) return [{ role: 'user', content: turn.content }]
    const results = callsOf(turn).map(({ callId, name: toolName }, index): RequestMessage => {
      const { content, isError } = turn.results[index]!
      return { role: 'toolResult', callId, toolName, content, isError }
    })
    return [{ role: 'assistant', content: turn.content }, ...results]
  })

const policy = (name: string, compactAt = 60_000) => policiesFor(compactAt).find((found) => found.name === name)!

describe('a replay', (it) => {
  it('without brakes sends the recorded requests one by one', { timeoutMs: 20_000 }, async () => {
    const session = generateSession('claude-code', 3, 60)
    const replayed = await replay(session)
    assert.is(replayed.failure, undefined)
    assert.is(replayed.requests.length, stepsOf(session).length)
    for (const { request, turn, reply } of replayed.requests) {
      assert.equal(request.messages, recordedBefore(session, turn!))
      assert.equal([request.system, request.tools], [session.system, session.tools])
      assert.is(reply, session.turns[turn!]!.content)
    }
    const { peak, input, usersLost, invalid, dangling, breaks } = measureReplay(session, replayed)
    assert.equal({ usersLost, invalid, dangling, breaks }, { usersLost: 0, invalid: 0, dangling: 0, breaks: {} })
    assert.ok(peak > 0 && input > peak)
  })

  it('has people speak in the middle of calls, as they did', async () => {
    const session = await readText(
      JSON.stringify([
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [1, 2].map((n) => ({ id: `c${n}`, function: { name: 'get', arguments: `{"n":${n}}` } })),
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: 'two' },
        { role: 'user', content: 'wait' },
        { role: 'assistant', content: 'waiting' },
        { role: 'user', content: 'go on' },
        { role: 'assistant', content: '', tool_calls: [{ id: 'c3', function: { name: 'get', arguments: 'broken' } }] },
      ]),
      'chat.json',
    )
    const { requests, failure } = await replay(session)
    assert.is(failure, undefined)
    for (const { request, turn } of requests) assert.equal(request.messages, recordedBefore(session, turn!))
    assert.equal(
      requests.map(({ turn }) => turn),
      [1, 3, 5],
    )
  })

  it(
    'names why the beginning of a request changed, with each policy, and loses nothing',
    { timeoutMs: 30_000 },
    async () => {
      const session = generateSession('opencode', 1, 120)
      const rows = await compare(session, policiesFor(60_000), 'anthropic')
      assert.equal(
        rows.map((row) => row.policy),
        policiesFor(1).map(({ name }) => name),
      )
      for (const { policy: name, measures } of rows) {
        assert.equal([name, measures.failure, measures.invalid, measures.usersLost], [name, undefined, 0, 0])
        assert.not.ok('other' in measures.breaks, name)
      }
      const causes = Object.fromEntries(rows.map((row) => [row.policy, [...new Set(Object.keys(row.measures.breaks))]]))
      assert.equal(causes['none'], [])
      assert.equal(causes['compaction'], ['compaction'])
      assert.equal(causes['mask-rolling'], ['masking'])
      assert.equal(causes['completion'], ['revert'])
      for (const name of ['fold', 'fold-no-index']) assert.equal(causes[name], ['fold'])
      const folded = rows.find((row) => row.policy === 'fold')!
      const bare = rows.find((row) => row.policy === 'fold-no-index')!
      assert.ok(folded.measures.indexOnly > 0 && folded.measures.dangling < bare.measures.dangling)
      assert.is(bare.measures.indexOnly, 0)
      assert.ok(folded.recalls!.asked > 0 && folded.recalls!.costX > folded.costX)
      assert.is(folded.recalls!.danglingPercent, 0)
      assert.is(rows[0]!.recalls, null)
      assert.ok(causes['dead-ends']!.every((cause) => cause.startsWith('revert')))
      const [none, ...others] = rows
      assert.equal([none!.peakX, none!.costX], [1, 1])
      assert.ok(others.every(({ peakX }) => peakX < 1))
      assert.is(none!.measures.dangling, 0)
    },
  )

  it('counts the request that a revert by the model costs', { timeoutMs: 20_000 }, async () => {
    const session = generateSession('opencode', 1, 120)
    const ends = deadEnds(session)
    assert.ok(ends.length > 0)
    const { shape, script } = policy('dead-ends-lazy')
    const replayed = await replay(session, shape, script!(session))
    const own = replayed.requests.filter(({ turn }) => turn === null)
    assert.is(own.length, ends.length)
    assert.equal(replayed.refused, [])
    assert.is(replayed.requests.length, stepsOf(session).length + own.length)
    assert.is(replayed.requests.filter(({ causes }) => causes.includes('revert')).length, ends.length)
  })

  it('says why it ended early', async () => {
    const session = generateSession('claude-code', 1, 20)
    const said = { type: 'step', content: [{ type: 'text', text: 'done' }], results: [] } as const
    const turns = [session.turns[0]!, said, said]
    const { failure } = await replay({ ...session, turns })
    assert.is(failure, 'turn 2: the run ended before the recorded one did')
  })

  it('takes a result of a megabyte whole', async () => {
    const big = `start ${'x'.repeat(1_000_000)} end`
    const session = await readText(
      JSON.stringify([
        { role: 'user', content: 'go' },
        { role: 'assistant', content: '', tool_calls: [{ id: 'c1', function: { name: 'get', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: big },
        { role: 'assistant', content: 'done' },
      ]),
      'chat.json',
    )
    const { requests } = await replay(session)
    assert.equal(requests.at(-1)!.request.messages, recordedBefore(session, 2))
  })
})

describe('a generated session', (it) => {
  it('is the same for the same seed, and another for another', () => {
    assert.equal(generateSession('claude-code', 7, 40), generateSession('claude-code', 7, 40))
    assert.not.equal(generateSession('claude-code', 7, 40), generateSession('claude-code', 8, 40))
  })

  it('has what real ones have: steering, errors, calls side by side, several tasks', () => {
    const { turns } = generateSession('claude-code', 1, 200)
    assert.ok(turns.filter(isStep).length >= 200)
    const steered = turns.filter((turn, at) => !isStep(turn) && at > 0 && callsOf(turns[at - 1] as never).length > 0)
    assert.ok(steered.length > 0)
    assert.ok(turns.filter(isStep).some(({ results }) => results.length > 1))
    assert.ok(turns.filter(isStep).some(({ results }) => results.some(({ isError }) => isError)))
    assert.ok(turns.filter((turn) => !isStep(turn)).length > 5)
  })
})

describe('a table by kind', (it) => {
  it(
    'has sessions of each kind, recorded ones and short runs, with and without a cache',
    { timeoutMs: 120_000 },
    async () => {
      const recorded = generateSession('codex', 5, 60)
      const found = await byKind({
        seeds: 'tune',
        sessions: 1,
        runs: 4,
        cache: '5m',
        unit: 1,
        prices: prices['anthropic']!,
        fold: { work: 4_000, minBatch: 2_000 },
        recordings: [recorded],
      })
      assert.equal(
        [...found.long, ...found.recorded].map(({ kind }) => kind),
        [...Object.keys(longKinds), recorded.name],
      )
      assert.is(found.short.length, 4)
      for (const { samples } of [...found.long, ...found.recorded]) {
        for (const { measures, requests } of Object.values(samples).flat()) {
          assert.equal([measures.failure, measures.invalid, measures.usersLost], [undefined, 0, 0])
          assert.not.ok('other' in measures.breaks)
          assert.ok(requests >= 50)
        }
        const [fold, uncached] = [samples.fold[0]!, samples.foldUncached[0]!]
        assert.ok(fold.cost < fold.unmanaged && uncached.cost < uncached.unmanaged)
        // Without a cache all input has its full price.
        assert.ok(uncached.unmanaged > 3 * fold.unmanaged)
      }
      const claude = found.long[0]!.samples
      assert.ok(claude.onDemand[0]!.cost < claude.onDemand[0]!.unmanaged)
      assert.ok(claude.foldOnDemand[0]!.cost < claude.fold[0]!.cost)
      const tables = kindTables(found)
      assert.match(tables, /\| kind +\| +n \| requests \|[\s\S]*\| claude-code +\| +1 \|[\s\S]*\| all +\| +4 \|/)
      assert.match(tables, /under 30 requests[\s\S]*\| all +\| +4 \|[\s\S]*0 invalid requests/)
    },
  )
})

describe('dead ends by hindsight', (it) => {
  const call = (id: string, name: string, input: object) => ({
    id,
    function: { name, arguments: JSON.stringify(input) },
  })
  const step = (id: string, name: string, output: string) => [
    { role: 'assistant', content: '', tool_calls: [call(id, name, { path: 'here' })] },
    { role: 'tool', tool_call_id: id, content: output },
  ]
  const sessionOf = (...steps: readonly object[][]) =>
    readText(
      JSON.stringify([
        { role: 'user', content: 'go' },
        ...steps.flat(),
        { role: 'assistant', content: 'done with file_used' },
      ]),
      'x',
    )

  it('are looks of which nothing was used afterwards', async () => {
    const session = await sessionOf(
      step('a', 'read', 'file_used'),
      step('b', 'read', 'file_unused_one'),
      step('c', 'read', 'file_unused_two'),
      step('d', 'edit', 'file_changed'),
    )
    assert.equal(
      deadEnds(session, 1).map(({ from, to }) => [from, to]),
      [[2, 3]],
    )
  })

  it('are not a single step, a change, or less than a revert costs', async () => {
    const session = await sessionOf(step('a', 'read', 'file_one'), step('b', 'write', 'ok'), step('c', 'write', 'ok'))
    assert.equal(deadEnds(session, 1), [])
    const small = await sessionOf(step('a', 'read', 'file_one'), step('b', 'read', 'file_two'))
    assert.equal([deadEnds(small, 1).length, deadEnds(small).length], [1, 0])
  })
})

describe('what a comparison shows', (it) => {
  it('is a table in Markdown and a picture', { timeoutMs: 20_000 }, async () => {
    const session = generateSession('claude-code', 2, 40)
    const rows = await compare(session, [policy('none'), policy('dead-ends')], 'anthropic')
    const lines = markdownTable(rows).split('\n')
    assert.is(lines.length, 4)
    assert.is(new Set(lines.map((line) => line.length)).size, 1)
    assert.match(lines[2]!, /^\| none +\| +\d+ \| +[\d.]+k \| +1\.000 \|/)
    assert.match(priceTable(rows), /^\| policy +\| anthropic \|[\s\S]*\n\| none +\| +1\.000 \|/)
    assert.match(
      chartOf(rows, 'a < b'),
      /<svg[\s\S]*a &lt; b[\s\S]*<title>none<\/title>[\s\S]*<title>dead-ends<\/title>/,
    )
    const [row] = rows
    const failed = { ...row!, measures: { ...row!.measures, failure: 'because', refused: 2 } }
    assert.equal(remarks([row!]), [])
    assert.equal(remarks([failed]), [
      'none: the replay ended early: because',
      'none: 2 of what it asked for was refused',
    ])
  })
})
