import { RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { BrakeLog, notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe } from '../support/suite.ts'

/** Milestones reached one after the other, each condensed onto the step before it. */
function milestones(count: number): { log: BrakeLog; assembler: RequestAssembler; requests: string[] } {
  const log = new BrakeLog({ tags: { maxCheckpoints: 4 } })
  const assembler = new RequestAssembler(log.conversation, log.frame)
  const requests: string[] = []
  log.user('the task')
  for (let n = 0; n < count; n++) {
    const base = log.step([{ output: `base ${n}` }])
    log.step([{ output: 'work', changed: [`file${n}.ts`] }])
    requests.push(JSON.stringify(assembler.assemble(log.turnIndex).request.messages))
    log.revert(base, `milestone ${n} holds`, 'step-summary')
    requests.push(JSON.stringify(assembler.assemble(log.turnIndex).request.messages))
  }
  return { log, assembler, requests }
}

describe('many checkpoints', (it) => {
  it('are not rolled up while the request before them holds: every request begins as the last one did', () => {
    const { requests } = milestones(9)
    for (let at = 1; at < requests.length - 1; at += 2)
      assert.ok(requests[at + 1]!.startsWith(requests[at]!.slice(0, -1)), `request ${at + 1}`)
  })

  it('are rolled up, oldest first, once something before them changes, and lose no text and no file', () => {
    const { log, assembler } = milestones(9)
    const before = notesIn(assembler.assemble(log.turnIndex).request.messages).length
    log.step([{}])
    log.prune({ steps: ['n2'] })
    const { request, provenance } = assembler.assemble(log.turnIndex)
    const notes = notesIn(request.messages)
    assert.ok(notes.length < before, `${notes.length} of ${before}`)
    assert.equal(checkRequest(request, { trunk: log.conversation.path }), [])
    assert.is(provenance.length, request.messages.length)
    for (let n = 0; n < 9; n++) {
      assert.is(textIn(request.messages).split(`milestone ${n} holds`).length, 2, `milestone ${n} once`)
      assert.ok(notes.join('').includes(`file${n}.ts`), `file${n}.ts`)
    }
    assert.equal(assembler.assemble(log.turnIndex).request.messages, request.messages)
  })

  it('are rolled up once a lesson before them is shown no more: that rewrites the request as well', () => {
    const log = new BrakeLog({
      tags: { decay: 'exact', maxCheckpoints: 4, lessonWindowTurns: 9, lessonWindowCount: 0 },
    })
    const assembler = new RequestAssembler(log.conversation, log.frame)
    log.user('the task')
    log.step([{}])
    log.step([{}])
    log.revert('n3', 'an old lesson')
    for (let n = 0; n < 6; n++) {
      const base = log.step([{}])
      log.step([{}])
      log.revert(base, `milestone ${n}`, 'step-summary')
      const notes = notesIn(assembler.assemble(log.turnIndex).request.messages)
      const isOld = notes.some((note) => note.includes('an old lesson'))
      const checkpoints = notes.filter((note) => note.includes('kind="checkpoint"')).length
      assert.is(checkpoints, isOld || n < 4 ? n + 1 : n + 2 - Math.ceil((n + 1) / 2), `after milestone ${n}`)
    }
    assert.not.match(textIn(assembler.assemble(log.turnIndex).request.messages), /an old lesson/)
  })

  it('stay sound when a revert takes some of the rolled-up ones off the trunk', () => {
    const { log, assembler } = milestones(9)
    log.step([{}])
    log.prune({ steps: ['n2'] })
    assembler.assemble(log.turnIndex)
    log.revert('n1', 'all wrong')
    for (let n = 0; n < 3; n++) {
      const { request } = assembler.assemble(log.turnIndex)
      assert.equal(checkRequest(request, { trunk: log.conversation.path }), [])
      assert.not.match(textIn(request.messages), /milestone/)
      assert.is(JSON.stringify(request.messages), JSON.stringify(log.assemble().request.messages))
      log.step([{}])
    }
  })
})
