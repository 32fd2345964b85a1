import { defineAgent } from '../../src/actors/defineAgent.ts'
import { handedTo } from '../../src/actors/handoffs.ts'
import { policyModel } from '../../src/actors/models/policyModel.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { Handoffs, handoffsIn, isHandoff, type KeptHandoffs } from '../../src/runtime/agents/handoffs.ts'
import { withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const model = policyModel(() => 'Hello')
const billing = defineAgent({ name: 'billing', model })
const triage = defineAgent({ name: 'triage', model, handoffs: [billing] })

const record = (part: object): LogRecord => ({ v: 3, seq: 1, time: 1, runId: 'a/r0', turnIndex: 0, ...part }) as never
const reply = (...callIds: string[]): LogRecord =>
  record({
    type: 'reply.end',
    message: { content: callIds.map((callId) => ({ type: 'toolCall', callId, name: 'x', input: {} })) },
  })
const end = (handoff?: string): LogRecord => record({ type: 'tool.end', ...(handoff === undefined ? {} : { handoff }) })
const used = record({ type: 'use.changed', use: null })
const forked = record({ type: 'agent.created' })
const child = record({ type: 'agent.created', parent: { agentId: 'b' } })

const roads: {
  readonly [road: string]: readonly [
    records: readonly LogRecord[],
    name: string,
    pending?: string | undefined,
    endsUse?: true,
  ]
} = {
  'nothing was handed over': [[reply('c0'), end()], 'triage'],
  'a step with it is open': [[reply('c0', 'c1'), end('billing')], 'triage', 'billing'],
  'another call of the step has ended first': [[reply('c0', 'c1'), end(), end('billing')], 'billing', undefined, true],
  'another call of the step has ended after it': [
    [reply('c0', 'c1'), end('billing'), end()],
    'billing',
    undefined,
    true,
  ],
  'it was told since what to use': [[reply('c0'), end('billing'), used], 'billing'],
  'it was told before what to use': [[used, reply('c0'), end('billing')], 'billing', undefined, true],
  'it was handed back': [[reply('c0'), end('billing'), reply('c1'), end('triage')], 'triage', undefined, true],
  'it was forked in the middle of the step': [[reply('c0', 'c1'), end('billing'), forked], 'triage'],
  'it was forked after the step': [[reply('c0'), end('billing'), forked], 'billing', undefined, true],
  'the past is that of its caller': [[reply('c0'), end('billing'), child], 'triage', undefined, true],
}

const seen = ({ name, pending, endsUse, definition }: Handoffs) => [
  name,
  pending,
  endsUse,
  definition === handedTo(triage, name),
]

describe('who answers in a conversation', (it) => {
  for (const [road, [records, name, pending, endsUse = false]] of Object.entries(roads))
    it(`is told by its records, read at once, one by one, or from where they were kept: ${road}`, () => {
      const expected = [name, pending, endsUse, true]
      assert.equal(seen(new Handoffs(triage, undefined, records)), expected)
      for (let split = 0; split <= records.length; split += 1) {
        const first = new Handoffs(triage, undefined, records.slice(0, split))
        const kept = JSON.parse(JSON.stringify(first.keep())) as KeptHandoffs
        assert.equal(seen(new Handoffs(triage, kept, records.slice(split))), expected)
        for (const one of records.slice(split)) first.apply(one)
        assert.equal(seen(first), expected)
      }
    })

  it('is refused where the definition does not lead there', () => {
    const log = [reply('c0'), end('sales')]
    assert.throws(() => new Handoffs(triage, undefined, log), withCode('INVALID_DEFINITION', '"sales"', '"triage"'))
    assert.throws(() => new Handoffs(billing, undefined, [reply('c0'), end('triage')]), withCode('INVALID_DEFINITION'))
  })

  it('is not asked where nobody can hand over', () => {
    assert.is(handoffsIn(billing, undefined, [reply('c0'), end()]), undefined)
    assert.is(handoffsIn(triage, undefined)?.name, 'triage')
    assert.is(handoffsIn(triage, undefined, [], [reply('c0'), end('billing')])?.name, 'billing')
    const kept = new Handoffs(triage, undefined, []).keep()
    assert.is(handoffsIn(defineAgent({ name: 'triage', model }), kept)?.name, 'triage')
    assert.equal([end(), end('billing'), reply()].map(isHandoff), [false, true, false])
  })
})
