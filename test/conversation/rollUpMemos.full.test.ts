import type { LogRecord } from '../../src/protocol/records.ts'
import { RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { foldLine } from '../../src/conversation/brakes/fold/foldLine.ts'
import { foldLevels } from '../../src/conversation/brakes/fold/planFold.ts'
import { notesOfSpan } from '../../src/conversation/brakes/prune/pruneNotes.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { rollUpMemos } from '../../src/conversation/brakes/fold/rollUpMemos.ts'
import { logRecordSchema } from '../../src/protocol/records.ts'
import { BrakeLog, notesIn, textIn, type WantedCall } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'
import { policy, spansOf, started } from './foldedLogs.ts'

/** A low level at which memos have all the room that they may want. */
const roomy = 1_000_000

/** A log of its own that goes on from the same records. */
function copyOf(log: BrakeLog): BrakeLog {
  const copy = new BrakeLog()
  for (const record of log.records) copy.conversation.apply(record)
  copy.records.push(...log.records)
  copy.turnIndex = log.turnIndex
  return copy
}

const look = (at: number, chars = 300): WantedCall => ({
  name: 'look',
  input: { path: `src/folder/file${at}.ts`, how: 'with some care', from: 'a'.repeat(60), until: 'b'.repeat(60) },
  output: 'x '.repeat(chars / 2),
})

const detailsOf = (conversation: Conversation): string[] => spansOf(conversation).map(({ fold }) => fold!.detail)

/** Estimated tokens of all memos, facts apart. */
const memoTokens = (conversation: Conversation): number =>
  spansOf(conversation)
    .flatMap((span) => notesOfSpan(span, conversation))
    .filter(({ kind }) => kind === 'memo')
    .reduce((sum, { text }) => sum + conversation.counter.text(text), 0)

/** Works on, and folds whenever it is due. `after`: called after each fold. */
function work(
  log: BrakeLog,
  steps: number,
  call: (at: number) => WantedCall,
  after = (_: BrakeLog): void => {},
  used = policy,
): void {
  for (let at = 0; at < steps; at++) {
    log.step([call(at)])
    const { request, high } = foldLevels(log.conversation, used, 0)
    if (request > high && log.fold(used) !== undefined) after(log)
  }
}

/** Checks bounds that hold after every fold. */
function checkBounds({ conversation }: BrakeLog, used = policy): void {
  const { low, high, request } = foldLevels(conversation, used, 0)
  const newest = conversation.counter.text(spansOf(conversation).at(-1)!.memo!)
  const memos = memoTokens(conversation)
  // A hundred for the marks around them.
  assert.ok(memos <= low / 4 + newest + 100, `${memos} tokens of memos, ${newest} of them new, at ${low}`)
  assert.ok(request <= high, `${request} of ${high}`)
  for (const { fold, steps } of spansOf(conversation))
    if (fold!.writtenAt === conversation.head)
      assert.ok(
        steps.every((id) => conversation.onTrunk(id)),
        'a roll-up lets go of what a revert took away',
      )
}

describe('memos of a long conversation', (it) => {
  it('keep to a quarter of the low level and one fold over 20,000 steps', { timeoutMs: 60_000 }, () => {
    const large = { ...policy, work: 5_000, minBatch: 5_000, cap: 40_000 }
    const log = started()
    const met = new Set<string>()
    let folds = 0
    const call = (at: number): WantedCall => ({
      ...look(at, at % 7 === 0 ? 1_500 : 100),
      ...(at % 1_000 === 500 ? { name: `deploy${at % 3}`, isIrreversible: true } : {}),
    })
    const check = (): void => {
      checkBounds(log, large)
      folds += 1
      for (const detail of detailsOf(log.conversation)) met.add(detail)
    }
    work(log, 20_000, call, check, large)
    assert.ok(folds > 100, `${folds} folds`)
    assert.equal([...met].toSorted(), ['digest', 'line', 'shortLine'])
    assert.ok(spansOf(log.conversation).length < 40, `${spansOf(log.conversation).length} memos`)
    const text = textIn(log.assemble().request.messages)
    assert.ok(text.length / 3.5 < large.cap, `${text.length} characters`)
    for (let at = 500; at < 20_000; at += 1_000) assert.match(text, new RegExp(`folder/file${at}\\.ts`))
  })

  it('keep to it with steps that are hardly larger than their lines', { timeoutMs: 20_000 }, () => {
    let folds = 0
    work(
      started(),
      2_000,
      (at) => look(at, 100),
      (log) => {
        checkBounds(log)
        folds += 1
      },
    )
    assert.ok(folds > 5, `${folds}`)
  })

  it('keep to it though reverts cut folds again and again', { timeoutMs: 20_000 }, () => {
    const log = started()
    let folds = 0
    for (let round = 0; round < 60; round++) {
      work(
        log,
        60,
        (at) => look(at, 400),
        () => {
          checkBounds(log)
          folds += 1
        },
      )
      // Into the middle of the newest fold.
      const { steps } = spansOf(log.conversation).at(-1)!
      log.revert(`n${steps[Math.floor(steps.length / 2)]}`)
    }
    assert.ok(folds > 40, `${folds}`)
  })
})

describe('calls that cannot be undone', (it) => {
  it('are in a line, among the facts, or counted, whatever was rolled up', { timeoutMs: 20_000 }, () => {
    const log = started()
    let calls = 0
    const call = (at: number): WantedCall =>
      at % 5 === 0
        ? {
            name: 'deploy',
            input: { path: `place${(calls += 1)}` },
            output: `done ${'y'.repeat(200)}`,
            isIrreversible: true,
          }
        : look(at)
    const check = ({ conversation, frame, turnIndex }: BrakeLog): void => {
      const text = textIn(new RequestAssembler(conversation, frame).assemble(turnIndex).request.messages)
      const named = new Set([...text.matchAll(/\bplace(\d+)\b/g)].map(([, place]) => Number(place)))
      const results = conversation.path.filter(
        ({ stepId, isIrreversible }) =>
          isIrreversible === true && conversation.annotations?.hiddenBy(stepId) === undefined,
      )
      const counted = [...text.matchAll(/cannot be undone: deploy, (\d+) earlier call/g)]
      const sum = counted.reduce((total, [, count]) => total + Number(count), 0)
      const hidden = calls - results.length
      const namedHidden = [...named].filter((place) => place <= hidden).length
      assert.is(namedHidden + sum, hidden, `${namedHidden} named and ${sum} counted of ${hidden}`)
    }
    work(log, 1_500, call, check)
    assert.ok(detailsOf(log.conversation).includes('digest') && detailsOf(log.conversation).includes('line'))
    // A revert into each kind of memo.
    for (const detail of ['line', 'shortLine', 'digest']) {
      const span = spansOf(log.conversation).findLast(({ fold }) => fold!.detail === detail)
      if (span === undefined) continue
      const again = copyOf(log)
      again.revert(`n${span.steps.at(-2)}`)
      const text = textIn(again.assemble().request.messages)
      assert.match(text, /place1\d*\b|earlier call/)
    }
  })
})

describe('rolling memos up', (it) => {
  /** Two asked folds of so many steps, and what their lines would save as short ones. */
  function folded(log = started()): { log: BrakeLog; saved: number } {
    for (let fold = 0; fold < 2; fold++) {
      for (let at = 0; at < 10; at++) {
        const input = { path: `src/${'folder/'.repeat(6)}file${at}.ts`, text: 'z'.repeat(200), more: 'y'.repeat(200) }
        log.step([{ name: 'edit_file', input, output: `${'x '.repeat(100)}\n${'e'.repeat(150)}`, isError: true }])
      }
      log.fold({ ...policy, keepSteps: 0, work: roomy, cap: 10 * roomy }, true)
    }
    const { conversation } = log
    const [first] = spansOf(conversation)
    const short = first!.steps.map((id) =>
      foldLine(
        conversation.steps().find((step) => step.id === id)!,
        true,
      ),
    )
    const { counter } = conversation
    return { log, saved: counter.text(first!.memo!) - counter.text(short.join('\n')) }
  }
  it('waits until keeping the surplus has cost what rewriting costs, and no longer', () => {
    const { log, saved } = folded()
    const { conversation } = log
    assert.ok(saved > 200, `${saved}`)
    for (let replies = 0; ; replies++) {
      // Ten replies were made after the first memo, which is the older half of the two.
      const spared = saved * (10 + replies)
      const cost = 11.5 * (conversation.trunkTokens - conversation.node(1)!.tokens)
      const { parts } = rollUpMemos(conversation, roomy)
      if (Math.abs(spared - cost) > 0.05 * cost)
        assert.is(parts.length > 0, spared > cost, `${replies} replies: ${spared} of ${cost}`)
      if (parts.length > 0) {
        assert.ok(replies > 3)
        assert.equal(parts, [{ folds: ['f0'], detail: 'shortLine', memo: parts[0]!.memo }])
        break
      }
      log.reply('well')
      log.user('go on')
    }
  })

  it('is done at once where memos take more than a quarter of the low level', () => {
    const { log } = folded()
    const tokens = memoTokens(log.conversation)
    assert.equal(rollUpMemos(log.conversation, 4 * tokens), { parts: [], saved: 0 })
    assert.ok(rollUpMemos(log.conversation, 4 * tokens - 4).parts.length > 0)
  })

  it('makes short lines where they are enough, and a digest where they are not', () => {
    const { log } = folded()
    const tokens = memoTokens(log.conversation)
    const enough = rollUpMemos(log.conversation, 3.9 * tokens)
    assert.equal(
      enough.parts.map(({ detail }) => detail),
      ['shortLine', 'shortLine'],
    )
    const short = rollUpMemos(log.conversation, tokens / 2)
    assert.equal(
      short.parts.map(({ detail, folds }) => [detail, folds]),
      [['digest', ['f0', 'f1']]],
    )
    assert.ok(short.saved > enough.saved)
  })

  it('says how much the request gets smaller by', () => {
    for (const low of [4, 2, 1].map((share) => (share - 0.1) * memoTokens(folded().log.conversation))) {
      const { log } = folded()
      const { conversation } = log
      for (let at = 0; at < 3; at++) log.step([look(at)])
      const before = conversation.notes
      const { parts, saved } = rollUpMemos(conversation, low)
      assert.ok(saved > 0)
      const plan = log.fold({ ...policy, keepSteps: 0, cap: low / 0.7, work: roomy }, true)!
      assert.equal(plan.outcome.rolled, parts)
      const newest = conversation.counter.text(notesOfSpan(spansOf(conversation).at(-1)!, conversation)[0]!.text)
      assert.is(conversation.notes.shown, before.shown - saved + newest)
    }
  })

  it('leaves alone what gets no shorter', () => {
    const log = started()
    for (let fold = 0; fold < 4; fold++) {
      log.step([{ name: 'go', input: {}, output: 'x '.repeat(200) }])
      log.fold({ ...policy, keepSteps: 0, work: roomy, cap: 10 * roomy }, true)
    }
    assert.equal(detailsOf(log.conversation), ['line', 'line', 'line', 'line'])
    for (let replies = 0; replies < 2_000; replies++) log.reply('well')
    assert.equal(rollUpMemos(log.conversation, roomy), { parts: [], saved: 0 })
  })

  it('leaves alone what gets no shorter beside what does', () => {
    const log = started()
    for (let at = 0; at < 2; at++) log.step([{ name: 'go', input: {}, output: 'x '.repeat(200) }])
    log.fold({ ...policy, keepSteps: 0, work: roomy, cap: 10 * roomy }, true)
    folded(log)
    const { parts } = rollUpMemos(log.conversation, 3.95 * memoTokens(log.conversation))
    assert.equal(
      parts.map(({ detail, folds }) => [detail, folds]),
      [
        ['shortLine', ['f1']],
        ['shortLine', ['f2']],
      ],
    )
  })

  it('gives the index the names of the lines that it takes away', () => {
    const { log } = folded()
    for (let at = 0; at < 3; at++) log.step([look(at)])
    const shown = (): string => textIn(log.assemble().request.messages)
    log.fold({ ...policy, keepSteps: 0, cap: 10, indexTokens: 3_000 }, true)
    assert.equal(detailsOf(log.conversation), ['digest', 'line'])
    assert.match(shown(), /kind="index"[^<]*folder\/file3\.ts/)
  })

  it('is applied from the log as it was live', () => {
    const log = started()
    work(log, 400, (at) => look(at))
    const records = log.records.map(
      (record) => logRecordSchema().parse(JSON.parse(JSON.stringify(record))) as LogRecord,
    )
    assert.ok(records.some((record) => record.type === 'prune.applied' && (record.rolled?.length ?? 0) > 0))
    const again = rebuildConversation(records)
    assert.equal(spansOf(again), spansOf(log.conversation))
    assert.equal(again.notes, log.conversation.notes)
    assert.equal(new RequestAssembler(again, log.frame).assemble(log.turnIndex).request, log.assemble().request)
  })
})

describe('a revert into memos of every kind', (it) => {
  it(
    'leaves the lines of the steps that are left, in the request that goes on as in one made anew',
    { timeoutMs: 20_000 },
    () => {
      const log = started()
      work(log, 420, (at) => look(at))
      const kinds = Map.groupBy(spansOf(log.conversation), ({ fold }) => fold!.detail)
      assert.equal([...kinds.keys()].toSorted(), ['digest', 'line', 'shortLine'])
      for (const [detail, spans] of kinds) {
        const { steps } = spans.at(-1)!
        for (const at of [0, 1, Math.floor(steps.length / 2), steps.length - 2]) {
          const again = copyOf(log)
          const assembler = new RequestAssembler(again.conversation, again.frame)
          assembler.assemble(log.turnIndex)
          const target = steps[at]!
          assert.ok(again.revert(`n${target}`).applied)
          const live = assembler.assemble(log.turnIndex).request
          assert.equal(live, again.assemble(log.turnIndex).request, `${detail}, step ${at}`)
          assert.is(again.conversation.trunkTokens, rebuildConversation(again.records).trunkTokens)
          const memo = notesIn(live.messages).findLast((note) => note.includes('kind="memo"'))!
          assert.match(memo, new RegExp(`span="n\\d+–n${target}"|span="n${target}"`))
          for (const later of steps.slice(at + 1)) assert.not.match(memo, new RegExp(`^n${later} `, 'm'))
        }
      }
    },
  )
})
