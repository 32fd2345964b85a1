import { z } from 'zod'
import { RemoteRoster, type RosterChange } from '../../src/client/remoteRoster.ts'
import { RemoteRuns } from '../../src/client/remoteRuns.ts'
import { readSharedPast } from '../../src/client/sharedPast.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const event = (type: string, more: object = {}): AgentEvent =>
  ({ v: 3, type, agentId: 'a', path: [], seq: 1, time: 0, runId: 'r1', turnIndex: 0, ...more }) as never
const start = (requestId: string, more: object = {}): AgentEvent =>
  event('run.start', { requestId, cause: 'prompt', ...more })
const end = (stopReason: string, more: object = {}): AgentEvent =>
  event('run.end', {
    stopReason,
    turns: 1,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    costUsd: 0,
    ...more,
  })
const reply = (words: string, more: object = {}): AgentEvent =>
  event('reply.end', { message: { role: 'assistant', content: [{ type: 'text', text: words }] }, ...more })
const turn = event('turn.start')
const cut = end('paused', { reason: { type: 'interrupted' } })

/** Runs of a client that has asked `q`, and the result of that. */
function asked(output?: z.ZodType) {
  const ended: string[] = []
  const runs = new RemoteRuns((id) => void ended.push(id))
  runs.output = output
  const run = runs.expect('q')
  const state = { result: undefined as Awaited<typeof run.result> | undefined }
  void run.result.then((result) => (state.result = result))
  const take = async (...events: readonly AgentEvent[]): Promise<string | undefined> => {
    for (const one of events) runs.take(one)
    await new Promise((resolve) => setImmediate(resolve))
    return state.result?.stopReason
  }
  return { runs, ended, state, take }
}

describe('a run that a client asked for', (it) => {
  it('ends as its log says, and is told once', async () => {
    const { take, ended, runs, state } = asked()
    assert.is(await take(start('other'), turn, reply('no'), end('stop')), undefined)
    assert.is(await take(start('q'), turn, reply('yes')), undefined)
    assert.is(runs.isEmpty, false)
    assert.is(await take(end('stop')), 'stop')
    assert.equal([state.result?.text, ended, runs.isEmpty], ['yes', ['q'], true])
  })

  it('is asked for again where it was aborted before its first turn, as when a server dies', async () => {
    const { take, runs, ended } = asked()
    assert.is(await take(start('q'), end('aborted')), undefined)
    assert.equal([runs.isEmpty, ended], [false, []])
    assert.is(await take(start('q'), turn, end('aborted')), 'aborted')
    assert.equal([runs.isEmpty, ended], [true, ['q']])
  })

  it('goes on in the run that it is resumed by', async () => {
    const { take, runs } = asked()
    await take(start('q'), turn, cut)
    assert.is(runs.isInterrupted, true)
    assert.is(await take(start('p', { resumedFrom: 'r1', cause: 'resume', runId: 'r2' })), undefined)
    assert.is(runs.isInterrupted, false)
    assert.is(await take(turn, end('stop', { runId: 'r2' })), 'stop')
  })

  it('is over where it was cut off and another one begins, or all records have come', async () => {
    for (const how of ['another', 'caught up'] as const) {
      const { take, runs, ended } = asked()
      await take(start('q'), turn, cut)
      if (how === 'caught up') runs.caughtUp()
      assert.is(await take(...(how === 'another' ? [start('p')] : [])), 'paused')
      assert.equal([runs.isInterrupted, ended], [false, ['q']])
      runs.caughtUp()
      assert.is(ended.length, 1)
    }
  })

  it('is over when it is dropped, refused, or no more will come', async () => {
    const dropped = asked()
    await dropped.take(
      event('queue.changed', { why: 'taken', removed: ['q'] }),
      event('queue.changed', { why: 'dropped', removed: ['p'] }),
    )
    assert.is(dropped.runs.isEmpty, false)
    assert.is(await dropped.take(event('queue.changed', { why: 'dropped', removed: ['q'] })), 'aborted')

    const refused = asked()
    refused.runs.cancel('p', 'error')
    assert.is(refused.runs.isEmpty, false)
    refused.runs.cancel('q', 'error', { code: 'QUEUE_FULL', message: 'x' })
    refused.runs.cancel('q', 'aborted')
    await refused.take()
    assert.equal([refused.state.result?.error?.code, refused.ended, refused.runs.isEmpty], ['QUEUE_FULL', ['q'], true])

    const under = asked()
    await under.take(start('q'), turn)
    under.runs.cancel('p', 'error')
    assert.is(await under.take(), undefined)
    const waits = under.runs.expect('later')
    under.runs.cancelAll('aborted')
    assert.equal(
      [(await waits.result).stopReason, await under.take(), under.ended],
      ['aborted', 'aborted', ['q', 'later']],
    )
    assert.is(under.runs.isEmpty, true)

    const cutOff = asked()
    await cutOff.take(start('q'), turn, cut)
    cutOff.runs.cancelAll('aborted')
    assert.is(await cutOff.take(), 'paused')
  })

  it('is expected no more once it goes on by a resumption', async () => {
    const { take, runs } = asked()
    assert.is(await take(start('q', { cause: 'resume' }), end('aborted')), 'aborted')
    assert.is(runs.isEmpty, true)
  })

  it('has an answer as the server checked it, or as the schema of the client reads it', async () => {
    const outputOf = async (words: string, more: object, output?: z.ZodType, how = 'stop') => {
      const { take, state } = asked(output)
      await take(start('q'), turn, reply(words, more), end(how))
      const { result } = state
      return [result?.stopReason, result?.output, result?.error?.code]
    }
    const schema = z.object({ n: z.number() })
    assert.equal(await outputOf('{"n":1}', {}), ['stop', undefined, undefined])
    assert.equal(await outputOf('{"n":1}', { answer: true }), ['stop', { n: 1 }, undefined])
    assert.equal(await outputOf('words', { answer: true }), ['stop', undefined, undefined])
    assert.equal(await outputOf('{"n":1}', {}, schema), ['stop', { n: 1 }, undefined])
    assert.equal(await outputOf('{"n":"x"}', {}, schema), ['error', undefined, 'OUTPUT_INVALID'])
    assert.equal(await outputOf('{"n":"x"}', {}, schema, 'aborted'), ['aborted', undefined, undefined])
  })
})

describe('agents that run, watched by several', (it) => {
  function watched() {
    const asks: string[] = []
    const roster = new RemoteRoster(
      ({ type }) => void asks.push(type),
      () => {},
    )
    const listen = () => {
      const heard: RosterChange[] = []
      return { heard, end: roster.add((change) => void heard.push(change)) }
    }
    const says = (ids: readonly string[], gone: readonly string[] = []) =>
      roster.take({ type: 'agents', agents: ids.map((agentId) => ({ agentId })), gone } as never)
    const seen = (heard: readonly RosterChange[]) =>
      heard.map(({ agents, gone }) => [agents.map(({ agentId }) => agentId).join(), gone.join()])
    return { asks, roster, listen, says, seen }
  }

  it('are asked for once, told to who comes later, and no more when nobody listens', () => {
    const { asks, listen, says, seen } = watched()
    const first = listen()
    const early = listen()
    assert.equal([asks, early.heard], [['agent.watch'], []])
    says(['a', 'b'])
    says(['c'], ['a'])
    const late = listen()
    assert.equal(
      [seen(first.heard), seen(late.heard)],
      [
        [
          ['a,b', ''],
          ['c', 'a'],
        ],
        [['b,c', '']],
      ],
    )
    first.end()
    first.end()
    early.end()
    says(['d'])
    assert.equal([asks, first.heard.length, late.heard.length], [['agent.watch'], 2, 2])
    late.end()
    assert.equal(asks, ['agent.watch', 'agent.unwatch'])
  })

  it('are asked for anew over the next connection, and those that are gone meanwhile are told', () => {
    const { asks, listen, says, seen, roster } = watched()
    roster.reopen()
    assert.equal(asks, [])
    const { heard } = listen()
    says(['a', 'b'])
    roster.reopen()
    assert.equal(asks, ['agent.watch', 'agent.watch'])
    says(['b', 'c'])
    says([], ['b'])
    assert.equal(seen(heard), [
      ['a,b', ''],
      ['b,c', 'a'],
      ['', 'b'],
    ])
  })
})

describe('what a fork shares', (it) => {
  const page = (part: number, seqs: readonly number[], next?: object) => ({
    part,
    records: seqs.map((seq) => ({ type: 'turn.start', seq })),
    ...(next === undefined ? {} : { next }),
  })
  const read = async (...pages: readonly object[]) => {
    const froms: unknown[] = []
    const parts = await readSharedPast(async (frame) => {
      froms.push((frame as { from: unknown }).from)
      return pages[froms.length - 1]
    }, 'a')
    return [parts.map((records) => records.map(({ seq }) => seq)), froms.length]
  }

  it('is read page by page, a part for each log', async () => {
    assert.equal(await read(page(0, [])), [[], 1])
    const pages = [page(0, [1, 2], { part: 0, seq: 3 }), page(0, [3], { part: 1, seq: 1 }), page(1, [7])]
    assert.equal(await read(...pages), [[[1, 2, 3], [7]], 3])
  })

  it('is refused where the pages lead nowhere', async () => {
    for (const next of [
      { part: 0, seq: 1 },
      { part: 0, seq: 0 },
    ])
      await assert.rejects(read(page(0, [1], next)), withCode('BRIDGE_FRAME', 'lead back'))
    await assert.rejects(
      read(page(0, [1], { part: 1, seq: 1 }), page(1, [1], { part: 0, seq: 9 })),
      withCode('BRIDGE_FRAME'),
    )
  })
})
