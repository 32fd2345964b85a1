import { hitCounts, hitRows, markedParts } from '../../../src/inspector/model/search/hitRows.ts'
import { LogSearch, type Hit } from '../../../src/inspector/model/search/logSearch.ts'
import { readQuery } from '../../../src/inspector/model/search/searchQuery.ts'
import { noUsage } from '../../../../../src/protocol/text/messageText.ts'
import { recordVersion, type LogRecord } from '../../../../../src/protocol/records.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const hit = (seq: number, rest: Partial<Hit> = {}): Hit => ({
  agentId: 'a',
  seq,
  isShared: false,
  node: null,
  excerpt: `place ${seq}`,
  kind: 'said',
  who: 'model',
  isError: false,
  time: seq,
  ...rest,
})

describe('the list of matches', (it) => {
  it('has them by agent, and what reads the same once, with how often', () => {
    const same = { kind: 'answered', who: 'run_tests', excerpt: 'quota is per quarter', isError: true } as const
    const hits = [
      hit(1),
      hit(2, same),
      hit(3, { agentId: 'b' }),
      hit(4, same),
      hit(5, same),
      hit(6, { ...same, who: 'look' }),
    ]
    const told = (filter: Parameters<typeof hitRows>[1]) =>
      hitRows(hits, filter).map((row) =>
        row.type === 'agent' ? `${row.agentId} ${row.count}` : row.hits.map(({ seq }) => seq),
      )
    assert.equal(told(null), ['a 5', [1], [2, 4, 5], [6], 'b 1', [3]])
    assert.equal(told('errors'), ['a 4', [2, 4, 5], [6]])
    assert.equal(told('said'), ['a 1', [1], 'b 1', [3]])
    assert.equal(
      [...hitCounts(hits)],
      [
        ['said', 2],
        ['answered', 4],
        ['errors', 4],
      ],
    )
  })

  it('marks each place of the words, in any case, and nothing where places would not be the same', () => {
    const marked = (text: string, wanted: string) =>
      markedParts(text, wanted)
        .map((part) => (part.isMarked ? `[${part.text}]` : part.text))
        .join('')
    assert.is(marked('Quota: the quota', 'quota'), '[Quota]: the [quota]')
    assert.is(marked('aaa', 'aa'), '[aa]a')
    assert.is(marked('nothing', 'x'), 'nothing')
    assert.is(marked('all', ''), 'all')
    assert.is(marked('İstanbul', 'stan'), 'İstanbul')
  })

  it('knows whose words they are', () => {
    const base = { v: recordVersion, time: 5, runId: 'r', turnIndex: 0 } as const
    const content = [
      { type: 'thinking', text: 'the quota is odd' },
      { type: 'text', text: 'I look.' },
      { type: 'toolCall', callId: 'c', name: 'look', input: { at: 'QUOTA' } },
    ]
    const reply = (from: number) => ({
      ...base,
      seq: from,
      type: 'reply.end',
      nodeId: 2,
      parent: 1,
      message: { role: 'assistant', content: content.slice(from - 1), stopReason: 'stop', usage: noUsage, model: 'm' },
      costUsd: 0,
      estimatedTokens: 0,
    })
    const ends = {
      ...base,
      seq: 4,
      type: 'tool.end',
      callId: 'c',
      name: 'look',
      nodeId: 3,
      message: {
        role: 'toolResult',
        callId: 'c',
        toolName: 'look',
        isError: true,
        content: [{ type: 'text', text: 'no quota' }],
      },
    }
    const records = [reply(1), reply(3), ends] as unknown as readonly LogRecord[]
    const search = new LogSearch(readQuery('quota'), { agentId: 'a' })
    search.look(records, records.length, Infinity)
    assert.equal(
      search.hits.map(({ kind, who, isError, time }) => [kind, who, isError, time]),
      [
        ['thought', 'model', false, 5],
        ['asked', 'calls look', false, 5],
        ['answered', 'look', true, 5],
      ],
    )
  })
})
