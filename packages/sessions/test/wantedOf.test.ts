import type { RecordedRun, Recording } from '../src/recordedRuns.ts'
import { lastRuns, wantedOf, whyItPasses } from '../src/wantedOf.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const runOf = (replies: readonly object[], more: object = {}): RecordedRun =>
  ({ replies, ...more }) as unknown as RecordedRun
const many = (count: number, name = 'r'): object[] => Array.from({ length: count }, (_, n) => ({ text: `${name}${n}` }))

describe('the runs that a test plays', (it) => {
  it('are the last ones with two hundred replies at most; of a longer last one its end', () => {
    for (const [sizes, kept, leftOut] of [
      [[5], [5], 0],
      [[200], [200], 0],
      [[201], [200], 1],
      [[1, 200], [200], 1],
      [[1, 199], [1, 199], 0],
      [[2, 199], [199], 2],
      [[50, 100, 100], [100, 100], 50],
      [[1, 150, 100], [100], 151],
      [[7, 0, 201], [0, 200], 8],
    ] as const) {
      const runs = sizes.map((size, at) => runOf(many(size, `${at}:`)))
      const found = lastRuns(runs)
      assert.equal(
        [found.runs.map(({ replies }) => replies.length), found.leftOut],
        [kept, leftOut],
        JSON.stringify(sizes),
      )
      assert.equal(found.runs.at(-1)!.replies, runs.at(-1)!.replies.slice(-200))
    }
  })
})

describe('what a test asserts', (it) => {
  const calls = (...ids: readonly string[]) => ({
    toolCalls: ids.map((callId) => ({ callId, name: callId.replace(/\d$/, '') })),
  })
  const recording = (...failed: readonly string[]) =>
    ({
      results: new Map(['look1', 'look2', 'no tool1', 'ok1'].map((id) => [id, { isError: failed.includes(id) }])),
    }) as unknown as Recording

  it('is that its fault does not occur, else that an answer or a call is right', () => {
    const limit = { stopReason: 'paused', reason: { type: 'limit', limit: 'turns' } }
    for (const [ended, failed, expect, wanted] of [
      [undefined, [], undefined, { type: 'answer' }],
      [{ stopReason: 'stop' }, [], 'x', { type: 'answer' }],
      [{ stopReason: 'aborted' }, [], undefined, { type: 'answer' }],
      [{ stopReason: 'aborted' }, ['look1'], undefined, { type: 'calls', name: 'look' }],
      [{ stopReason: 'stop' }, ['look1'], 'x', { type: 'answer' }],
      [{ stopReason: 'stop' }, ['ok1', 'look1'], undefined, { type: 'calls', name: 'look' }],
      [{ stopReason: 'stop' }, ['look1', 'no tool1'], undefined, { type: 'calls', name: 'look' }],
      [{ stopReason: 'stop' }, ['no tool1'], undefined, { type: 'calls', name: 'no tool' }],
      [{ stopReason: 'error', error: { message: 'broken' } }, [], 'x', { type: 'end', was: 'error', why: 'broken' }],
      [limit, [], undefined, { type: 'end', was: 'paused', why: 'its limit of turns' }],
      [{ stopReason: 'paused', reason: { type: 'stall' } }, ['look1'], 'x', { type: 'end', was: 'paused', why: '' }],
      [{ ...limit, error: { message: 'full' } }, [], undefined, { type: 'end', was: 'paused', why: 'full' }],
    ] as const) {
      const run = runOf([calls('ok1', 'look1'), {}, calls('no tool1', 'unknown')], { ended })
      assert.equal(wantedOf(run, recording(...failed), expect), wanted, JSON.stringify([ended, failed, expect]))
    }
  })

  it('is refused where it holds already, or where replies alone cannot bring it about', () => {
    const end = { type: 'end', was: 'error', why: '' } as const
    for (const [run, wanted, expect, passes] of [
      [runOf([], { end: { type: 'elsewhere', what: 'it was aborted' } }), end, undefined, /that it was aborted/],
      [runOf([], { end: { type: 'reply' } }), end, undefined, undefined],
      [runOf([]), end, 'x', undefined],
      [runOf([{ text: 'a x b' }]), { type: 'answer' }, 'x', /has that already/],
      [runOf([{ text: 'a x b' }, { text: 'y' }]), { type: 'answer' }, 'x', undefined],
      [runOf([{ text: 'x' }]), { type: 'answer' }, undefined, undefined],
      [runOf([{ text: 'x' }]), { type: 'calls', name: 'look' }, 'x', undefined],
      [runOf([]), { type: 'answer' }, 'x', undefined],
    ] as const) {
      const why = whyItPasses(run, wanted, expect)
      if (passes === undefined) assert.is(why, undefined)
      else assert.match(why ?? '', passes)
    }
  })
})
