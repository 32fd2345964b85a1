import { assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import {
  foldLevels,
  nextFold,
  planFold,
  defaultFoldPolicy,
  type FoldPolicy,
} from '../../src/conversation/brakes/fold/planFold.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { TokenCounter } from '../../src/conversation/limits/tokenCounter.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { withCode } from '../support/agentHarness.ts'
import { askedFold, BrakeLog, notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'
import { LogBuilder, text, toolCall } from './logBuilder.ts'

const policy: FoldPolicy = {
  ...defaultFoldPolicy,
  leastRequests: 0,
  work: 500,
  phi: 0.3,
  minBatch: 400,
  keepSteps: 2,
  indexTokens: 100,
  cap: 60_000,
}

/** So many steps, each with a result of about `chars` characters that names `name<n>Thing`. */
function worked(steps: number, { chars = 700, log = new BrakeLog() } = {}): BrakeLog {
  if (log.conversation.head === null) log.user('the task')
  for (let i = 0; i < steps; i++) {
    const n = log.conversation.lastNodeId
    log.step([{ name: 'read', input: { path: `src/file${n}.ts` }, output: `name${n}Thing ${'x '.repeat(chars / 2)}` }])
  }
  return log
}

const indexIn = (log: BrakeLog): string | undefined =>
  notesIn(log.assemble().request.messages).find((note) => note.startsWith('<brake-note kind="index">'))
const memosIn = (log: BrakeLog): string[] =>
  notesIn(log.assemble().request.messages).filter((note) => note.startsWith('<brake-note kind="memo"'))

describe('a fold', (it) => {
  it('is due above the high level and not below it', () => {
    const log = worked(1)
    let before = foldLevels(log.conversation, policy, 0)
    for (let i = 0; i < 40; i++) {
      const levels = foldLevels(log.conversation, policy, 0)
      const plan = planFold(log.conversation, policy, 0, 'f')
      if (levels.request <= levels.high) assert.is(plan, undefined)
      if (plan !== undefined) break
      before = levels
      worked(1, { log })
    }
    const plan = planFold(log.conversation, policy, 0, 'f')!
    const { request, low, high } = foldLevels(log.conversation, policy, 0)
    assert.ok(before.request <= before.high && request > high)
    assert.ok(plan.trunkTokens <= low, `${plan.trunkTokens} of ${low}`)
  })

  it('takes the oldest steps, and never the newest', () => {
    const { conversation } = worked(30)
    const plan = planFold(conversation, policy, 0, 'f')!
    const steps = conversation.steps().slice(1)
    const { steps: folded } = plan.outcome
    assert.equal(
      folded,
      steps.slice(0, folded.length).map(({ id }) => id),
    )
    assert.ok(folded.length <= steps.length - policy.keepSteps)
  })

  it('comes sooner where the provider’s cache is never read, and no later than that is known', () => {
    const { conversation } = worked(30)
    const unread = { ...conversation.measured, cachedShare: 0 }
    const [kept, dead] = [foldLevels(conversation, policy, 0), foldLevels(conversation, policy, 0, {}, unread)]
    assert.is(dead.low, kept.low)
    assert.ok(dead.high < kept.high && dead.least < kept.least, `${dead.high} of ${kept.high}`)
    assert.ok(dead.high >= dead.low + policy.minBatch)
    assert.ok(nextFold(conversation, policy, 0, {}, unread) < nextFold(conversation, policy, 0))
  })

  it('waits until enough would come off', () => {
    const log = new BrakeLog()
    log.user('the task')
    // One step is all there is, and it is among those that are kept.
    log.step([{ output: 'x '.repeat(20_000) }])
    const { request, high } = foldLevels(log.conversation, policy, 0)
    assert.ok(request > high)
    assert.is(planFold(log.conversation, policy, 0, 'f'), undefined)
    assert.is(nextFold(log.conversation, { ...policy, keepSteps: 3 }, 0), Number.MAX_SAFE_INTEGER)
  })

  it('counts the lines that it would add', () => {
    const log = new BrakeLog()
    log.user('the task')
    for (;;) {
      log.step([{ name: 'check', input: { path: `src/folder/number${log.turnIndex}.ts`, how: 'at length' } }])
      const { request, high, foldable, least } = foldLevels(log.conversation, policy, 0)
      if (request <= high || foldable <= least) continue
      assert.is(planFold(log.conversation, policy, 0, 'f'), undefined)
      break
    }
  })

  it('never takes a denied step, a message of a person, or what is hidden already', () => {
    const log = new BrakeLog()
    log.user('the task')
    for (let i = 0; i < 12; i++) {
      log.step([{ output: 'x '.repeat(300), ...(i === 2 ? { denied: 'not on a Friday' } : {}) }])
      if (i === 5) log.user('and this too', 'steering')
    }
    const denied = log.conversation.steps()[3]!.id
    log.prune({ steps: ['n4'] })
    const { steps } = askedFold(log.conversation, policy)!.outcome
    const all = log.conversation.steps().filter(({ nodes }) => nodes[0]!.message.role === 'assistant')
    const expected = all.map(({ id }) => id).filter((id) => id !== denied && id !== 4)
    assert.equal(steps, expected.slice(0, -policy.keepSteps))
    log.fold({ ...policy }, true)
    assert.match(textIn(log.assemble().request.messages), /not on a Friday/)
  })

  it('leaves the messages and the nine rules alone when everything that may go goes', () => {
    const log = worked(8)
    log.fold({ keepSteps: 0 }, true)
    assert.equal(
      log.assemble().request.messages.map(({ role }) => role),
      ['user'],
    )
    assert.is(log.fold({ keepSteps: 0 }, true), undefined)
  })

  it('has its levels at the same share of the real window, whatever the provider counts', () => {
    for (const factor of [0.25, 0.5, 3]) {
      const log = new LogBuilder()
      log.user('the task')
      const estimated = 1_000
      for (let i = 0; i < 20; i++) {
        log.reply([toolCall(`c${i}`)], { estimatedTokens: estimated, usage: { input: estimated * factor } })
        log.result(`c${i}`, 'x '.repeat(300))
      }
      const measured = rebuildConversation(log.records)
      const scaled = Object.fromEntries(
        Object.entries(policy).map(([name, value]) => [
          name,
          ['phi', 'lambda', 'keepSteps', 'indexTokens'].includes(name) ? value : value / factor,
        ]),
      ) as unknown as FoldPolicy
      log.records.forEach((record) => record.type === 'reply.end' && Object.assign(record, { estimatedTokens: 0 }))
      const unmeasured = rebuildConversation(log.records)
      assert.is(measured.correction, factor)
      assert.equal(foldLevels(measured, policy, 0), foldLevels(unmeasured, scaled, 0))
    }
  })

  it('never lets a request grow beyond the cap, and takes it well below', () => {
    const log = worked(30, { chars: 4_000 })
    const capped = { ...policy, work: 1_000_000, cap: 10_000 }
    const { high, low } = foldLevels(log.conversation, capped, 0)
    assert.equal([high, low], [10_000, 7_000])
    assert.ok(log.fold(capped)!.trunkTokens <= low)
  })

  it('keeps the least room between two folds, also above a cap that has none', () => {
    const log = worked(30, { chars: 4_000 })
    for (const cap of [300, 1_000, 10_000]) {
      const { high, low } = foldLevels(log.conversation, { ...policy, work: 1_000_000, cap }, 0)
      assert.equal([high, low], [Math.max(cap, cap * 0.7 + policy.minBatch), cap * 0.7])
    }
  })

  it('counts the index that it takes the place of: a request does not grow beyond the cap by it', () => {
    const capped = { ...policy, work: 1_000_000, indexTokens: 120, cap: 3_000 }
    const log = worked(60, { chars: 100 })
    log.fold(capped)
    assert.ok(log.conversation.notes.index > 100, `${log.conversation.notes.index}`)
    for (let folds = 0; folds < 3;) {
      const { request, high, low } = foldLevels(log.conversation, capped, 0)
      assert.ok(request <= high + 100, `${request} of ${high}`)
      if (request <= high) worked(1, { chars: 100, log })
      else {
        const { trunkTokens } = log.fold(capped)!
        assert.ok(low - trunkTokens < 100, `${trunkTokens} of ${low}`)
        folds += 1
      }
    }
  })

  it('counts people’s messages that wait for the next request', () => {
    const counter: TokenCounter = { message: () => 10, text: () => 1 }
    const log = new LogBuilder()
    log.user('the task')
    const before = foldLevels(rebuildConversation(log.records, { counter }), policy, 0).request
    log.enqueue('steering', { id: 'q1', content: text('more') })
    assert.is(foldLevels(rebuildConversation(log.records, { counter }), policy, 0).request, before + 10)
    for (const id of ['q2', 'q3']) log.enqueue('followUps', { id, content: text('and then') })
    assert.is(foldLevels(rebuildConversation(log.records, { counter }), policy, 0).request, before + 30)
  })

  it('is planned the same by a conversation that lived and by one that was rebuilt', () => {
    const log = worked(10)
    for (let round = 0; round < 4; round++) {
      log.fold({ keepSteps: 3 }, true)
      worked(6, { log })
      const again = rebuildConversation(log.records)
      assert.equal(askedFold(again, policy), askedFold(log.conversation, policy))
      const first = log.conversation.annotations!.hidden.spans.at(-1)!.steps[1]!
      if (round === 2) log.revert(`n${first}`)
    }
  })
})

describe('the memo of a fold', (it) => {
  it('cannot stand for a step that a revert took away', () => {
    const log = worked(6)
    const { outcome } = askedFold(log.conversation, policy)!
    log.revert('n6')
    const { lastSeq, notes } = log.conversation
    const record = { v: 3, seq: lastSeq + 1, time: 0, runId: 'a/r0', turnIndex: 9, type: 'prune.applied', ...outcome }
    assert.throws(() => log.conversation.apply(record as LogRecord), withCode('LOG_CORRUPT', 'order of the trunk'))
    assert.equal([log.conversation.lastSeq, log.conversation.notes], [lastSeq, notes])
  })

  it('loses the lines of what a summary covers at once, also before that summary, as a request made anew shows it', () => {
    const log = worked(5)
    log.pin('n4')
    assert.equal(log.fold({ keepSteps: 1, work: 1, minBatch: 1, indexTokens: 0, cap: 10 })!.outcome.steps, [2, 6, 8])
    const assembler = new RequestAssembler(log.conversation, log.frame)
    const live = (): string => JSON.stringify(assembler.assemble(log.turnIndex).request.messages)
    assert.match(live(), /n2 read[^"]*n6 read[^"]*n8 read/)
    log.compact({ first: 3, recent: 1 })
    assert.not.match(live(), /n6 read/)
    assert.is(live(), JSON.stringify(log.assemble().request.messages))
  })
})

describe('the index of names', (it) => {
  it('lists what stands in hidden steps alone, under the step where it is', () => {
    const log = worked(6)
    log.user('look at name4Thing again', 'steering')
    log.fold({ keepSteps: 1, indexTokens: 200 }, true)
    const index = indexIn(log)!
    assert.match(index, /^n2 name1Thing$/m)
    assert.not.match(index, /name4Thing/)
    // The memo names them.
    assert.not.match(index, /src\/file/)
  })

  it('stands after the last folded step, and moves with every fold', () => {
    const log = worked(6)
    log.fold({ indexTokens: 200 }, true)
    log.user('go on')
    assert.match(
      textIn(log.assemble().request.messages),
      /<\/brake-note>\n\nname11Thing|<\/brake-note>[\s\S]*name11Thing/,
    )
    worked(4, { log })
    const before = textIn(log.assemble().request.messages)
    assert.ok(before.indexOf('kind="index"') > before.indexOf('kind="memo"'))
    assert.ok(before.indexOf('kind="index"') < before.indexOf('go on'))
    log.fold({ indexTokens: 200 }, true)
    const after = textIn(log.assemble().request.messages)
    assert.ok(after.indexOf('kind="index"') > after.indexOf('go on'))
    assert.is(after.split('kind="index"').length, 2)
  })

  it('goes with a fold that leaves no names', () => {
    const log = worked(6)
    log.fold({ indexTokens: 200 }, true)
    assert.ok(indexIn(log) !== undefined)
    for (let i = 0; i < 3; i++) log.step([{ output: 'plain words only' }])
    log.fold({ indexTokens: 0 }, true)
    assert.is(indexIn(log), undefined)
  })

  it('of an older fold is shown again when a revert undoes the newer one', () => {
    const log = worked(6)
    log.fold({ indexTokens: 200 }, true)
    const older = indexIn(log)!
    worked(6, { log })
    log.fold({ indexTokens: 200 }, true)
    assert.is.not(indexIn(log), older)
    log.revert('n10')
    assert.is(indexIn(log), older)
  })

  it('and the memo lose the lines of steps that a revert takes away', () => {
    const log = worked(8)
    log.fold({ indexTokens: 300 }, true)
    assert.match(indexIn(log)!, /^n10 /m)
    assert.match(memosIn(log)[0]!, /^n10 /m)
    log.revert('n6')
    assert.not.match(indexIn(log)!, /^n(8|10) /m)
    assert.match(indexIn(log)!, /^n6 /m)
    assert.match(memosIn(log)[0]!, /span="n2–n6"/)
    assert.not.match(memosIn(log)[0]!, /^n(8|10) /m)
    // Cut a second time.
    log.user('again')
    log.reply('well')
    log.user('and again')
    log.reply('well')
    const rebased = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
    for (const record of log.records) rebased.conversation.apply(record)
    rebased.records.push(...log.records)
    rebased.revert('n4')
    assert.not.match(memosIn(rebased)[0]!, /^n6 /m)
  })

  it('is not shown to a model that cannot recall what it lists', () => {
    const log = worked(6)
    log.fold({ indexTokens: 200 }, true)
    const { messages } = assembleRequest(log.conversation, { ...log.frame, tools: [] }).request
    assert.equal(
      notesIn(messages).map((note) => /kind="(\w+)"/.exec(note)?.[1]),
      ['memo'],
    )
  })

  it('keeps to its room', () => {
    const log = worked(40, { chars: 100 })
    const plan = log.fold({ indexTokens: 25 }, true)!
    const { index = '' } = plan.outcome
    assert.ok(index.length > 0 && index.length <= 100, index)
  })

  it('stays when a summary covers the steps it stood after', () => {
    const log = worked(8)
    log.fold({ indexTokens: 200, keepSteps: 2 }, true)
    const before = indexIn(log)
    log.compact({ first: 1, recent: 1 })
    assert.is(indexIn(log), before)
    assert.equal(memosIn(log), [])
  })
})
