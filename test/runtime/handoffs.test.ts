import type { LogRecord } from '../../src/protocol/records.ts'
import { foldLog, Folding } from '../../src/log/fold.ts'
import { handoffsFold, type Handoffs } from '../../src/runtime/agents/handoffs.ts'
import { assert, describe } from '../support/suite.ts'

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
    name: string | undefined,
    pending?: string | undefined,
    endsUse?: true,
  ]
} = {
  'nothing was handed over': [[reply('c0'), end()], undefined],
  'a step with it is open': [[reply('c0', 'c1'), end('billing')], undefined, 'billing'],
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
  'it was forked in the middle of the step': [[reply('c0', 'c1'), end('billing'), forked], undefined],
  'it was forked after the step': [[reply('c0'), end('billing'), forked], 'billing', undefined, true],
  'the past is that of its caller': [[reply('c0'), end('billing'), child], undefined, undefined, true],
}

const seen = ({ name, pending, endsUse }: Handoffs) => [name, pending, endsUse]

describe('who answers in a conversation', (it) => {
  for (const [road, [records, name, pending, endsUse = false]] of Object.entries(roads))
    it(`is told by its records, read at once, one by one, or from where they were kept: ${road}`, () => {
      const expected = [name, pending, endsUse]
      assert.equal(seen(foldLog(handoffsFold, records)), expected)
      for (let split = 0; split <= records.length; split += 1) {
        const first = new Folding([handoffsFold])
        for (const one of records.slice(0, split)) first.apply(one)
        const later = new Folding([handoffsFold], JSON.parse(JSON.stringify(first.keep())))
        for (const folding of [first, later]) {
          for (const one of records.slice(split)) folding.apply(one)
          assert.equal(seen(folding.at(handoffsFold).state), expected)
        }
      }
    })
})
