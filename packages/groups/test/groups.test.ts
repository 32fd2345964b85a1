import { noUsage } from '../../../src/protocol/messages.ts'
import { choiceIn, questionOf } from '../src/askJudge.ts'
import { endedWell, spentBy, type Branch } from '../src/branch.ts'
import { cheapest } from '../src/judge.ts'
import type { RunResult } from '../../../src/protocol/runs/runResult.ts'
import { usageOf } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const totals = { text: '', runId: '', turns: 1, childTurns: 0, usage: noUsage, costUsd: 0 }
const branch = (agentId: string, result: Partial<RunResult> = {}): Branch => ({
  agentId,
  definition: 'd',
  result: { stopReason: 'stop', output: undefined, ...totals, ...result } as RunResult,
})

describe('the choice in a reply', (it) => {
  const choices: readonly (readonly [string, number | undefined])[] = [
    ['2', 1],
    [' 3.\n', 2],
    ['Answer **1**', 0],
    ['2, and again 2', 1],
    ['02', 1],
    ['', undefined],
    ['the second', undefined],
    ['0', undefined],
    ['4', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['1 or 2', undefined],
    ['1 of 3', undefined],
  ]
  for (const [reply, expected] of choices) {
    it(`${JSON.stringify(reply)} of three is ${expected === undefined ? 'none' : `index ${expected}`}`, () => {
      assert.is(choiceIn(reply, 3), expected)
    })
  }
})

describe('the question for a judge', (it) => {
  it('holds the task as it was given, every answer by its number, and what is wanted', () => {
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
    const blocks = questionOf(
      [{ type: 'text', text: 'What is this?' }, image],
      [branch('a', { text: 'a cat' }), branch('b', { text: 'a dog' })],
    )
    assert.equal(blocks.slice(1, 3), [{ type: 'text', text: 'What is this?' }, image])
    const [last] = blocks.slice(-1)
    assert.ok(last?.type === 'text')
    assert.match(last.text, /<answer number="1">\na cat\n<\/answer>\n\n<answer number="2">\na dog\n<\/answer>/)
    assert.match(last.text, /its number, from 1 to 2, and nothing else\.$/)
  })

  it('cuts an answer that is very long', () => {
    const blocks = questionOf([], [branch('a', { text: 'x'.repeat(100_000) }), branch('b')])
    const chars = blocks.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0)
    assert.ok(chars < 31_000, String(chars))
  })
})

describe('the cheapest branch', (it) => {
  it('costs least, then took the fewest tokens, then was given first', () => {
    const dear = branch('dear', { costUsd: 2, usage: usageOf(1, 1) })
    const chatty = branch('chatty', { costUsd: 1, usage: usageOf(10, 11) })
    const terse = branch('terse', { costUsd: 1, usage: usageOf(10, 10) })
    const equal = branch('equal', { costUsd: 1, usage: usageOf(10, 10) })
    assert.is(cheapest([dear, chatty, terse, equal]), terse)
    assert.is(cheapest([equal, terse]), equal)
    assert.is(cheapest([]), null)
  })
})

describe('a branch', (it) => {
  it('ended well when it stopped by itself and nothing was wrong', () => {
    assert.ok(endedWell(branch('a')))
    assert.not(endedWell(branch('a', { stopReason: 'length' })))
    assert.not(endedWell(branch('a', { error: { code: 'INTERNAL', message: 'x' } })))
  })

  it('is counted with the others', () => {
    const spent = spentBy([
      branch('a', { usage: usageOf(1, 2), costUsd: 1 }).result,
      { usage: usageOf(3, 4), costUsd: 2 },
    ])
    assert.equal(spent, { usage: usageOf(4, 6), costUsd: 3 })
    assert.equal(spentBy([]), { usage: noUsage, costUsd: 0 })
  })
})
