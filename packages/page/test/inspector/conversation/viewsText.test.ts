import { someRuns } from '../../../../../test/support/seeds.ts'
import * as fc from 'fast-check'
import { counted } from '../../../../charts/src/amounts.ts'
import { eventText } from '../../../src/inspector/model/events/eventWords.ts'
import { noticeOf } from '../../../src/inspector/model/conversation/graphNotices.ts'
import { GraphRows } from '../../../src/inspector/model/conversation/graphRows.ts'
import { visibleRows } from '../../../src/inspector/model/conversation/graphVisible.ts'
import { jsonParts } from '../../../src/inspector/model/words/jsonParts.ts'
import { revealNode } from '../../../src/inspector/model/conversation/revealNode.ts'
import { levelOf, treeMove } from '../../../src/inspector/model/conversation/rowKeys.ts'
import { sourceWord } from '../../../src/inspector/model/words/sourceWord.ts'
import { argumentsLine, beginning, oneLine } from '../../../src/inspector/model/words/shortText.ts'
import { BrakeLog } from '../../../../../test/support/brakeLog.ts'
import type { Economics } from '../../../../../src/protocol/economics.ts'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import { assert, describe } from '../../../../../test/support/suite.ts'

const none: ReadonlySet<string> = new Set()

/** One user message, a step that stays, one that is given up, an answer: n1, n2–n3, a tag, n4–n5, n6. */
const graph = (): GraphRows => {
  const log = new BrakeLog()
  log.user('go')
  const kept = log.step([{ name: 'a' }])
  log.step([{ name: 'b' }])
  log.revert(kept)
  log.reply('done')
  const rows = new GraphRows()
  for (const record of log.records) rows.apply(record)
  return rows
}

describe('a user message', (it) => {
  it('says how it came, if not as a prompt', () => {
    const report = { type: 'report', agentId: 'a.1', name: 'helper', callId: 'c1' } as const
    const messages = [
      { source: 'prompt' },
      { source: 'steering' },
      { source: 'followUp' },
      { source: 'prompt', provenance: report },
    ] as const
    assert.equal(messages.map(sourceWord), [undefined, 'steering', 'follow-up', 'report of a.1'])
  })
})

describe('an event in a line', (it) => {
  it('counts one thing as one', () => {
    const base = { v: 3, seq: 1, time: 0, runId: 'a/r0', turnIndex: 0, agentId: 'a', path: [] } as const
    const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
    const end = { ...base, type: 'run.end', stopReason: 'stop', usage, costUsd: 0 } as const
    assert.equal(
      [1, 2].map((turns) => eventText({ ...end, turns })),
      ['done after 1 turn', 'done after 2 turns'],
    )
    assert.is(eventText({ ...base, type: 'turn.end', usage, costUsd: 0 }), 'turn 1, 1 token')
  })

  it('says what a reshaping saves, if its record does', () => {
    const base = { v: 3, seq: 1, time: 0, runId: 'a/r0', turnIndex: 0, agentId: 'a', path: [] } as const
    const prune = { ...base, type: 'prune.applied', id: 'p', applied: true, steps: [2], tokens: 90 } as const
    const compaction = { ...base, type: 'compaction.end', applied: true, tokensBefore: 90, tokensAfter: 9, costUsd: 0 }
    const revert = { ...base, type: 'revert.applied', id: 'r', applied: true, requested: 'n1', target: 1 } as const
    const economics = { freed: 81, rewritten: 9, paysAfter: 2 }
    const told = (economy: { economics?: Economics }): string[] =>
      [
        { ...prune, ...economy },
        { ...compaction, ...economy } as const,
        { ...revert, category: 'failure', ...economy },
      ].map((event) => eventText(event as AgentEvent))
    assert.equal(told({ economics }), [
      'n2, 90 tokens · frees 81 tokens, pays after 2 requests',
      '90 to 9 tokens · frees 81 tokens, pays after 2 requests',
      'to n1, failure · frees 81 tokens, pays after 2 requests: ',
    ])
    assert.equal(told({}), ['n2, 90 tokens', '90 to 9 tokens', 'to n1, failure: '])
  })
})

describe('a stall on the page', (it) => {
  const base = { v: 3, seq: 1, time: 0, runId: 'a/r0', turnIndex: 0, agentId: 'a', path: [] } as const
  const stall = { rule: 'repeat', first: 2, target: 1, evidence: 'the same again' } as const

  it('is a line among the events and a notice in the conversation, which say what was done', () => {
    const told = (['none', 'note', 'revert', 'pause'] as const).map((rung) => {
      const event = { ...base, ...stall, type: 'stall.detected', steps: [2], count: 1, rung } as const
      return [eventText(event), noticeOf(event)?.text]
    })
    assert.equal(told, [
      ['the same again (nothing is done)', 'In circles: the same again (nothing was done about it)'],
      ['the same again (the model is told)', 'In circles: the same again (the model was told)'],
      ['the same again (the loop is reverted)', 'In circles: the same again (it was reverted)'],
      ['the same again (the run is paused)', undefined],
    ])
  })

  it('says why the run was paused', () => {
    const usage = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 }
    const end = { ...base, type: 'run.end', stopReason: 'paused', turns: 1, usage, costUsd: 0 } as const
    const { text } = noticeOf({ ...end, reason: { type: 'stall', ...stall } })!
    assert.is(text, 'Paused: it went in circles: the same again')
  })
})

describe('long texts in short', (it) => {
  it('are cut at lines or characters, whichever comes first', () => {
    assert.is(beginning('a\nb\nc', { lines: 2, chars: 100 }), 'a\nb')
    assert.is(beginning('a\nb', { lines: 2, chars: 100 }), 'a\nb')
    assert.is(beginning('abcdef', { lines: 2, chars: 3 }), 'abc')
    assert.is(beginning('', { lines: 2, chars: 3 }), '')
  })

  it('are one line, however many they were, and a megabyte costs nothing', () => {
    assert.is(oneLine('  a\n\n b\tc '), 'a b c')
    assert.is(oneLine('x'.repeat(1_000_000), 10), `${'x'.repeat(9)}…`)
    assert.is(oneLine('abc', 3), 'abc')
  })

  it('of arguments name each, and a long one is cut', () => {
    assert.is(argumentsLine({ path: 'a.ts', line: 3 }), 'path: "a.ts", line: 3')
    assert.is(argumentsLine('raw'), '"raw"')
    assert.is(argumentsLine(undefined), 'undefined')
    assert.ok(argumentsLine({ text: 'x'.repeat(1_000_000) }, 40).length <= 40)
  })

  it('count with the right noun', () => {
    assert.equal([counted(1, 'step'), counted(1_200, 'step'), counted(0, 'step')], ['1 step', '1,200 steps', '0 steps'])
  })
})

describe('pieces of JSON', (it) => {
  it('tell keys from strings, numbers and words', () => {
    const kinds = jsonParts('{"a": "b", "c": -1.5e3, "d": null}').map(({ kind, text }) => `${kind} ${text}`)
    const told = kinds.filter((piece) => !piece.startsWith('plain'))
    assert.equal(told, ['key "a"', 'string "b"', 'key "c"', 'number -1.5e3', 'key "d"', 'word null'])
  })

  it('are the text again when joined, whatever the text is and wherever it was cut', () => {
    const property = fc.property(fc.jsonValue(), fc.nat(200), (value, cut) => {
      const text = JSON.stringify(value, undefined, 2).slice(0, cut)
      const joined = jsonParts(text)
        .map((part) => part.text)
        .join('')
      assert.is(joined, text)
    })
    fc.assert(property, { seed: 5, numRuns: someRuns(200) })
  })
})

describe('keys in the tree', (it) => {
  const rows = visibleRows(graph(), none)
  const tag = rows.findIndex(({ row }) => row.type === 'tag')
  const call = rows.findIndex(({ row }) => row.type === 'call')

  it('go up and down, and stay within it', () => {
    assert.equal(treeMove('ArrowDown', rows, 0, levelOf), { type: 'go', to: 1 })
    assert.equal(treeMove('ArrowUp', rows, 0, levelOf), { type: 'go', to: 0 })
    assert.equal(treeMove('End', rows, 0, levelOf), { type: 'go', to: rows.length - 1 })
    assert.equal(treeMove('PageUp', rows, 3, levelOf), { type: 'go', to: 0 })
    assert.equal(treeMove('ArrowDown', rows, rows.length - 1, levelOf), { type: 'go', to: rows.length - 1 })
  })

  it('begin at the first row when none is active, and do nothing in an empty tree', () => {
    assert.equal(treeMove('ArrowDown', rows, -1, levelOf), { type: 'go', to: 0 })
    assert.equal(treeMove('End', rows, -1, levelOf), { type: 'go', to: rows.length - 1 })
    assert.is(treeMove('ArrowRight', rows, -1, levelOf), undefined)
    assert.is(treeMove('ArrowDown', [], -1, levelOf), undefined)
  })

  it('open to the right, close to the left, and from there go to the parent', () => {
    assert.equal(treeMove('ArrowRight', rows, call, levelOf), { type: 'toggle', at: call })
    assert.equal(treeMove('ArrowLeft', rows, tag, levelOf), { type: 'toggle', at: tag })
    assert.equal(treeMove('ArrowRight', rows, tag, levelOf), { type: 'go', to: tag + 1 })
    assert.equal(treeMove('ArrowLeft', rows, call, levelOf), { type: 'go', to: call - 1 })
    assert.is(treeMove('ArrowRight', rows, 0, levelOf), undefined)
  })

  it('leave other keys to the page', () => {
    for (const key of ['Tab', 'Escape', 'a', '?']) assert.is(treeMove(key, rows, 0, levelOf), undefined)
  })

  it('know calls to be below their message, and a branch below its tag', () => {
    assert.equal(rows.map(levelOf), [1, 1, 2, 1, 2, 3, 1])
  })
})

describe('the way to a node', (it) => {
  it('opens the branch and the message that hide it, and nothing else', () => {
    const rows = graph()
    const closed = new Set(rows.rows.filter(({ type }) => type === 'tag' || type === 'message').map(({ key }) => key))
    const opened = revealNode(rows, 5, closed)!
    const shown = visibleRows(rows, opened).flatMap(({ row }) => ('nodeId' in row ? [row.nodeId] : []))
    assert.equal(shown, [1, 2, 4, 5, 6])
  })

  it('is no way when it is in view, or there is no such node', () => {
    const rows = graph()
    assert.is(revealNode(rows, 5, none), undefined)
    assert.is(revealNode(rows, 99, none), undefined)
  })
})
