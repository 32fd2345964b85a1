import { notesIn, textIn, type WantedCall } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'
import { policy, spansOf, started } from './foldedLogs.ts'

const look = (at: number, chars = 300): WantedCall => ({
  name: 'look',
  input: { path: `src/folder/file${at}.ts` },
  output: 'x '.repeat(chars / 2),
})

describe('what is never folded', (it) => {
  it('stays between folds, and every fold goes on after it', () => {
    const log = started()
    for (let at = 0; at < 60; at++) {
      log.step([{ ...look(at, 600), ...(at % 6 === 0 ? { denied: `not this one, ${at}` } : {}) }])
      if (at % 15 === 14) log.fold({ ...policy, keepSteps: 2 }, true)
    }
    const text = textIn(log.assemble().request.messages)
    for (let at = 0; at < 60; at += 6) assert.match(text, new RegExp(`not this one, ${at}\\b`))
    const { steps } = spansOf(log.conversation).at(-1)!
    assert.ok(steps.length > 8)
    // Every step but the denied ones and the last two is hidden once.
    const hidden = spansOf(log.conversation).flatMap((span) => span.steps)
    assert.is(new Set(hidden).size, hidden.length)
    assert.is(hidden.length, 60 - 10 - 2)
  })

  it('holds no fold back while there is enough else', () => {
    const log = started()
    for (let at = 0; at < 40; at++) {
      log.step([look(at, 600)])
      if (at < 20) log.pin(`n${log.conversation.lastNodeId}`)
    }
    const plan = log.fold({ ...policy, phi: 0.3, cap: 4_000, minBatch: 500, work: 100 })
    assert.ok(plan !== undefined && plan.outcome.steps[0]! > 40)
    const text = textIn(log.assemble().request.messages)
    assert.is(text.match(/\[n\d+\]/g)?.length, 20 + 1 + policy.keepSteps)
  })

  it('is all there is: no fold, asked for or not', () => {
    const log = started()
    for (let at = 0; at < 30; at++) {
      log.step([look(at, 1_000)])
      log.pin(`n${log.conversation.lastNodeId}`)
    }
    assert.is(log.fold({ ...policy, cap: 2_000 }), undefined)
    assert.is(log.fold({ ...policy, cap: 2_000 }, true), undefined)
    log.pin('n2', false)
    assert.equal(log.fold({ ...policy, cap: 2_000 }, true)?.outcome.steps, [2])
  })

  it('is what a summary stands for, and the folds before it are no more rolled up', () => {
    const log = started()
    for (let fold = 0; fold < 4; fold++) {
      for (let at = 0; at < 6; at++) log.step([look(at)])
      log.fold({ ...policy, keepSteps: 1 }, true)
    }
    log.compact({ first: 1, recent: 4 })
    const { overlay } = log.conversation
    assert.ok(overlay !== undefined)
    for (let at = 0; at < 6; at++) log.step([look(at)])
    const { outcome } = log.fold({ ...policy, keepSteps: 1, cap: 10 }, true)!
    assert.ok(outcome.steps[0]! > overlay.to)
    const memos = notesIn(log.assemble().request.messages).filter((note) => note.includes('kind="memo"'))
    const [first = 0] = [...memos.join().matchAll(/span="n(\d+)/g)].map(([, id]) => Number(id))
    assert.ok(first > overlay.to, `n${first} is summarised`)
    for (const { folds } of outcome.rolled ?? []) {
      const rolled = spansOf(log.conversation).filter(({ fold }) => fold!.ids.some((id) => folds.includes(id)))
      assert.ok(rolled.every(({ steps }) => steps.at(-1)! > overlay.to))
    }
    // The summary is undone with what came after its beginning: the memos are there again.
    log.revert(`n${overlay.from + 1}`)
    const again = notesIn(log.assemble().request.messages).filter((note) => note.includes('kind="memo"'))
    assert.ok(again.length > 0)
  })
})
