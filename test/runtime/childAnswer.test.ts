import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { noUsage, type Block } from '../../src/protocol/messages.ts'
import { recordVersion, type LogRecord, type RecordOf, type Spent } from '../../src/protocol/records.ts'
import {
  answerOf,
  finishedAnswer,
  limitsWithin,
  usedUp,
  whyUnfinished,
} from '../../src/runtime/children/childAnswer.ts'
import type { History } from '../../src/log/readHistory.ts'
import { assert, describe } from '../support/suite.ts'

const helper = { name: 'helper' }
const error = { code: 'MODEL_FAILED', message: 'The model is down.' } as const
const limit = { type: 'limit', limit: 'turns', allowed: 3, used: 3 } as const
const guarded = { guard: 'noSecrets', reason: 'it has a key' }

const created = { v: recordVersion, seq: 1, time: 1, type: 'agent.created', agentId: 'a.1' } as unknown as LogRecord
const inTurn = { v: recordVersion, seq: 2, time: 1, runId: 'r', turnIndex: 0 } as const
const started = { ...inTurn, type: 'run.start', cause: 'prompt' } as unknown as LogRecord
const said = { ...inTurn, type: 'message.added' } as unknown as LogRecord
const replied = (text: string): LogRecord =>
  ({ ...inTurn, type: 'reply.end', message: { content: [{ type: 'text', text }] as Block[] } }) as unknown as LogRecord
const ended = (rest: Partial<RecordOf<'run.end'>>): LogRecord =>
  ({ ...inTurn, type: 'run.end', stopReason: 'stop', ...rest }) as LogRecord

const definition = defineAgent({ name: 'helper', model: policyModel(() => 'x') })
const answerIn = (records: readonly LogRecord[], hasMore = false) =>
  finishedAnswer({ records: [created, ...records] } as unknown as History, definition, hasMore)

const spent = (part: Partial<Spent>): Spent => ({ usage: noUsage, costUsd: 0, turns: 0, ...part })

describe('the answer of a sub-agent', (it) => {
  it('is what it said, or that it said nothing', () => {
    assert.equal(answerOf({ stopReason: 'stop', text: 'It is 7.' }, helper), { text: 'It is 7.', isError: false })
    assert.equal(answerOf({ stopReason: 'stop', text: '' }, helper), { text: '(no answer)', isError: false })
  })

  it('is an error that says why it did not finish, with its last words', () => {
    const reasons: readonly (readonly [ending: Omit<Parameters<typeof answerOf>[0], 'text'>, why: string])[] = [
      [{ stopReason: 'stop', error }, 'The model is down.'],
      [{ stopReason: 'length' }, 'its reply was cut off at the longest length allowed.'],
      [{ stopReason: 'refusal' }, 'its model refused.'],
      [{ stopReason: 'paused' }, 'it was paused.'],
      [{ stopReason: 'aborted' }, 'it was aborted.'],
      [{ stopReason: 'error' }, 'it failed.'],
      [{ stopReason: 'paused', reason: limit }, 'its limit of 3 turns was reached.'],
      [
        { stopReason: 'paused', reason: { type: 'stall', evidence: 'the same call 5 times' } as never },
        'it went in circles and was paused, the same call 5 times.',
      ],
      [{ stopReason: 'error', error, reason: limit }, 'The model is down.'],
    ]
    for (const [ending, why] of reasons) {
      const begin = `The agent "helper" did not finish: ${why}`
      const [silent, speaking] = ['', 'I tried.'].map((text) => answerOf({ ...ending, text }, helper))
      assert.equal([silent!.text, silent!.isError], [begin, true])
      assert.is(speaking!.text, `${begin}\n\nIts last words were:\nI tried.`)
    }
  })

  it('does not repeat what a guard refused', () => {
    for (const [at, what] of [
      ['input', 'its task'],
      ['output', 'its answer'],
    ] as const) {
      const { text } = answerOf({ stopReason: 'refusal', text: 'the key', refusal: { ...guarded, at } }, helper)
      assert.is(text, `The agent "helper" did not finish: ${what} was refused by noSecrets: it has a key.`)
    }
    assert.is(whyUnfinished({ stopReason: 'stop' }), 'its answer was not usable')
  })

  it('is cut in the middle where it is long, and kept whole beside', () => {
    const long = `begin${'x'.repeat(40_000)}end`
    for (const stopReason of ['stop', 'aborted'] as const) {
      const { text, whole } = answerOf({ stopReason, text: long }, helper)
      assert.ok(text.length < 31_000 && text.includes('begin') && text.endsWith('end'))
      assert.ok(whole?.endsWith(long))
    }
    assert.is(answerOf({ stopReason: 'stop', text: 'x'.repeat(30_000) }, helper).whole, undefined)
  })

  it('tells whether more would help: only where its own definition allows more', () => {
    const cases: readonly (readonly [own: number | undefined, expected: true | undefined])[] = [
      [undefined, true],
      [4, true],
      [3, undefined],
      [2, undefined],
    ]
    for (const [turns, expected] of cases) {
      const policy = { limits: turns === undefined ? {} : { turns } }
      assert.is(
        answerOf({ stopReason: 'paused', text: '', reason: limit }, { ...helper, policy }).isOverAllowance,
        expected,
      )
    }
    assert.is(answerOf({ stopReason: 'paused', text: '' }, helper).isOverAllowance, undefined)
  })
})

describe('the answer in the log of a sub-agent', (it) => {
  it('is that of its last run, once that has ended for good', () => {
    const task = [started, said, replied('first')]
    assert.is(answerIn([...task, ended({})])?.text, 'first')
    assert.is(answerIn([...task, ended({}), started])?.text, undefined)
    assert.is(answerIn([...task, ended({}), started, said, replied('second'), ended({})])?.text, 'second')
    assert.is(answerIn(task), undefined)
    assert.is(answerIn([started, ended({ stopReason: 'aborted' })]), undefined)
    assert.match(answerIn([started, said, ended({ stopReason: 'error', error })])?.text ?? '', /The model is down/)
  })

  it('is none where only its process or its store failed', () => {
    for (const type of ['interrupted', 'store'] as const)
      assert.is(answerIn([started, said, ended({ stopReason: 'paused', reason: { type, error } })]), undefined)
  })

  it('is none at a limit, where its caller gives it more', () => {
    const log = [started, said, replied('so far'), ended({ stopReason: 'paused', reason: limit })]
    assert.match(answerIn(log)?.text ?? '', /its limit of 3 turns was reached.*so far/s)
    assert.is(answerIn(log, true), undefined)
    assert.is(answerIn([started, said, replied('done'), ended({})], true)?.text, 'done')
    assert.ok(answerIn([started, said, ended({ stopReason: 'aborted' })], true)?.isError)
  })
})

describe('the allowance of a sub-agent', (it) => {
  it('is the smaller of its own and what its caller gives, limit by limit', () => {
    const own = { turns: 5, tokens: 100, onLimit: 'answer' } as const
    assert.equal(limitsWithin(own, {}), own)
    assert.equal(limitsWithin(own, { turns: 9, tokens: 7, costUsd: 1, ms: 30 }), {
      turns: 5,
      tokens: 7,
      costUsd: 1,
      ms: 30,
      onLimit: 'answer',
    })
  })

  it('is used up once one of its limits is reached', () => {
    const usage = { ...noUsage, input: 60, output: 40 }
    const cases: readonly (readonly [part: Partial<Spent>, limit: 'turns' | 'tokens' | 'costUsd', just: number])[] = [
      [{ turns: 3 }, 'turns', 3],
      [{ usage }, 'tokens', 100],
      [{ costUsd: 0.5 }, 'costUsd', 0.5],
    ]
    for (const [part, name, just] of cases) {
      const reached = { type: 'limit', limit: name, allowed: just, used: just }
      assert.equal(usedUp(spent(part), { [name]: just }), reached)
      assert.is(usedUp(spent(part), { [name]: just * 1.01 }), undefined)
      assert.is(usedUp(spent(part), { ms: 1 }), undefined)
    }
  })
})
